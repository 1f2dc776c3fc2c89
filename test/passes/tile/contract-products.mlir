// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-contract-products))" | FileCheck %s

// CHECK-LABEL: tile.program @contracted(
tile.program @contracted(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows(%before : vector<64xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %c2 = arith.constant 2.0 : f32
    %c3 = arith.constant 3.0 : f32
    %c5 = arith.constant 5.0 : f32
    // What is the same for a row is computed once, and stays as it is.
    // CHECK: arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : f32
    %row = arith.mulf %m, %slope : f32
    // A product and its sum are one operation.
    // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E:.*]], %{{.*}} fastmath<contract> : f32
    // CHECK-NEXT: arith.addf %[[P]], %{{.*}} fastmath<contract> : f32
    %p = arith.mulf %e, %slope : f32
    %s = arith.addf %p, %row : f32
    // An element that a maximum has seen as it is stays as it is.
    // CHECK-NEXT: arith.subf %[[E]], %{{[^ ]*}} : f32
    %d = arith.subf %e, %row : f32
    // So does a product that two read.
    // CHECK-NEXT: %[[TWICE:.*]] = arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : f32
    // CHECK-NEXT: arith.subf %[[TWICE]], %[[TWICE]] fastmath<contract> : f32
    %twice = arith.mulf %d, %s : f32
    %zero = arith.subf %twice, %twice : f32
    // Two constants are one; of three, the last two.
    // CHECK-NEXT: %[[FIRST:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
    // CHECK: %[[C15:.*]] = arith.constant 1.500000e+01 : f32
    // CHECK-NEXT: arith.mulf %[[FIRST]], %[[C15]] : f32
    %first = arith.mulf %zero, %c2 : f32
    %second = arith.mulf %first, %c3 : f32
    %third = arith.mulf %second, %c5 : f32
    tile.yield %third : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Of constants whose product is no normal number each is taken by itself.

// CHECK-LABEL: tile.program @far_apart(
// CHECK: %[[FIRST:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT: arith.mulf %[[FIRST]], %{{.*}} : f32
tile.program @far_apart(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %huge = arith.constant 1.0e30 : f32
  %scores = tile.map tiles(%x : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %a = arith.mulf %e, %huge : f32
    %b = arith.mulf %a, %huge fastmath<none> : f32
    tile.yield %b : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <max> %scores, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @exact(
// CHECK-NOT: contract
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

// Without a pipeline, what a product alone adds to may be scaled in one operation with the addition, and nothing else.

// CHECK-LABEL: tile.program @scaled(
tile.program @scaled(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %f: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  // CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
  %scaled = tile.map tiles(%x : vector<8x8xf32>) rows(%factor : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %g: f32, %i: index, %j: index):
    %p = arith.mulf %e, %g : f32
    tile.yield %p : f32
  } {scales_rows} -> vector<8x8xf32>
  %a = tile.mma %x, %x, %scaled : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  // Scaled, and read twice.
  // CHECK: arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : f32
  %twice = tile.map tiles(%a : vector<8x8xf32>) rows(%factor : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %g: f32, %i: index, %j: index):
    %p = arith.mulf %e, %g : f32
    tile.yield %p : f32
  } {scales_rows} -> vector<8x8xf32>
  %b = tile.mma %x, %x, %twice : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  tile.store %twice, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x8xf32>, memref<?x?xf32>
  // Not marked as what scales rows.
  // CHECK: arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : f32
  %other = tile.map tiles(%b : vector<8x8xf32>) rows(%factor : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %g: f32, %i: index, %j: index):
    %p = arith.mulf %e, %g : f32
    tile.yield %p : f32
  } -> vector<8x8xf32>
  %d = tile.mma %x, %x, %other : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
