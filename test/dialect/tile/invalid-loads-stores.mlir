// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of loads and stores, of ranges and of scattered elements, one a chunk.

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

// -----

func.func @load_of_rank_3(%v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op result #0 must be tile, row vector or column vector, but got 'vector<2x8x16xf32>'}}
  %t = tile.load %v[%n, %n, %n] axes [0, 1, 2] below(%n, %n, %n) : memref<?x?x?xf32> -> vector<2x8x16xf32>
  return
}

// -----

func.func @store_of_rank_3(%t: vector<2x8x16xf32>, %v: memref<?x?x?xf32>, %n: index) {
  // expected-error@+1 {{op operand #0 must be tile or row vector, but got 'vector<2x8x16xf32>'}}
  tile.store %t, %v[%n, %n, %n] axes [0, 1, 2] below(%n, %n, %n) : vector<2x8x16xf32>, memref<?x?x?xf32>
  return
}
