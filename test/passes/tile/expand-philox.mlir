// RUN: attnc-opt %s --tile-expand-philox --canonicalize --cse -split-input-file | FileCheck %s

// Without a pipeline, elements compute their random numbers: Philox4x32-7 has two multipliers and seven rounds of two
// products. Of its words an element chooses one by bits 3 of its query and key, and of that a half by bit 0 of the key.

// CHECK-LABEL: tile.program @elements(
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: i64, %[[B:[a-z0-9]+]]: index, %[[H:[a-z0-9]+]]: index
// CHECK-NOT: tile.philox
// CHECK-DAG: arith.constant -766435501 : i32
// CHECK-DAG: arith.constant -845247145 : i32
// CHECK: tile.map tiles(%{{[a-z0-9]+}} : vector<16x8xf32>) rows() cols() at(%[[I:[a-z0-9]+]], %[[J:[a-z0-9]+]]) {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %[[ROW:[a-z0-9]+]]: index, %[[COLUMN:[a-z0-9]+]]: index):
// CHECK-DAG: arith.index_cast %[[ROW]] : index to i32
// CHECK-DAG: arith.index_cast %[[COLUMN]] : index to i32
// CHECK-COUNT-14: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: arith.trunci %{{.*}} : i32 to i16
tile.program @elements(%seed: i64, %b: index, %h: index, %i: index, %j: index, %x: vector<16x8xf32>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %n = tile.philox %seed at(%b, %h, %i, %j) : vector<16x8xi16>
  %y = tile.map tiles(%x, %n : vector<16x8xf32>, vector<16x8xi16>) rows() cols() at(%i, %j) {
  ^bb0(%e: f32, %number: i16, %row: index, %column: index):
    %f = arith.uitofp %number : i16 to f32
    %s = arith.addf %e, %f : f32
    tile.yield %s : f32
  } -> vector<16x8xf32>
  tile.store %y, %o[%i, %j] axes [0, 1] below(%i, %j) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Rows are keys, and the map counts from another place.

// CHECK-LABEL: tile.program @turned(
// CHECK: tile.map
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %[[ROW:[a-z0-9]+]]: index, %[[COLUMN:[a-z0-9]+]]: index):
// CHECK-DAG: %[[KEY:.*]] = arith.addi %[[ROW]], %[[J:[a-z0-9]+]] : index
// CHECK-DAG: %[[QUERY:.*]] = arith.addi %[[COLUMN]], %[[I:[a-z0-9]+]] : index
// CHECK-DAG: arith.index_cast %[[KEY]] : index to i32
// CHECK-DAG: arith.index_cast %[[QUERY]] : index to i32
tile.program @turned(%seed: i64, %b: index, %h: index, %i: index, %j: index, %x: vector<16x8xf32>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %c0 = arith.constant 0 : index
  %n = tile.philox %seed at(%b, %h, %i, %j) transposed : vector<16x8xi16>
  %y = tile.map tiles(%x, %n : vector<16x8xf32>, vector<16x8xi16>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %number: i16, %row: index, %column: index):
    %f = arith.uitofp %number : i16 to f32
    %s = arith.addf %e, %f : f32
    tile.yield %s : f32
  } -> vector<16x8xf32>
  tile.store %y, %o[%i, %j] axes [0, 1] below(%i, %j) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// With one, threads hold elements that share calls.

// CHECK-LABEL: tile.program @pipelined(
// CHECK: tile.philox
tile.program @pipelined(%seed: i64, %i: index, %j: index, %x: vector<16x16xf32>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16,
                pipeline = #attn.warps<consumers = 1, stages = 2, rescaling = each_step>} {
  %n = tile.philox %seed at(%i, %i, %i, %j) : vector<16x16xi16>
  %y = tile.map tiles(%x, %n : vector<16x16xf32>, vector<16x16xi16>) rows() cols() at(%i, %j) {
  ^bb0(%e: f32, %number: i16, %row: index, %column: index):
    %f = arith.uitofp %number : i16 to f32
    tile.yield %f : f32
  } -> vector<16x16xf32>
  tile.store %y, %o[%i, %j] axes [0, 1] below(%i, %j) : vector<16x16xf32>, memref<?x?xf32>
  tile.return
}
