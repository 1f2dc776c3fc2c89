// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what GPUs add, one a chunk: rings and buffers, what is put into them and what comes out.

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected at least one stage, got 0}}
func.func private @no_stages(!tile.ring<0 x vector<8x16xf16>>)

// -----

// expected-error@+1 {{expected a ring of tiles or of indices, got 'f32'}}
func.func private @ring_of_floats(!tile.ring<2 x f32>)

// -----

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<8xf16>'}}
func.func private @ring_of_rows(!tile.ring<2 x vector<8xf16>>)

// -----

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<8xf16>'}}
func.func private @shared_rows(!tile.shared<vector<8xf16>>)

// -----

//===----------------------------------------------------------------------===//
// Rings and buffers
//===----------------------------------------------------------------------===//

func.func @ring_outside() {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  %r = tile.ring : !tile.ring<2 x index>
  return
}

// -----

func.func @buffer_outside() {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  %b = tile.buffer : !tile.shared<vector<8x16xf16>>
  return
}

// -----

func.func @put_numbers(%ring: !tile.ring<2 x index>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a ring of tiles, got '!tile.ring<2 x index>'}}
  tile.put %ring, %v[%n, %n] axes [0, 1] below(%n, %n) : !tile.ring<2 x index>, memref<?x?xf16>
  return
}

// -----

func.func @put_indices(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected 2 indices, got 1}}
  tile.put %ring, %v[%n] axes [0, 1] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?xf16>
  return
}

// -----

func.func @put_axes(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected one axis and one limit for each of the 2 dimensions of the tile, got 2 and 1}}
  tile.put %ring, %v[%n, %n] axes [0, 1] below(%n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?xf16>
  return
}

// -----

func.func @put_axis_outside(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected axes of the view, got 2}}
  tile.put %ring, %v[%n, %n] axes [0, 2] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?xf16>
  return
}

// -----

func.func @put_axis_twice(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected each axis once, got 1 twice}}
  tile.put %ring, %v[%n, %n] axes [1, 1] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?xf16>
  return
}

// -----

func.func @put_element(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?xbf16>, %n: index) {
  // expected-error@+1 {{op expected a tile of 'bf16', got 'f16'}}
  tile.put %ring, %v[%n, %n] axes [0, 1] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?xbf16>
  return
}

// -----

func.func @get_other(%ring: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a tile of 'vector<8x16xf16>', got '!tile.shared<vector<16x8xf16>>'}}
  %s = tile.get %ring : !tile.ring<2 x vector<8x16xf16>> -> !tile.shared<vector<16x8xf16>>
  return
}

// -----

func.func @held_other(%ring: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a tile of 'vector<8x16xf16>', got '!tile.shared<vector<16x8xf16>>'}}
  %s = tile.held %ring : !tile.ring<2 x vector<8x16xf16>> -> !tile.shared<vector<16x8xf16>>
  return
}

// -----

func.func @get_number(%ring: !tile.ring<2 x index>) {
  // expected-error@+1 {{op expected a tile of 'index', got '!tile.shared<vector<16x8xf16>>'}}
  %s = tile.get %ring : !tile.ring<2 x index> -> !tile.shared<vector<16x8xf16>>
  return
}

// -----

func.func @put_group(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a dimension that the rows of a group go along}}
  tile.put %ring, %v[%n, %n, %n] axes [0, 2] group [4] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?x?xf16>
  return
}

// -----

func.func @put_open_pages(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x?x?xf16>, %t: memref<?x?xi32>, %n: index) {
  // expected-error@+1 {{op expected rows along dimension 1, of a static size, and no group with 'pages', got 'vector<8x16xf16>' of 'memref<?x?x?xf16>'}}
  tile.put %ring, %v[%n, %n, %n] pages(%t : memref<?x?xi32>) axes [1, 2] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x?x?xf16>
  return
}

// -----

func.func @put_table(%ring: !tile.ring<2 x vector<8x16xf16>>, %v: memref<?x8x?xf16>, %t: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected a page table of rank 2 of i32, got 'memref<?xi32>'}}
  tile.put %ring, %v[%n, %n, %n] pages(%t : memref<?xi32>) axes [1, 2] below(%n, %n) : !tile.ring<2 x vector<8x16xf16>>, memref<?x8x?xf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// What consumers share
//===----------------------------------------------------------------------===//

func.func @share_wide(%g: vector<8x16xf64>) {
  // expected-error@+1 {{op expected a tile of 16-bit or 32-bit elements, got 'vector<8x16xf64>'}}
  tile.share %g : vector<8x16xf64>
  return
}

// -----

func.func @share_wide_ring(%g: vector<8x16xf32>, %r: !tile.ring<2 x vector<8x16xf32>>) {
  // expected-error@+1 {{op expected a tile of 16-bit elements, got 'vector<8x16xf32>'}}
  tile.share %g to %r : !tile.ring<2 x vector<8x16xf32>> : vector<8x16xf32>
  return
}

// -----

func.func @share_ring(%g: vector<8x16xbf16>, %r: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a ring of 'vector<8x16xbf16>', got '!tile.ring<2 x vector<8x16xf16>>'}}
  tile.share %g to %r : !tile.ring<2 x vector<8x16xf16>> : vector<8x16xbf16>
  return
}

// -----

func.func @post_wide(%r: !tile.ring<2 x vector<8x16xf32>>) {
  // expected-error@+1 {{op expected a tile of 16-bit elements, got 'vector<8x16xf32>'}}
  tile.post %r : !tile.ring<2 x vector<8x16xf32>>
  return
}

// -----

func.func @post_numbers(%r: !tile.ring<2 x index>) {
  // expected-error@+1 {{op expected a tile of 16-bit elements, got 'index'}}
  tile.post %r : !tile.ring<2 x index>
  return
}

// -----

func.func @take_wide() {
  // expected-error@+1 {{op expected a tile of 16-bit or 32-bit elements, got 'vector<8x16xi8>'}}
  %s = tile.take : !tile.shared<vector<8x16xi8>>
  return
}

// -----

// What is taken is shared somewhere in the program: that type, and no other.

tile.program @take_of_nothing(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %g = arith.constant dense<0.0> : vector<8x16xf16>
  tile.share %g : vector<8x16xf16>
  // expected-error@+1 {{op expected a 'tile.share' of 'vector<8x16xbf16>'}}
  %s = tile.take : !tile.shared<vector<8x16xbf16>>
  tile.return
}

// -----

tile.program @post_of_nothing(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %r = tile.ring : !tile.ring<2 x vector<8x16xbf16>>
  // expected-error@+1 {{op expected a ring that a 'tile.share' fills}}
  tile.post %r : !tile.ring<2 x vector<8x16xbf16>>
  tile.return
}

// -----

// A buffer is free when all consumers have given it back.

tile.program @released_by_some(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  // expected-error@+1 {{op expected all 3 warpgroups of consumers to give back its buffers, got 2}}
  %r = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  tile.role <consumer> warpgroups 1 registers 160 {
  }
  tile.role <consumer> warpgroups 2 registers 160 {
    tile.persistent {
    ^bb0(%n: index):
      tile.release %r : !tile.ring<2 x vector<64x64xbf16>>
    }
  }
  tile.return
}
