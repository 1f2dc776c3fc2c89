// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-maxima-first))" -split-input-file | FileCheck %s

// Where scores are a rising function of products, the greatest product has the greatest score: row maxima are taken of
// products, masked as the scores are, before the function.

// CHECK-LABEL: tile.program @softcap(
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> vector<8x4xf32>
// CHECK: %[[BEFORE:.*]] = tile.load %{{.*}} -> vector<8xf32>
// CHECK: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK-NEXT: %[[MASKED:.*]] = tile.mask tiles(%[[X]] : vector<8x4xf32>)
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[MASKED]], %[[LEAST]]
// CHECK-NEXT: %[[SCORES:.*]] = tile.map tiles(%[[X]] :
// CHECK: math.tanh
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MAX]], %[[LEAST]]
// CHECK: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[MAX]], %[[C]] : vector<8xf32>
// CHECK-NEXT: %[[RISEN:.*]] = math.tanh %[[SCALED]] : vector<8xf32>
// A row that has kept nothing stays at -inf, whatever the function makes of that.
// CHECK-NEXT: %[[OR_LEAST:.*]] = arith.select %[[NONE]], %[[LEAST]], %[[RISEN]]
// CHECK-NEXT: %[[KEPT:.*]] = tile.mask tiles(%[[SCORES]] :
// CHECK: %[[NEW:.*]], %{{.*}}, %{{.*}}, %{{.*}} = tile.softmax %[[KEPT]], %[[BEFORE]], %[[BEFORE]] at(%{{.*}}, %{{.*}}) own %[[OR_LEAST]] : vector<8xf32> {scale
// CHECK: tile.store %[[KEPT]],
// CHECK: tile.store %[[NEW]],
tile.program @softcap(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %scores = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %c : f32
    %t = math.tanh %s : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %kept = tile.mask tiles(%scores : vector<8x4xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  %max, %l_max, %p_max, %r_max = tile.softmax %kept, %before, %before at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %kept, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A factor that may be negative, a row's own term, and a map that is no slower than the maximum stay as they are.

// CHECK-LABEL: tile.program @others(
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// CHECK: arith.mulf
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// One that is fixed has no maxima of its own.
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {fixed,
// CHECK: tile.return
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %scale: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m0 = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %scale : f32
    %t = math.tanh %s : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m1, %l_m1, %p_m1, %r_m1 = tile.softmax %a, %m0, %m0 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %b = tile.map tiles(%x : vector<8x4xf32>) rows(%m0 : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %r: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %s = arith.addf %t, %r : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  %m2, %l_m2, %p_m2, %r_m2 = tile.softmax %b, %m1, %m1 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %d = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %c : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  %m3, %l_m3, %p_m3, %r_m3 = tile.softmax %d, %m2, %m2 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %f = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m4, %l4, %p4, %r4 = tile.softmax %f, %m0, %m0 at(%c0, %c0) {fixed, scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %p4, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.store %m3, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
