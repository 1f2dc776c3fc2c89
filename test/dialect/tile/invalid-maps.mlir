// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of maps, masks and masks of blocks, one a chunk.

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

// Rows that are scaled, and rounded.
func.func @map_scales_and_rounds(%s: vector<8x4xf32>, %r: vector<8xf32>, %n: index) {
  // expected-error@+1 {{op expected one tile times one row vector and nothing else with scales_rows}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows(%r : vector<8xf32>) cols() at(%n, %n) {
  ^bb0(%x: f32, %f: f32, %i: index, %j: index):
    %y = arith.mulf %x, %f : f32
    %z = arith.truncf %y : f32 to bf16
    tile.yield %z : bf16
  } {scales_rows} -> vector<8x4xbf16>
  return
}

// -----

func.func @map_scales_by_itself(%s: vector<8x4xf32>, %r: vector<8xf32>, %n: index) {
  // expected-error@+1 {{op expected one tile times one row vector and nothing else with scales_rows}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows(%r : vector<8xf32>) cols() at(%n, %n) {
  ^bb0(%x: f32, %f: f32, %i: index, %j: index):
    %y = arith.mulf %x, %x : f32
    tile.yield %y : f32
  } {scales_rows} -> vector<8x4xf32>
  return
}

// -----

func.func @map_scales_two(%s: vector<8x4xf32>, %t: vector<8x4xf32>, %r: vector<8xf32>, %n: index) {
  // expected-error@+1 {{op expected one tile times one row vector and nothing else with scales_rows}}
  %m = tile.map tiles(%s, %t : vector<8x4xf32>, vector<8x4xf32>) rows(%r : vector<8xf32>) cols() at(%n, %n) {
  ^bb0(%x: f32, %other: f32, %f: f32, %i: index, %j: index):
    %y = arith.mulf %x, %f : f32
    tile.yield %y : f32
  } {scales_rows} -> vector<8x4xf32>
  return
}

// -----

func.func @map_scales_columns(%s: vector<8x4xf32>, %c: vector<1x4xf32>, %n: index) {
  // expected-error@+1 {{op expected one tile times one row vector and nothing else with scales_rows}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows() cols(%c : vector<1x4xf32>) at(%n, %n) {
  ^bb0(%x: f32, %f: f32, %i: index, %j: index):
    %y = arith.mulf %x, %f : f32
    tile.yield %y : f32
  } {scales_rows} -> vector<8x4xf32>
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

func.func @map_cols(%s: vector<8x4xf32>, %c: vector<1x8xf32>, %n: index) {
  // expected-error@+1 {{op expected vectors of 4 elements beside 'vector<8x4xf32>', got 'vector<1x8xf32>'}}
  %m = tile.map tiles(%s : vector<8x4xf32>) rows() cols(%c : vector<1x8xf32>) at(%n, %n) {
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

func.func @block_mask_list(%list: memref<?xi32>, %n: index, %b: i1) {
  // expected-error@+1 {{op expected a list of rows of i32, got 'memref<?xi32>'}}
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

func.func @read_type(%t: vector<64x16xbf16>) {
  // expected-error@+1 {{op expected a result of 'vector<64x16xbf16>', as the tile is, got 'vector<64x8xbf16>'}}
  %r = tile.read %t : vector<64x16xbf16> -> vector<64x8xbf16>
  return
}

// -----

func.func @read_floats(%t: vector<64x16xf32>) {
  // expected-error@+1 {{op expected elements of 16 bits, got 'vector<64x16xf32>'}}
  %r = tile.read %t : vector<64x16xf32> -> vector<64x16xf32>
  return
}
