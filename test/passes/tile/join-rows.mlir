// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-join-rows))" | FileCheck %s

// Warps that have the same 64 rows and half of the columns each share what they have of a row: maxima and sums, and the
// weights that a product sums over.

// CHECK-LABEL: tile.program @in_step(
// CHECK-DAG: %[[W:.*]] = tile.ring : <1 x vector<64x32xbf16>>
// CHECK-DAG: %[[R:.*]] = tile.ring : <1 x vector<2x64xf32>>
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.mma
// CHECK: %[[OWN:.*]] = tile.reduce <max> %[[S]], %{{.*}} own_columns
// CHECK-NEXT: tile.share %[[OWN]] to %[[R]]
// CHECK-NEXT: %[[PARTS:.*]] = tile.get %[[R]]
// CHECK-NEXT: %[[MAX:.*]] = tile.block_reduce %[[PARTS]] max
// CHECK-NEXT: tile.release %[[R]]
// CHECK: %[[P:.*]]:2 = tile.map tiles(%[[S]] {{.*}} rows(%[[MAX]]
// CHECK: tile.share %[[P]]#1 to %[[W]]
// A sum takes in once what it starts from. One that lanes have parts of is whole after the loop.
// CHECK: %[[SUM:.*]] = tile.reduce <add> %[[P]]#0, %{{.*}} own_columns
// CHECK: %[[SUMS:.*]] = tile.get %[[R]]
// CHECK: %[[ALL:.*]] = tile.block_reduce %[[SUMS]] :
// CHECK: arith.addf %{{.*}}, %[[ALL]]
// CHECK: %[[LANES:.*]] = tile.reduce <add> %[[P]]#0, %{{.*}} partial :
// CHECK: %[[WEIGHTS:.*]] = tile.get %[[W]]
// CHECK-NEXT: %[[V:.*]] = tile.load
// CHECK-NEXT: tile.mma %[[WEIGHTS]], %[[V]],
// CHECK-NEXT: tile.release %[[W]]
// CHECK: scf.yield %{{.*}}, %[[MAX]], %{{.*}}, %[[LANES]]
// CHECK: %[[TOTAL:.*]] = tile.warp_reduce
// CHECK: tile.share %[[TOTAL]] to %[[R]]
// CHECK: tile.block_reduce
tile.program @in_step(%Q: memref<?x64xbf16>, %K: memref<?x64xbf16>, %V: memref<?x64xbf16>, %O: memref<?x64xf32>, %L: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %none = arith.constant dense<0.0> : vector<64x64xf32>
  %low = arith.constant dense<0xFF800000> : vector<64xf32>
  %empty = arith.constant dense<0.0> : vector<64xf32>
  %keys = memref.dim %K, %c0 : memref<?x64xbf16>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%c64, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %parts = tile.lane_partial %empty : vector<64xf32>
  %r:4 = scf.for %j = %c0 to %keys step %c32 iter_args(%o = %none, %m = %low, %l = %empty, %p = %parts) -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<32x64xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<64x64xbf16>, vector<32x64xbf16>, vector<64x32xf32>
    %max = tile.reduce <max> %s, %m : vector<64x32xf32>, vector<64xf32>
    %w:2 = tile.map tiles(%s : vector<64x32xf32>) rows(%max : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %row: f32, %a: index, %b: index):
      %d = arith.subf %x, %row : f32
      %e = math.exp2 %d : f32
      %n = arith.truncf %e : f32 to bf16
      tile.yield %e, %n : f32, bf16
    } -> (vector<64x32xf32>, vector<64x32xbf16>)
    %sum = tile.reduce <add> %w#0, %l : vector<64x32xf32>, vector<64xf32>
    %lanes = tile.reduce <add> %w#0, %p partial : vector<64x32xf32>, vector<64xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<32x64xbf16>
    %out = tile.mma %w#1, %v, %o : vector<64x32xbf16>, vector<32x64xbf16>, vector<64x64xf32>
    scf.yield %out, %max, %sum, %lanes : vector<64x64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
  }
  %total = tile.warp_reduce %r#3 : vector<64xf32>
  tile.store %r#0, %O[%c0, %c0] axes [0, 1] below(%c64, %c64) : vector<64x64xf32>, memref<?x64xf32>
  tile.store %total, %L[%c0] axes [0] below(%c64) : vector<64xf32>, memref<?xf32>
  tile.store %r#2, %L[%c0] axes [0] below(%c64) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Weights that steps hand on are shared where they come from, and taken where the product is: in the loop next to the
// maxima of the step, so that one barrier serves for both, and after it.

// CHECK-LABEL: tile.program @step_before(
// CHECK-DAG: %[[W:.*]] = tile.ring : <2 x vector<64x32xbf16>>
// CHECK-DAG: %[[R:.*]] = tile.ring : <1 x vector<2x64xf32>>
// CHECK: %[[FIRST:.*]] = tile.load %arg3
// CHECK-NEXT: tile.share %[[FIRST]] to %[[W]]
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.mma
// CHECK-NOT: tile.mma
// CHECK: %[[PARTS:.*]] = tile.get %[[R]]
// CHECK-NEXT: %[[BEFORE:.*]] = tile.get %[[W]]
// CHECK-NEXT: %[[V:.*]] = tile.load
// CHECK-NEXT: tile.mma %[[BEFORE]], %[[V]],
// CHECK-NEXT: tile.release %[[W]]
// CHECK: tile.block_reduce %[[PARTS]] max
// CHECK: %[[NEXT:.*]] = tile.map
// CHECK: tile.share %[[NEXT]] to %[[W]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = tile.get %[[W]]
// CHECK: tile.mma %[[LAST]]
tile.program @step_before(%Q: memref<?x64xbf16>, %K: memref<?x64xbf16>, %V: memref<?x64xbf16>, %P: memref<?x32xbf16>, %O: memref<?x64xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 128,
                pipeline = #attn.warps<consumers = 1, stages = 1, weights_ahead = true>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  %none = arith.constant dense<0.0> : vector<64x64xf32>
  %low = arith.constant dense<0xFF800000> : vector<64xf32>
  %keys = memref.dim %K, %c0 : memref<?x64xbf16>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%c64, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %p0 = tile.load %P[%c0, %c0] axes [0, 1] below(%c64, %c32) : memref<?x32xbf16> -> vector<64x32xbf16>
  %r:3 = scf.for %j = %c0 to %keys step %c32 iter_args(%o = %none, %m = %low, %p = %p0) -> (vector<64x64xf32>, vector<64xf32>, vector<64x32xbf16>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<32x64xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<64x64xbf16>, vector<32x64xbf16>, vector<64x32xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<32x64xbf16>
    %out = tile.mma %p, %v, %o : vector<64x32xbf16>, vector<32x64xbf16>, vector<64x64xf32>
    %max = tile.reduce <max> %s, %m : vector<64x32xf32>, vector<64xf32>
    %w = tile.map tiles(%s : vector<64x32xf32>) rows(%max : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %row: f32, %a: index, %b: index):
      %d = arith.subf %x, %row : f32
      %e = math.exp2 %d : f32
      %n = arith.truncf %e : f32 to bf16
      tile.yield %n : bf16
    } -> vector<64x32xbf16>
    scf.yield %out, %max, %w : vector<64x64xf32>, vector<64xf32>, vector<64x32xbf16>
  }
  %vl = tile.load %V[%keys, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<32x64xbf16>
  %last = tile.mma %r#2, %vl, %r#0 : vector<64x32xbf16>, vector<32x64xbf16>, vector<64x64xf32>
  tile.store %last, %O[%c0, %c0] axes [0, 1] below(%c64, %c64) : vector<64x64xf32>, memref<?x64xf32>
  tile.return
}

// All warps have rows of their own, or there are roles: nothing to join.

// CHECK-LABEL: tile.program @own_rows(
// CHECK-NOT: tile.share
// CHECK: tile.return
tile.program @own_rows(%X: memref<?x32xf32>, %L: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %low = arith.constant dense<0xFF800000> : vector<128xf32>
  %x = tile.load %X[%c0, %c0] axes [0, 1] below(%c128, %c32) : memref<?x32xf32> -> vector<128x32xf32>
  %max = tile.reduce <max> %x, %low : vector<128x32xf32>, vector<128xf32>
  tile.store %max, %L[%c0] axes [0] below(%c128) : vector<128xf32>, memref<?xf32>
  tile.return
}
