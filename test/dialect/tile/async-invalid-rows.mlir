// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what GPUs add, one a chunk: parts of rows, rows of a tile, and maps that are mostly by one.

func.func @spread_tile(%x: vector<8x4xf32>) {
  // expected-error@+1 {{operand #0 must be row vector of 32-bit float}}
  %p = tile.lane_partial %x : vector<8x4xf32>
  return
}

// -----

func.func @total_narrow(%x: vector<8xbf16>) {
  // expected-error@+1 {{operand #0 must be row vector of 32-bit float}}
  %p = tile.warp_reduce %x : vector<8xbf16>
  return
}

// -----

func.func @partial_maximum(%s: vector<8x4xf32>, %acc: vector<8xf32>) {
  // expected-error@+1 {{op expected parts of sums alone: <add> with partial}}
  %m = tile.reduce <max> %s, %acc partial : vector<8x4xf32>, vector<8xf32>
  return
}

// -----

func.func @mostly_one_without_rows(%s: vector<8x4xf32>, %n: index) {
  // expected-error@+1 {{op expected one row vector with mostly_one, got 0}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } {mostly_one} -> vector<8x4xf32>
  return
}

// -----

func.func @row_number(%t: vector<2x16xf32>) {
  // expected-error@+1 {{op expected one of the 2 rows of 'vector<2x16xf32>', got 2}}
  %r = tile.row 2 of %t : vector<2x16xf32> -> vector<1x16xf32>
  return
}

// -----

func.func @row_columns(%t: vector<2x16xf32>) {
  // expected-error@+1 {{op expected a row of 'vector<2x16xf32>', got 'vector<1x2xf32>'}}
  %r = tile.row 1 of %t : vector<2x16xf32> -> vector<1x2xf32>
  return
}

// -----

func.func @share_rows_without_ring(%x: vector<8xf32>) {
  // expected-error@+1 {{op expected a ring of parts of 'vector<8xf32>', as vector<2x8xf32>, got none}}
  tile.share %x : vector<8xf32>
  return
}

// -----

func.func @share_rows_of_others(%x: vector<8xf32>, %ring: !tile.ring<1 x vector<2x16xf32>>) {
  // expected-error@+1 {{op expected a ring of parts of 'vector<8xf32>', as vector<2x8xf32>, got '!tile.ring<1 x vector<2x16xf32>>'}}
  tile.share %x to %ring : !tile.ring<1 x vector<2x16xf32>> : vector<8xf32>
  return
}

// -----

func.func @join_other_rows(%parts: !tile.shared<vector<2x16xf32>>) {
  // expected-error@+1 {{op expected parts of 'vector<8xf32>', got '!tile.shared<vector<2x16xf32>>'}}
  %m = tile.block_reduce %parts max : !tile.shared<vector<2x16xf32>> -> vector<8xf32>
  return
}
