// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-load-ahead))" | FileCheck %s

// A captured tile that scores read is carried by the loop: each step loads the next one's after its own product has
// started, and the last its own again. A tile that a mask reads, one of bits, and one that depends on what the loop carries
// come when they are needed.

// CHECK-LABEL: tile.program @captured(
// CHECK-SAME: %{{.*}}: memref<?x?xbf16>, %[[B:[a-z0-9]+]]: memref<?x?xbf16>, %[[M:[a-z0-9]+]]: memref<?x?xi1>, %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index
// CHECK: scf.if
// CHECK-NEXT: %[[FIRST:.*]] = tile.load %[[B]][%c0, %[[LOW]]]
// CHECK-NEXT: scf.for %[[J:.*]] = %[[LOW]] to %[[HIGH]] step %c4 iter_args(%{{.*}} = %{{.*}}, %[[AT:.*]] = %{{.*}}, %[[OWN:.*]] = %[[FIRST]])
// CHECK-NEXT: tile.load
// CHECK-NEXT: %[[S:.*]] = tile.mma {{.*}} transposed
// CHECK-NEXT: %[[AFTER:.*]] = arith.addi %[[J]], %c4
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[HIGH]], %c4
// CHECK-NEXT: %[[PLACE:.*]] = arith.minsi %[[AFTER]], %[[LAST]]
// CHECK-NEXT: %[[NEXT:.*]] = tile.load %[[B]][%c0, %[[PLACE]]]
// CHECK-NEXT: %[[OTHER:.*]] = tile.load %[[B]][%c0, %[[AT]]]
// CHECK-NEXT: tile.map tiles(%[[S]], %[[OWN]], %[[OTHER]] :
// CHECK: tile.load %[[M]][%c0, %[[J]]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]] :
tile.program @captured(%K: memref<?x?xbf16>, %B: memref<?x?xbf16>, %M: memref<?x?xi1>, %low: index, %high: index,
                       %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %at = %low) -> (vector<8x16xf32>, index) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %b = tile.load %B[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x4xbf16>
    %c = tile.load %B[%c0, %at] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x4xbf16>
    %x = tile.map tiles(%s, %b, %c : vector<8x4xf32>, vector<8x4xbf16>, vector<8x4xbf16>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %f: bf16, %g: bf16, %i: index, %n: index):
      %h = arith.addf %f, %g : bf16
      %l = arith.extf %h : bf16 to f32
      %z = arith.addf %e, %l : f32
      tile.yield %z : f32
    } -> vector<8x4xf32>
    %m = tile.load %M[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xi1> -> vector<8x4xi1>
    %y = tile.mask tiles(%x, %m : vector<8x4xf32>, vector<8x4xi1>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %keep: i1, %i: index, %n: index):
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %p = tile.map tiles(%y : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %i: index, %n: index):
      %z = arith.truncf %e : f32 to bf16
      tile.yield %z : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p, %v, %out {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %next = arith.addi %at, %c4 : index
    scf.yield %a, %next : vector<8x16xf32>, index
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
