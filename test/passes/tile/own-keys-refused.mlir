// RUN: attnc-opt %s --tile-own-keys -split-input-file -verify-diagnostics | FileCheck %s

// Loops over the keys of a consumer's rows that go over those of the whole tile all the same.

// One whose steps are not overlapped: a remark says so.

// CHECK-LABEL: tile.program @in_step(
// CHECK: %{{.*}}, %[[OWN:.*]] = tile.part
// CHECK-NOT: to %[[OWN]] step
// CHECK: scf.for %{{.*}} = %{{.*}} to %c128{{.*}} step
// CHECK-NOT: tile.skip
// CHECK: tile.return
tile.program @in_step(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, own_keys = true, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<128x16xf32>
  %first, %end = tile.part of 128
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%c16, %c16) : memref<?x?xbf16> -> vector<128x16xbf16>
  // expected-remark @+1 {{each consumer goes over the keys of the whole tile: the loop's steps are not overlapped}}
  %r = scf.for %j = %c0 to %end step %c16 iter_args(%out = %zero) -> (vector<128x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%end, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x16xbf16>, vector<16x16xbf16>, vector<128x16xf32>
    %p = tile.map tiles(%s : vector<128x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<128x16xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%end, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %a = tile.mma %p, %v, %out : vector<128x16xbf16>, vector<16x16xbf16>, vector<128x16xf32>
    scf.yield %a : vector<128x16xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<128x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// One that adds nothing up, as over weights, has nothing to overlap, which is no news.

// CHECK-LABEL: tile.program @weights(
// CHECK: %{{.*}}, %[[OWN:.*]] = tile.part
// CHECK-NOT: to %[[OWN]] step
// CHECK: scf.for %{{.*}} = %{{.*}} to %c128{{.*}} step
// CHECK-NOT: tile.skip
// CHECK: tile.return
tile.program @weights(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, own_keys = true, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<128x16xf32>
  %first, %end = tile.part of 128
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%c16, %c16) : memref<?x?xbf16> -> vector<128x16xbf16>
  scf.for %j = %c0 to %end step %c16 {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%end, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x16xbf16>, vector<16x16xbf16>, vector<128x16xf32>
    tile.store %s, %o[%c0, %j] axes [0, 1] below(%c16, %end) : vector<128x16xf32>, memref<?x?xf32>
  }
  tile.return
}

// -----

// Nor is one over the keys of all rows.

// CHECK-LABEL: tile.program @all_rows(
// CHECK: scf.for
// CHECK-NOT: tile.skip
// CHECK: tile.return
tile.program @all_rows(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, own_keys = true, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<128x16xf32>
  %first, %end = tile.part of 128
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%c16, %c16) : memref<?x?xbf16> -> vector<128x16xbf16>
  %r = scf.for %j = %c0 to %c16 step %c16 iter_args(%out = %zero) -> (vector<128x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%end, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x16xbf16>, vector<16x16xbf16>, vector<128x16xf32>
    %p = tile.map tiles(%s : vector<128x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<128x16xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%end, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %a = tile.mma %p, %v, %out : vector<128x16xbf16>, vector<16x16xbf16>, vector<128x16xf32>
    scf.yield %a : vector<128x16xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<128x16xf32>, memref<?x?xf32>
  tile.return
}
