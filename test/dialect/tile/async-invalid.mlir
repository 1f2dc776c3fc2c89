// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// One fault a chunk, of what GPUs add.

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

// expected-error@+1 {{expected a tile, a vector of rank 2, got 'vector<2x4x8xf32>'}}
func.func private @pending_of_three(!tile.pending<vector<2x4x8xf32>>)

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

// -----

func.func @role_outside() {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  tile.role <consumer> warpgroups 1 registers 240 {
  }
  return
}

// -----

tile.program @no_warpgroups(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected a warpgroup or more}}
  tile.role <consumer> warpgroups 0 registers 240 {
  }
  tile.return
}

// -----

tile.program @warp_of_consumer(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected warps 0 to 3 of a producer's only warpgroup}}
  tile.role <consumer> warpgroups 1 registers 240 warp 0 {
  }
  tile.return
}

// -----

tile.program @fifth_warp(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected warps 0 to 3 of a producer's only warpgroup}}
  tile.role <producer> warpgroups 1 registers 40 warp 4 {
  }
  tile.return
}

// -----

tile.program @warp_without_the_one_before(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.role <producer> warpgroups 1 registers 40 {
  }
  // expected-error@+1 {{op expected warp 0 before it, with as many registers}}
  tile.role <producer> warpgroups 1 registers 40 warp 1 {
  }
  tile.return
}

// -----

tile.program @warps_with_other_registers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.role <producer> warpgroups 1 registers 40 warp 0 {
  }
  // expected-error@+1 {{op expected warp 0 before it, with as many registers}}
  tile.role <producer> warpgroups 1 registers 32 warp 1 {
  }
  tile.return
}

// -----

tile.program @role_kind(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+2 {{expected ::attnc::tile::RoleKind to be one of: producer, consumer}}
  // expected-error@+1 {{failed to parse}}
  tile.role <both> warpgroups 1 registers 240 {
  }
  tile.return
}

// -----

func.func @each_without_number() {
  // expected-error@+1 {{op expected a region of one argument, the number of the tile, an index}}
  tile.persistent {
  }
  return
}

// -----

func.func @each_type() {
  // expected-error@+1 {{op expected a region of one argument, the number of the tile, an index}}
  tile.persistent {
  ^bb0(%n: i32):
  }
  return
}

// -----

func.func @each_from_tiles(%ring: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a ring of indices, got '!tile.ring<2 x vector<8x16xf16>>'}}
  tile.persistent from %ring : !tile.ring<2 x vector<8x16xf16>> {
  ^bb0(%n: index):
  }
  return
}

// -----

func.func @ping_pong_kind() {
  // expected-error@+2 {{expected ::attnc::tile::PingPongKind to be one of: wait, arrive}}
  // expected-error@+1 {{failed to parse}}
  tile.ping_pong <skip>
  return
}

//===----------------------------------------------------------------------===//
// Rings and buffers
//===----------------------------------------------------------------------===//

// -----

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
  %r = tile.row 0 of %a : !tile.shared<vector<3x16x8xbf16>> -> vector<8xf32>
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

func.func @via_rows(%t: vector<8x16xf16>, %b: !tile.shared<vector<4x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<4x16xf16>'}}
  tile.store %t via %b : !tile.shared<vector<4x16xf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_columns(%t: vector<8x16xf16>, %b: !tile.shared<vector<8x32xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<8x32xf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x32xf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_element(%t: vector<8x16xf16>, %b: !tile.shared<vector<8x16xbf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<8x16xbf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x16xbf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_of_rows(%t: vector<8xf16>, %b: !tile.shared<vector<8x16xf16>>, %v: memref<?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8xf16>', got 'vector<8x16xf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x16xf16>>, %v[%n] axes [0] below(%n) : vector<8xf16>, memref<?xf16>
  return
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Parts of rows, and maps that are mostly by one
//===----------------------------------------------------------------------===//

// -----

func.func @spread_tile(%x: vector<8x4xf32>) {
  // expected-error@+1 {{operand #0 must be vector of 32-bit float values of ranks 1}}
  %p = tile.lane_partial %x : vector<8x4xf32>
  return
}

// -----

func.func @total_narrow(%x: vector<8xbf16>) {
  // expected-error@+1 {{operand #0 must be vector of 32-bit float values of ranks 1}}
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

//===----------------------------------------------------------------------===//
// What consumers share
//===----------------------------------------------------------------------===//

// -----

func.func @share_wide(%g: vector<8x16xf32>) {
  // expected-error@+1 {{op expected a tile of 16-bit elements, got 'vector<8x16xf32>'}}
  tile.share %g : vector<8x16xf32>
  return
}

// -----

tile.program @sync_of_role(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.pipeline<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  tile.role <consumer> warpgroups 1 registers 240 {
    // expected-error@+1 {{op expected a program without roles, whose threads wait for rings}}
    tile.sync
  }
  tile.return
}

// -----

func.func @share_ring(%g: vector<8x16xbf16>, %r: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a ring of 'vector<8x16xbf16>', got '!tile.ring<2 x vector<8x16xf16>>'}}
  tile.share %g to %r : !tile.ring<2 x vector<8x16xf16>> : vector<8x16xbf16>
  return
}

// -----

func.func @row_number(%t: vector<2x16xf32>) {
  // expected-error@+1 {{op expected one of the 2 rows of 'vector<2x16xf32>', got 2}}
  %r = tile.row 2 of %t : vector<2x16xf32> -> vector<16xf32>
  return
}

// -----

func.func @row_columns(%t: vector<2x16xf32>) {
  // expected-error@+1 {{op expected a row of 'vector<2x16xf32>', got 'vector<2xf32>'}}
  %r = tile.row 1 of %t : vector<2x16xf32> -> vector<2xf32>
  return
}

// -----

func.func @turned_depth(%a: !tile.shared<vector<16x8xbf16>>, %b: !tile.shared<vector<8x4xbf16>>, %c: vector<8x4xf32>) {
  // expected-error@+1 {{op expected shapes of a product}}
  %s = tile.mma %a, %b, %c left_transposed : !tile.shared<vector<16x8xbf16>>, !tile.shared<vector<8x4xbf16>>, vector<8x4xf32>
  return
}

// -----

func.func @accumulate_in_order(%t: vector<16x8xf32>, %v: memref<?x8xf32>, %n: index) {
  // expected-error@+1 {{op expected 'blocked' with 'accumulate'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) {accumulate} : vector<16x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @blocked_rows(%t: vector<24x8xf32>, %v: memref<?x8xf32>, %n: index) {
  // expected-error@+1 {{op expected f32 tiles of whole rows, in multiples of 16, of a view of two dimensions whose rows have a multiple of 8 columns, with 'blocked'; got 'vector<24x8xf32>'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) {blocked} : vector<24x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @blocked_columns(%v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{with 'blocked'; got 'vector<16x8xf32>'}}
  %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) {blocked} : memref<?x16xf32> -> vector<16x8xf32>
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
