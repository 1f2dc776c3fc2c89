// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-fuse-exponent),canonicalize)" -split-input-file \
// RUN:   | FileCheck %s

// (x - m) * c in a map becomes fma(x, c, -m * c), and row factors come from the same rounded -m * c.

// CHECK-LABEL: tile.program @bf16(
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[N:.*]] = arith.constant dense<-1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[S:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: %[[BEFORE:.*]] = tile.load {{.*}} -> vector<8xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[X:.*]], %[[BEFORE]]
// CHECK: %[[OFFSETS:.*]] = arith.mulf %[[MAX]], %[[N]] : vector<8xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[BEFORE]], %[[C]] : vector<8xf32>
// CHECK: %[[GROWTH:.*]] = arith.addf %[[SCALED]], %[[OFFSETS]] : vector<8xf32>
// CHECK: %[[SHRINK:.*]] = math.exp2 %[[GROWTH]]
// CHECK: tile.map tiles(%[[X]] : vector<8x4xf32>) rows(%[[OFFSETS]] : vector<8xf32>) cols()
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32,
// CHECK-NEXT: %[[F:.*]] = math.fma %[[E]], %[[S]], %[[O]] : f32
// CHECK-NEXT: math.exp2 %[[F]]
// What else reads the maximum reads the maximum.
// CHECK: tile.store %[[MAX]],
tile.program @bf16(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %shrink = math.exp2 %scaled : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %y = math.exp2 %s : f32
    %n = arith.truncf %y : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %shrink, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Row factors of another constant are none of ours: they keep their difference.

// CHECK-LABEL: tile.program @other_factor(
// CHECK: %[[MAX:.*]] = tile.reduce <max>
// CHECK: arith.mulf %[[MAX]], %{{.*}} : vector<8xf32>
// CHECK: %[[GROWTH:.*]] = arith.subf %{{.*}}, %[[MAX]] : vector<8xf32>
// CHECK: arith.mulf %[[GROWTH]],
// CHECK: math.fma
tile.program @other_factor(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.25> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %scaled, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Weights in f16 could overflow where the rounding of a large maximum is off by much: they keep the difference,

// CHECK-LABEL: tile.program @f16(
// CHECK-NOT: math.fma
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: arith.mulf
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @f16(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %p:2 = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to f16
    tile.yield %s, %n : f32, f16
  } -> (vector<8x4xf32>, vector<8x4xf16>)
  tile.store %p#1, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf16>, memref<?x?xf16>
  tile.store %p#0, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}

// -----

// as do weights in f32, which would show it.

// CHECK-LABEL: tile.program @f32(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @f32(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  tile.store %p, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A map that needs the maximum for something else, a factor that is no constant, and a difference with two readers.

// CHECK-LABEL: tile.program @others(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %c: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %k = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %t = arith.addf %s, %m : f32
    %n = arith.truncf %t : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  %b = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  %f = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %t = arith.addf %s, %d : f32
    %n = arith.truncf %t : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %a, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %b, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %f, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @no_pipeline(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %k = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %a, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.return
}
