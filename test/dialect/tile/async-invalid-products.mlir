// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what GPUs add, one a chunk: products in flight, of shared tiles, and of tiles in parts.

//===----------------------------------------------------------------------===//
// Products in flight, and of shared tiles
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<2x4x8xf32>'}}
func.func private @pending_of_three(!tile.pending<vector<2x4x8xf32>>)

// -----

func.func @start_result(%a: !tile.shared<vector<8x16xf16>>, %b: !tile.shared<vector<4x16xf16>>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected a result of 'vector<8x4xf32>' in flight, got '!tile.pending<vector<4x8xf32>>'}}
  %s = tile.start %a, %b, %c transposed
    : !tile.shared<vector<8x16xf16>>, !tile.shared<vector<4x16xf16>>, vector<8x4xf32> -> !tile.pending<vector<4x8xf32>>
  return
}

// -----

func.func @start_depth(%a: !tile.shared<vector<8x16xf16>>, %b: !tile.shared<vector<4x24xf16>>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product, got 'vector<8x16xf16>' and 'vector<4x24xf16>' into 'vector<8x4xf32>'}}
  %s = tile.start %a, %b, %c transposed
    : !tile.shared<vector<8x16xf16>>, !tile.shared<vector<4x24xf16>>, vector<8x4xf32> -> !tile.pending<vector<8x4xf32>>
  return
}

// -----

func.func @start_transposed(%a: vector<8x16xf16>, %b: !tile.shared<vector<4x16xf16>>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product, got 'vector<8x16xf16>' and 'vector<4x16xf16>' into 'vector<8x4xf32>'}}
  %s = tile.start %a, %b, %c
    : vector<8x16xf16>, !tile.shared<vector<4x16xf16>>, vector<8x4xf32> -> !tile.pending<vector<8x4xf32>>
  return
}

// -----

func.func @mma_shared(%a: !tile.shared<vector<8x16xf16>>, %b: !tile.shared<vector<4x16xf16>>, %c: vector<4x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product, got 'vector<8x16xf16>' and 'vector<4x16xf16>' into 'vector<4x4xf32>'}}
  %s = tile.mma %a, %b, %c transposed : !tile.shared<vector<8x16xf16>>, !tile.shared<vector<4x16xf16>>, vector<4x4xf32>
  return
}

// -----

func.func @mma_ring(%a: !tile.ring<1 x vector<8x16xf16>>, %b: vector<4x16xf16>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{operand #0 must be tile in registers or shared memory, but got '!tile.ring<1 x vector<8x16xf16>>'}}
  %s = tile.mma %a, %b, %c transposed : !tile.ring<1 x vector<8x16xf16>>, vector<4x16xf16>, vector<8x4xf32>
  return
}

// -----

func.func @turned_depth(%a: !tile.shared<vector<16x8xbf16>>, %b: !tile.shared<vector<8x4xbf16>>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product}}
  %s = tile.mma %a, %b, %c left_transposed : !tile.shared<vector<16x8xbf16>>, !tile.shared<vector<8x4xbf16>>, vector<8x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Tiles in parts
//===----------------------------------------------------------------------===//

func.func @split_halves(%t: !tile.shared<vector<16x8xf16>>, %ring: !tile.ring<1 x vector<3x16x8xbf16>>) {
  // expected-error@+1 {{op expected a tile of f32, got 'vector<16x8xf16>'}}
  tile.split %t to %ring : !tile.shared<vector<16x8xf16>> to !tile.ring<1 x vector<3x16x8xbf16>>
  return
}

// -----

func.func @split_other(%t: !tile.shared<vector<16x8xf32>>, %ring: !tile.ring<1 x vector<3x8x8xbf16>>) {
  // expected-error@+1 {{op expected a ring of 'vector<3x16x8xbf16>', got '!tile.ring<1 x vector<3x8x8xbf16>>'}}
  tile.split %t to %ring : !tile.shared<vector<16x8xf32>> to !tile.ring<1 x vector<3x8x8xbf16>>
  return
}

// -----

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<2x16x8xbf16>'}}
func.func private @two_parts(!tile.shared<vector<2x16x8xbf16>>)

// -----

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<3x16x8xf16>'}}
func.func private @parts_of_f16(!tile.ring<1 x vector<3x16x8xf16>>)

// -----

func.func @left_parts(%a: !tile.shared<vector<3x16x8xbf16>>, %b: !tile.shared<vector<16x8xf32>>, %c: vector<16x16xf32>) {
  // expected-error@+1 {{op expected parts as the right operand alone, got '!tile.shared<vector<3x16x8xbf16>>'}}
  %m = tile.mma %a, %b, %c transposed : !tile.shared<vector<3x16x8xbf16>>, !tile.shared<vector<16x8xf32>>, vector<16x16xf32>
  return
}

// -----

func.func @rounded_parts(%a: !tile.shared<vector<16x8xf32>>, %b: !tile.shared<vector<3x16x8xbf16>>, %c: vector<16x16xf32>) {
  // expected-error@+1 {{op expected no parts with 'tf32', got '!tile.shared<vector<3x16x8xbf16>>'}}
  %m = tile.mma %a, %b, %c transposed tf32 : !tile.shared<vector<16x8xf32>>, !tile.shared<vector<3x16x8xbf16>>, vector<16x16xf32>
  return
}

// -----

func.func @row_of_parts(%a: !tile.shared<vector<3x16x8xbf16>>) {
  // expected-error@+1 {{op expected no parts, got '!tile.shared<vector<3x16x8xbf16>>'}}
  %r = tile.row 0 of %a : !tile.shared<vector<3x16x8xbf16>> -> vector<1x8xf32>
  return
}

// -----

func.func @start_parts(%a: !tile.shared<vector<16x8xf32>>, %b: !tile.shared<vector<3x16x8xbf16>>, %c: vector<16x16xf32>) {
  // expected-error@+1 {{op expected no parts, got '!tile.shared<vector<16x8xf32>>' and '!tile.shared<vector<3x16x8xbf16>>'}}
  %p = tile.start %a, %b, %c transposed : !tile.shared<vector<16x8xf32>>, !tile.shared<vector<3x16x8xbf16>>, vector<16x16xf32>
    -> !tile.pending<vector<16x16xf32>>
  return
}

// -----

func.func @start_turned_registers(%a: vector<16x64xbf16>, %b: !tile.shared<vector<16x8xbf16>>, %c: vector<64x8xf32>) {
  // expected-error@+1 {{op expected a tile in shared memory with 'left_transposed', got 'vector<16x64xbf16>'}}
  %p = tile.start %a, %b, %c left_transposed : vector<16x64xbf16>, !tile.shared<vector<16x8xbf16>>, vector<64x8xf32>
    -> !tile.pending<vector<64x8xf32>>
  return
}

// -----

// What is in flight, or in shared memory, crosses no edge of a loop or a branch.

tile.program @pending_carried(%low: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  %ring = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %b = tile.get %ring : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %b, %b, %zero : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  // expected-error@+1 {{op expected values that may cross its edge, got one of '!tile.pending<vector<64x64xf32>>'}}
  %r = scf.for %i = %low to %high step %high iter_args(%g = %f) -> (!tile.pending<vector<64x64xf32>>) {
    scf.yield %g : !tile.pending<vector<64x64xf32>>
  }
  tile.return
}

// -----

tile.program @shared_out_of_branch(%c: i1, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  %ring = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  // expected-error@+1 {{op expected values that may cross its edge, got one of '!tile.shared<vector<64x64xbf16>>'}}
  %r = scf.if %c -> !tile.shared<vector<64x64xbf16>> {
    %a = tile.get %ring : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
    scf.yield %a : !tile.shared<vector<64x64xbf16>>
  } else {
    %a = tile.get %ring : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
    scf.yield %a : !tile.shared<vector<64x64xbf16>>
  }
  tile.return
}

// -----

tile.program @awaited_elsewhere(%c: i1, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  %ring = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %b = tile.get %ring : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %b, %b, %zero : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  scf.if %c {
    // expected-error@+1 {{op expected a product that starts in the same block}}
    %r = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  }
  tile.return
}
