// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-contract-exponent),canonicalize)" -split-input-file \
// RUN:   | FileCheck %s

// (x - m) c + t is x c + b where t = m c + b.

// CHECK-LABEL: tile.program @contracted(
// CHECK: %[[B:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT: tile.map tiles(%{{.*}} : vector<8x4xf32>) rows(%{{.*}}, %[[B]] :
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %{{.*}}: f32, %[[T:.*]]: f32,
// CHECK-NEXT: math.fma %[[E]], %{{.*}}, %[[T]] : f32
// CHECK-NEXT: math.exp2
tile.program @contracted(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %minus = arith.constant dense<-0.125> : vector<8xf32>
  %low = arith.constant dense<-6.0> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %b = math.fma %max, %minus, %low : vector<8xf32>
  %t = math.fma %max, %cs, %b : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max, %t : vector<8xf32>, vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %r: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = math.fma %d, %c, %r : f32
    %y = math.exp2 %s : f32
    tile.yield %y : f32
  } -> vector<8x4xf32>
  tile.store %p, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Not where t is that for some rows only, or has another factor.

// CHECK-LABEL: tile.program @others(
// CHECK-COUNT-2: arith.subf %{{.*}}, %{{.*}} : f32
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %other = arith.constant dense<0.25> : vector<8xf32>
  %minus = arith.constant dense<-0.125> : vector<8xf32>
  %low = arith.constant dense<-6.0> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %magnitude = math.absf %max : vector<8xf32>
  %large = arith.cmpf uge, %magnitude, %cs : vector<8xf32>
  %b = math.fma %max, %minus, %low : vector<8xf32>
  %t = math.fma %max, %cs, %b : vector<8xf32>
  %u = arith.select %large, %low, %t : vector<8xi1>, vector<8xf32>
  %w = math.fma %max, %other, %b : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max, %u : vector<8xf32>, vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %r: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = math.fma %d, %c, %r : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  %q = tile.map tiles(%p : vector<8x4xf32>) rows(%max, %w : vector<8xf32>, vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %r: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = math.fma %d, %c, %r : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  tile.store %q, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}
