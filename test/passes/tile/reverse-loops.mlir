// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-reverse-loops))" | FileCheck %s

// A loop with something that runs in the next step, and one product that starts from zero, goes from the last step to the
// first, under a condition that it has one. What it carries is what it was.

// CHECK-LABEL: tile.program @forward(
// CHECK-SAME: %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{.*}}: memref<?x?xf32>
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LOW]], %[[HIGH]] : index
// CHECK: %[[R:.*]] = scf.if %[[ANY]] -> (vector<8x16xf32>) {
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[HIGH]], %[[LOW]] : index
// CHECK-NEXT: %[[STEPS:.*]] = arith.ceildivui %[[D]], %c4 : index
// CHECK-NEXT: %[[LENGTH:.*]] = arith.muli %[[STEPS]], %c4 : index
// CHECK-NEXT: %[[END:.*]] = arith.addi %[[LOW]], %[[LENGTH]] : index
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[END]], %c4 : index
// CHECK: %[[F:.*]] = scf.for %[[I:.*]] = %c0{{.*}} to %[[LENGTH]] step %c4 iter_args(%[[OUT:.*]] = %[[ZERO:[a-z0-9_]+]])
// CHECK-NEXT: %[[J:.*]] = arith.subi %[[LAST]], %[[I]] : index
// CHECK-NEXT: tile.load %{{.*}}[%[[J]], %c0]
// CHECK: tile.load %{{.*}}[%[[J]], %c0] {{.*}} {tile.stage = 1 : i64}
// CHECK: tile.mma %{{.*}}, %{{.*}}, %[[OUT]] {tile.stage = 1 : i64}
// CHECK: } {tile.guarded, tile.overlap = #tile.overlap<weights_ahead>}
// CHECK: scf.yield %[[F]] :
// CHECK: } else {
// CHECK: scf.yield %[[ZERO]] :
// CHECK: tile.store %[[R]],
tile.program @forward(%K: memref<?x?xbf16>, %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %low to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p, %v, %out {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// Loops without stages stay, and so do those of gradients, which leave their sums for the next step.

// CHECK-LABEL: tile.program @gradients(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 iter_args
// CHECK-NOT: arith.subi
// CHECK: tile.return
tile.program @gradients(%K: memref<?x?xbf16>, %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  scf.for %j = %low to %high step %c4 {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    tile.store %s, %o[%c0, %j] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  %r = scf.for %j = %low to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %t = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s, %t : vector<8x4xf32>, vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %d = arith.addf %x, %y : f32
      %b = arith.truncf %d : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p, %v, %out {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
