// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// One fault a chunk.

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

// expected-error@+1 {{op expected the number of the tile, an index, as the last argument}}
tile.program @no_tile() attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected the number of the tile, an index, as the last argument}}
tile.program @tile_is_no_index(%tile: i64)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected no results}}
tile.program @result(%tile: index) -> index
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @grid_of_two(%tile: index)
    attributes {grid = affine_map<() -> (1, 2)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @grid_with_dimension(%tile: index)
    attributes {grid = affine_map<(d0) -> (d0)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @half_a_pair(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (2, 0)}}
tile.program @no_such_argument(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 2, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected size_range to name a dimension of an argument, a least and a greatest size}}
tile.program @range_of_no_argument(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                size_range = array<i64: 1, 0, 0, 9>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected size_range to name a dimension of an argument, a least and a greatest size}}
tile.program @range_of_nothing(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                size_range = array<i64: 0, 0, 10, 9>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected size_range to name a dimension of an argument, a least and a greatest size}}
tile.program @range_without_an_end(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                size_range = array<i64: 0, 0, 10>} {
  tile.return
}

// -----

// expected-error@+1 {{greatest size, and a dimension of offsets where sequences are packed}}
tile.program @range_of_sequences_of_nothing(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                size_range = array<i64: 0, 0, 0, 9, 1, 0>} {
  tile.return
}

// -----

// expected-error@+1 {{greatest size, and a dimension of offsets where sequences are packed}}
tile.program @range_of_half_a_dimension(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                size_range = array<i64: 0, 0, 0, 9, 0>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (-1, 0)}}
tile.program @negative_argument(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: -1, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (1, 0)}}
tile.program @argument_without_sizes(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 1, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (0, 1)}}
tile.program @no_such_dimension(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 1>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 8 and 12}}
tile.program @uneven_panels(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 12, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 0 and 8}}
tile.program @no_panel(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 0} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 8 and 0}}
tile.program @no_rows(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 0, panel = 8} {
  tile.return
}

// -----

func.func @live_rows_outside(%n: index) {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  tile.live_rows %n
  return
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

// -----

func.func @load_indices(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected 3 indices, got 2}}
  %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_axes(%v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected one axis and one limit for each of the 2 dimensions of the tile, got 1 and 2}}
  %t = tile.load %v[%n, %n] axes [0] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_limits(%v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected one axis and one limit for each of the 1 dimensions of the tile, got 1 and 2}}
  %t = tile.load %v[%n, %n] axes [0] below(%n, %n) : memref<?x?xf32> -> vector<8xf32>
  return
}

// -----

func.func @load_axis_outside(%v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected axes of the view, got 2}}
  %t = tile.load %v[%n, %n] axes [0, 2] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_axis_negative(%v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected axes of the view, got -1}}
  %t = tile.load %v[%n, %n] axes [-1, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_axis_twice(%v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected each axis once, got 1 twice}}
  %t = tile.load %v[%n, %n] axes [1, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_element(%v: memref<?x?xbf16>, %n: index) {
  // expected-error@+1 {{op expected a tile of 'bf16', got 'f32'}}
  %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xf32>
  return
}

// -----

func.func @load_group_numbers(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected a group of [rows] or [rows, dimension], got 3 numbers}}
  %t = tile.load %v[%n, %n, %n] axes [0, 2] group [4, 1, 1] below(%n, %n) : memref<?x?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_group_rows(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected the group to divide the 8 rows of the tile, got 3}}
  %t = tile.load %v[%n, %n, %n] axes [0, 2] group [3, 1] below(%n, %n) : memref<?x?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_group_axis(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected the group along a dimension of the view that is no axis, got 2}}
  %t = tile.load %v[%n, %n, %n] axes [0, 2] group [4, 2] below(%n, %n) : memref<?x?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @load_group_outside(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected the group along a dimension of the view that is no axis, got 3}}
  %t = tile.load %v[%n, %n, %n] axes [0, 2] group [4, 3] below(%n, %n) : memref<?x?x?xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @store_group(%t: vector<8x16xf32>, %v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected a dimension that the rows of a group go along}}
  tile.store %t, %v[%n, %n, %n] axes [0, 2] group [4] below(%n, %n) : vector<8x16xf32>, memref<?x?x?xf32>
  return
}

// -----

func.func @map_group(%t: vector<8x16xf32>, %n: index) {
  // expected-error@+1 {{op expected the group to divide the 8 rows, got 3}}
  %m = tile.map tiles(%t : vector<8x16xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } {group = 3 : i64} -> vector<8x16xf32>
  return
}

// -----

func.func @mask_group(%t: vector<8x16xf32>, %n: index) {
  // expected-error@+1 {{op expected the group to divide the 8 rows, got 0}}
  %m = tile.mask tiles(%t : vector<8x16xf32>) rows() cols() at(%n, %n) full(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    %keep = arith.cmpi slt, %i, %j : index
    tile.yield %keep : i1
  } {group = 0 : i64} -> vector<8x16xf32>
  return
}

// -----

func.func @store_indices(%t: vector<8xf32>, %v: memref<?xf32>, %n: index) {
  // expected-error@+1 {{op expected 1 indices, got 2}}
  tile.store %t, %v[%n, %n] axes [0] below(%n) : vector<8xf32>, memref<?xf32>
  return
}

// -----

func.func @store_axis(%t: vector<8xf32>, %v: memref<?xf32>, %n: index) {
  // expected-error@+1 {{op expected axes of the view, got 1}}
  tile.store %t, %v[%n] axes [1] below(%n) : vector<8xf32>, memref<?xf32>
  return
}

// -----

func.func @store_axis_twice(%t: vector<8x16xf32>, %v: memref<?x?xf32>, %n: index) {
  // expected-error@+1 {{op expected each axis once, got 0 twice}}
  tile.store %t, %v[%n, %n] axes [0, 0] below(%n, %n) : vector<8x16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @store_element(%t: vector<8xf32>, %v: memref<?xf16>, %n: index) {
  // expected-error@+1 {{op expected a tile of 'f16', got 'f32'}}
  tile.store %t, %v[%n] axes [0] below(%n) : vector<8xf32>, memref<?xf16>
  return
}

// -----

func.func @view_of_doubles(%v: memref<?xf64>, %n: index) {
  // expected-error@+1 {{operand #0 must be strided memref of}}
  %t = tile.load %v[%n] axes [0] below(%n) : memref<?xf64> -> vector<8xf64>
  return
}

// -----

func.func @min_max_first(%v: memref<?x?xi32>, %n: index) {
  // expected-error@+1 {{op expected 2 indices, got 1}}
  %lo, %hi = tile.min_max %v[%n] to [%n, %n] : memref<?x?xi32> -> i32, i32
  return
}

// -----

func.func @min_max_last(%v: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected 1 indices, got 2}}
  %lo, %hi = tile.min_max %v[%n] to [%n, %n] : memref<?xi32> -> i32, i32
  return
}

// -----

func.func @min_max_of_floats(%v: memref<?xf32>, %n: index) {
  // expected-error@+1 {{op expected a view of integers, got 'memref<?xf32>'}}
  %lo, %hi = tile.min_max %v[%n] to [%n] : memref<?xf32> -> f32, f32
  return
}

// -----

func.func @min_max_results(%v: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected results of type 'i32', got 'i64'}}
  %lo, %hi = tile.min_max %v[%n] to [%n] : memref<?xi32> -> i32, i64
  return
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

// -----

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
  // expected-error@+1 {{operand #2 must be vector of 32-bit float values of ranks 2}}
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

//===----------------------------------------------------------------------===//
// Maps and masks
//===----------------------------------------------------------------------===//

// -----

func.func @map_no_result(%n: index) {
  // expected-error@+1 {{op expected a result}}
  "tile.map"(%n, %n) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 1>}> ({
  ^bb0(%i: index, %j: index):
    tile.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @map_results(%s: vector<8x4xf32>, %n: index) {
  // expected-error@+1 {{op expected results of one shape, got 'vector<8x8xf32>' beside 'vector<8x4xf32>'}}
  %m:2 = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x, %x : f32, f32
  } -> (vector<8x4xf32>, vector<8x8xf32>)
  return
}

// -----

func.func @map_tiles(%s: vector<8x4xf32>, %t: vector<8x8xf32>, %n: index) {
  // expected-error@+1 {{op expected tiles of one shape, got 'vector<8x8xf32>' beside 'vector<8x4xf32>'}}
  %m = tile.map tiles(%s, %t : vector<8x4xf32>, vector<8x8xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xf32>
  return
}

// -----

func.func @map_rows(%s: vector<8x4xf32>, %r: vector<4xf32>, %n: index) {
  // expected-error@+1 {{op expected vectors of 8 elements beside 'vector<8x4xf32>', got 'vector<4xf32>'}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows(%r : vector<4xf32>) cols() at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xf32>
  return
}

// -----

func.func @map_cols(%s: vector<8x4xf32>, %c: vector<8xf32>, %n: index) {
  // expected-error@+1 {{op expected vectors of 4 elements beside 'vector<8x4xf32>', got 'vector<8xf32>'}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows() cols(%c : vector<8xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xf32>
  return
}

// -----

func.func @map_region(%s: vector<8x4xbf16>, %n: index) {
  // expected-error@+1 {{op expected a region of ('bf16', 'index', 'index'), got ('f32', 'index', 'index')}}
  %m = tile.map tiles(%s : vector<8x4xbf16>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xf32>
  return
}

// -----

func.func @map_yield(%s: vector<8x4xf32>, %n: index) {
  // expected-error@+1 {{op expected the region to yield ('bf16')}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xbf16>
  return
}

// -----

func.func @mask_nothing(%n: index) {
  // expected-error@+1 {{op expected the masked tile, of the result's type, as the first of tiles}}
  %m = tile.mask tiles() rows() cols() at(%n, %n) full(%n, %n) {
  ^bb0(%i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  return
}

// -----

func.func @mask_type(%s: vector<8x8xf32>, %n: index) {
  // expected-error@+1 {{op expected the masked tile, of the result's type, as the first of tiles}}
  %m = tile.mask tiles(%s : vector<8x8xf32>) rows() cols() at(%n, %n) full(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  return
}

// -----

func.func @mask_yield(%s: vector<8x4xf32>, %n: index) {
  // expected-error@+1 {{op expected the region to yield ('i1')}}
  %m = tile.mask tiles(%s : vector<8x4xf32>) rows() cols() at(%n, %n) full(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<8x4xf32>
  return
}

// -----

func.func @mask_without_full(%s: vector<8x4xf32>, %n: index) {
  // expected-error@+1 {{expected 'full'}}
  %m = tile.mask tiles(%s : vector<8x4xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  return
}

// -----

func.func @yield_outside(%x: f32) {
  // expected-error@+1 {{op expects parent op to be one of 'tile.map, tile.mask, tile.block_mask'}}
  tile.yield %x : f32
}

// -----

// expected-error@+1 {{op expected the workspace, memref<?x?xi32> or memref<?x?xf32>, as the argument before the last}}
tile.program @workspace_type(%list: memref<?x?xi64>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspace = affine_map<() -> (1, 2)>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a workspace of two sizes, without dimensions, from the symbols of the grid}}
tile.program @workspace_sizes(%list: memref<?x?xi32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspace = affine_map<() -> (1)>} {
  tile.return
}

// -----

func.func @block_mask_list(%list: memref<?xi32>, %n: index, %b: i1) {
  // expected-error@+1 {{op expected a list of rows of 32-bit elements, got 'memref<?xi32>'}}
  tile.block_mask %list[%n] from %n to %n step %n {
  ^bb0(%j: index):
    tile.yield %b, %b : i1, i1
  } : memref<?xi32>
  return
}

// -----

func.func @block_mask_region(%list: memref<?x?xi32>, %n: index, %b: i1) {
  // expected-error@+1 {{op expected a region of one index, where a step starts}}
  tile.block_mask %list[%n] from %n to %n step %n {
    tile.yield %b, %b : i1, i1
  } : memref<?x?xi32>
  return
}

// -----

func.func @block_mask_yield(%list: memref<?x?xi32>, %n: index, %b: i1) {
  // expected-error@+1 {{op expected the region to yield whether some and whether all elements are kept, (i1, i1)}}
  tile.block_mask %list[%n] from %n to %n step %n {
  ^bb0(%j: index):
    tile.yield %b : i1
  } : memref<?x?xi32>
  return
}

// -----

func.func @softmax_weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op expected weights of the shape of the scores, got 'vector<16x16xbf16>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x16xbf16>
  return
}

// -----

func.func @softmax_rows(%s: vector<16x8xf32>, %m: vector<8xf32>, %i: index) {
  // expected-error@+1 {{op expected one number for each of the 16 rows of the scores, got 'vector<8xf32>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 1.0 : f32} : vector<16x8xf32>, vector<8xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_scale(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op expected a finite scale above 0}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 0.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_on_growth(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op a fixed maximum never grows: 'rescale_on_growth' and 'fixed' exclude each other}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {fixed, rescale_on_growth, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_numbers(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index, %n: vector<8x16xi16>, %least: i32) {
  // expected-error@+1 {{op expected numbers of the shape of the scores, got 'vector<8x16xi16>'}}
  %0, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) numbers %n : vector<8x16xi16> dropped below %least {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_own(%s: vector<16x8xf32>, %m: vector<16xf32>, %own: vector<8xf32>, %i: index) {
  // expected-error@+1 {{op expected maxima of the tile's own of type 'vector<16xf32>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) own %own : vector<8xf32> {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_renewed(%s: vector<16x8xf32>, %m: vector<16xf32>, %some: vector<8xi1>, %i: index) {
  // expected-error@+1 {{op expected to be told of each of the 16 rows whether it is renewed}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) renewed %some : vector<8xi1> {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_fixed(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op a fixed maximum never grows: it has no maxima of the tile's own and no rows to renew}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) own %m : vector<16xf32> {fixed, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_end_greatest(%m: vector<16xf32>) {
  // expected-error@+1 {{op expected 'rounded': the type that the greatest weight was converted to}}
  %f, %lse = tile.softmax_end %m, %m greatest %m : vector<16xf32> {scale = 1.0 : f32} : vector<16xf32>
  return
}

// -----

func.func @softmax_end_padding(%m: vector<16xf32>, %padding: vector<8xi1>) {
  // expected-error@+1 {{op expected padding for each of the 16 rows}}
  %f, %lse = tile.softmax_end %m, %m padding %padding : vector<8xi1> {scale = 1.0 : f32} : vector<16xf32>
  return
}

// -----

func.func @softmax_end_sink(%m: vector<16xf32>, %sink: vector<8xf32>) {
  // expected-error@+1 {{op expected a sink for each of the 16 rows}}
  %f, %lse = tile.softmax_end %m, %m sink %sink : vector<8xf32> {scale = 1.0 : f32} : vector<16xf32>
  return
}

// -----

func.func @load_pages_along_other_rows(%v: memref<8x?x?xf16>, %t: memref<?x?xi32>, %n: index) {
  // expected-error@+1 {{op expected rows along dimension 1, of a static size, and no group with 'pages', got 'vector<8x16xf16>' of 'memref<8x?x?xf16>'}}
  %x = tile.load %v[%n, %n, %n] pages(%t : memref<?x?xi32>) axes [0, 2] below(%n, %n) : memref<8x?x?xf16> -> vector<8x16xf16>
  return
}

// -----

func.func @scatter_to_narrow(%v: memref<?xbf16>, %n: index, %x: vector<8x16xf32>, %p: vector<8x16xi32>) {
  // expected-error@+1 {{op expected a view of f32 and an index for each of its dimensions, got 'memref<?xbf16>' and 1}}
  tile.scatter %x, %v[%n] at(%p : vector<8x16xi32>) axes [0] : vector<8x16xf32>, memref<?xbf16>
  return
}

// -----

func.func @scatter_without_axis(%v: memref<?xf32>, %n: index, %x: vector<8x16xf32>, %p: vector<8x16xi32>) {
  // expected-error@+1 {{op expected an axis for each tile of places, got 0 for 1}}
  tile.scatter %x, %v[%n] at(%p : vector<8x16xi32>) axes [] : vector<8x16xf32>, memref<?xf32>
  return
}

// -----

func.func @scatter_along_one_axis(%v: memref<?x?xf32>, %n: index, %x: vector<8x16xf32>, %p: vector<8x16xi32>) {
  // expected-error@+1 {{op expected different axes of the view, got 1}}
  tile.scatter %x, %v[%n, %n] at(%p, %p : vector<8x16xi32>, vector<8x16xi32>) axes [1, 1] : vector<8x16xf32>, memref<?x?xf32>
  return
}

// -----

func.func @scatter_of_other_shape(%v: memref<?xf32>, %n: index, %x: vector<8x16xf32>, %p: vector<8x8xi32>) {
  // expected-error@+1 {{op expected a place for each element of 'vector<8x16xf32>', got 'vector<8x8xi32>'}}
  tile.scatter %x, %v[%n] at(%p : vector<8x8xi32>) axes [0] : vector<8x16xf32>, memref<?xf32>
  return
}
