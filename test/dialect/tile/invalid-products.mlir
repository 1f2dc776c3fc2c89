// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of products and reductions, one a chunk.

func.func @mma_depth(%a: vector<8x16xf32>, %b: vector<4x24xf32>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product, got 'vector<8x16xf32>' and 'vector<4x24xf32>' into 'vector<8x4xf32>'}}
  %s = tile.mma %a, %b, %c transposed : vector<8x16xf32>, vector<4x24xf32>, vector<8x4xf32>
  return
}

// -----

// Without `transposed`, b's rows are summed over.
func.func @mma_transposed(%a: vector<8x16xf32>, %b: vector<4x16xf32>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product, got 'vector<8x16xf32>' and 'vector<4x16xf32>' into 'vector<8x4xf32>'}}
  %s = tile.mma %a, %b, %c : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  return
}

// -----

func.func @mma_rows(%a: vector<8x16xf32>, %b: vector<16x4xf32>, %c: vector<16x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product}}
  %s = tile.mma %a, %b, %c : vector<8x16xf32>, vector<16x4xf32>, vector<16x4xf32>
  return
}

// -----

func.func @mma_tf32(%a: vector<8x16xbf16>, %b: vector<16x4xbf16>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{expected tiles of f32 with 'tf32', got 'vector<8x16xbf16>'}}
  %s = tile.mma %a, %b, %c tf32 : vector<8x16xbf16>, vector<16x4xbf16>, vector<8x4xf32>
  return
}

// -----

func.func @mma_accumulator(%a: vector<8x16xbf16>, %b: vector<16x4xbf16>, %c: vector<8x4xbf16>) {
  // expected-error@+1 {{operand #2 must be tile of 32-bit float}}
  %s = tile.mma %a, %b, %c : vector<8x16xbf16>, vector<16x4xbf16>, vector<8x4xbf16>
  return
}

// -----

func.func @reduce_rows(%s: vector<8x4xf32>, %acc: vector<4xf32>) {
  // expected-error@+1 {{op expected an accumulator of 8 elements, one a row of 'vector<8x4xf32>', got 'vector<4xf32>'}}
  %m = tile.reduce <max> %s, %acc : vector<8x4xf32>, vector<4xf32>
  return
}

// -----

func.func @reduce_kind(%s: vector<8x4xf32>, %acc: vector<8xf32>) {
  // expected-error@+2 {{expected ::attnc::tile::ReduceKind to be one of: max, add}}
  // expected-error@+1 {{failed to parse}}
  %m = tile.reduce <min> %s, %acc : vector<8x4xf32>, vector<8xf32>
  return
}
