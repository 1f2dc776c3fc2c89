// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-order-rows))" | FileCheck %s

// Maxima and what is made of them, a row after the other; sums, and what is made of those, afterwards. A maximum that nothing
// was before overlaps with other work, and needs fewer chains.

// CHECK-LABEL: tile.program @ordered(
// CHECK: tile.lane_partial %{{.*}} {tile.by_row}
// CHECK: tile.reduce <max> %{{.*}} {tile.by_row, tile.chains = 4 : i64}
// CHECK: tile.reduce <max> %{{.*}} {tile.by_row, tile.chains = 2 : i64}
// CHECK: tile.map
// CHECK: } {tile.by_row} -> vector<64x64xf32>
// CHECK: tile.reduce <add>
// CHECK-NOT: tile.by_row
// CHECK: arith.addf
// CHECK-NOT: tile.by_row
// What joins no elements has no order.
// CHECK: arith.addf
// CHECK-NOT: tile.by_row
tile.program @ordered(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, by_row = true>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %minus = arith.constant dense<0xFF800000> : vector<64xf32>
  %partial = tile.lane_partial %before : vector<64xf32>
  %max = tile.reduce <max> %x, %before : vector<64x64xf32>, vector<64xf32>
  %fresh = tile.reduce <max> %x, %minus : vector<64x64xf32>, vector<64xf32>
  %weights = tile.map tiles(%x : vector<64x64xf32>) rows(%max : vector<64xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    tile.yield %d : f32
  } -> vector<64x64xf32>
  %sum = tile.reduce <add> %weights, %partial partial : vector<64x64xf32>, vector<64xf32>
  %twice = arith.addf %sum, %sum : vector<64xf32>
  tile.store %twice, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  %alone = arith.addf %max, %fresh : vector<64xf32>
  tile.store %alone, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @together(
// CHECK-NOT: tile.{{by_row|chains}}
tile.program @together(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %minus = arith.constant dense<0xFF800000> : vector<64xf32>
  %partial = tile.lane_partial %before : vector<64xf32>
  %max = tile.reduce <max> %x, %before : vector<64x64xf32>, vector<64xf32>
  %fresh = tile.reduce <max> %x, %minus : vector<64x64xf32>, vector<64xf32>
  %weights = tile.map tiles(%x : vector<64x64xf32>) rows(%max : vector<64xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    tile.yield %d : f32
  } -> vector<64x64xf32>
  %sum = tile.reduce <add> %weights, %partial partial : vector<64x64xf32>, vector<64xf32>
  %twice = arith.addf %sum, %sum : vector<64xf32>
  tile.store %twice, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  %alone = arith.addf %max, %fresh : vector<64xf32>
  tile.store %alone, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}
