// How exponents are computed, by the type of weights.
// RUN: attnc-opt %s --tile-fuse-exponent | FileCheck %s

#pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
#on_overflow = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, rescaling = on_overflow, epilogue = direct>

// Exponents of bf16 are fused, and the divisor takes in what the weight of the maximum is rounded by.

// CHECK-LABEL: tile.program @bf16(
// CHECK: tile.softmax %{{.*}} {exponent = #tile.exponent<fused>, octaves, scale = 
// CHECK: tile.softmax_end %{{.*}} {exponent = #tile.exponent<fused>, octaves, rounded = bf16, scale = 
tile.program @bf16(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// Also where steps may be skipped.

// CHECK-LABEL: tile.program @branch(
// CHECK: tile.softmax %{{.*}} {exponent = #tile.exponent<fused>,
// CHECK: tile.softmax_end %{{.*}} {exponent = #tile.exponent<fused>, octaves, rounded = bf16,
tile.program @branch(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %next:3 = scf.if %some -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
      %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
      %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
      scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
    } else {
      scf.yield %out, %max, %sum : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
    }
    scf.yield %next#0, %next#1, %next#2 : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// Weights in f16 could overflow where the rounding of a large maximum is off by much: their exponents are split, which are one
// operation too where steps trust the maxima before,

// CHECK-LABEL: tile.program @on_overflow_f16(
// CHECK: tile.softmax %{{.*}} {exponent = #tile.exponent<split>,
// CHECK: tile.softmax_end %{{.*}} {exponent = #tile.exponent<split>, octaves, rounded = f16,
tile.program @on_overflow_f16(%view: memref<?x?xf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #on_overflow} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf16> -> vector<8x16xf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf16> -> vector<16x16xf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// and stay exact where they do not, as do weights in f32.

// CHECK-LABEL: tile.program @f16(
// CHECK: tile.softmax %{{.*}} {octaves, scale =
// CHECK: tile.softmax_end %{{.*}} {octaves, scale =
tile.program @f16(%view: memref<?x?xf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf16> -> vector<8x16xf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf16> -> vector<16x16xf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @f32(
// CHECK: tile.softmax %{{.*}} {octaves, scale =
// CHECK: tile.softmax_end %{{.*}} {octaves, scale =
tile.program @f32(%view: memref<?x?xf32>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x16xf32>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<16x16xf32>
    %s = tile.mma %q, %v, %zeros : vector<8x16xf32>, vector<16x16xf32>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xf32>
    %acc = tile.mma %p, %v, %out : vector<8x16xf32>, vector<16x16xf32>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// Under dropout a product may not take the weight of the maximum, and relative to a fixed number it is rounded in any
// case: the divisor stays.

// CHECK-LABEL: tile.program @dropout(
// CHECK: tile.softmax
// CHECK: {exponent = #tile.exponent<fused>, octaves, scale =
// CHECK: tile.softmax_end %{{.*}} {octaves, scale =
tile.program @dropout(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %seed = arith.constant 1 : i64
  %least = arith.constant 6554 : i32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %n = tile.philox %seed at(%c0, %c0, %c0, %j) : vector<8x16xi16>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) numbers %n : vector<8x16xi16> dropped below %least {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @fixed(
// CHECK: tile.softmax %{{.*}} {exponent = #tile.exponent<fused>, fixed,
// CHECK: tile.softmax_end %{{.*}} {octaves, scale =
tile.program @fixed(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {fixed, scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// There is nothing to fuse with a factor of 1, and weights that nothing reads are rounded for nobody.

// CHECK-LABEL: tile.program @factor_of_1(
// CHECK: tile.softmax %{{.*}} {octaves, scale =
tile.program @factor_of_1(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 1.0 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @sums(
// CHECK: tile.softmax %{{.*}} {octaves, scale =
// CHECK: tile.softmax_end %{{.*}} {octaves, scale =
tile.program @sums(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = arith.addf %out, %out : vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// A program for a CPU stays.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK: tile.softmax %{{.*}} {octaves, scale =
tile.program @no_pipeline(%view: memref<?x?xbf16>, %o: memref<?x?xf32>, %some: i1, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8x16xf32>
  %parts = tile.lane_partial %zero : vector<8xf32>
  %end:3 = scf.for %j = %c0 to %high step %c16 iter_args(%out = %zeros, %max = %none, %sum = %parts) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %q = tile.load %view[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
    %v = tile.load %view[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %v, %zeros : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m, %l, %p, %r = tile.softmax %s, %max, %sum at(%c0, %j) {scale = 0.125 : f32, octaves} : vector<8x16xf32>, vector<8xf32> -> vector<8x16xbf16>
    %acc = tile.mma %p, %v, %out : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %acc, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %total = tile.warp_reduce %end#2 : vector<8xf32>
  %f, %lse = tile.softmax_end %end#1, %total {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %end#0, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %f, %o[%c0, %c0] axes [1] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}
