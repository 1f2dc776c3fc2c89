// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-anchor-columns))" | FileCheck %s

// A slope times a distance is rounded at a thread's last column, which is the nearest to the query: 57 from its first of 64.
// What is the same for a row is left out of the sum.

// CHECK-LABEL: tile.program @nearest(
// CHECK: arith.mulf %{{.*}}, %{{.*}} {tile.anchor = 57 : i64} : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} {tile.row_shift} : f32
tile.program @nearest(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } {tile.up_to_query} -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// What else reads the elements than maps and maxima reads them whole.

// CHECK-LABEL: tile.program @stored(
// CHECK: arith.mulf %{{.*}}, %{{.*}} {tile.anchor = 57 : i64} : f32
// CHECK: arith.addf %{{[^ ]*}}, %{{[^ ]*}} : f32
tile.program @stored(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } {tile.up_to_query} -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %scores, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<64x64xf32>, memref<?x?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// A magnitude has its least where the query stands, which may be any column.

// CHECK-LABEL: tile.program @magnitude(
// CHECK-NOT: tile.{{anchor|row_shift}}
tile.program @magnitude(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %a = math.absi %n : i32
    %f = arith.sitofp %a : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } {tile.up_to_query} -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Where a mask cuts the tile, keys past the query are in it, and the nearest may be any column as well.

// CHECK-LABEL: tile.program @cut(
// CHECK-NOT: tile.{{anchor|row_shift}}
tile.program @cut(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } {tile.up_to_query} -> vector<64x64xf32>
  %kept = tile.mask tiles(%scores : vector<64x64xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<64x64xf32>
  %max = tile.reduce <max> %kept, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @both_sides(
// CHECK-NOT: tile.{{anchor|row_shift}}
tile.program @both_sides(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @exact(
// CHECK-NOT: tile.{{anchor|row_shift}}
tile.program @exact(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %slope, %f : f32
    %y = arith.addf %e, %p : f32
    tile.yield %y : f32
  } {tile.up_to_query} -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}
