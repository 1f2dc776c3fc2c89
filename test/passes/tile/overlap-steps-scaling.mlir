// RUN: attnc-opt %s --tile-overlap-steps -split-input-file -verify-diagnostics | FileCheck %s

// What the first step of a loop leaves out of what is done to the sum: a scaling of zeros, and nothing else.

// CHECK-LABEL: tile.program @scaled(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x16xf32>
// CHECK: scf.if
// CHECK-NOT: tile.map
// CHECK: scf.for {{.*}} %[[OUT:[a-z0-9]+]] = %[[ZERO]]) ->
// CHECK: %[[O:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[OUT]] :
// CHECK: tile.map tiles(%[[O]] :
tile.program @scaled(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m, %l, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.25 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// The factor may come first.

// CHECK-LABEL: tile.program @factor_first(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x16xf32>
// CHECK: scf.if
// CHECK-NOT: tile.map
// CHECK: scf.for {{.*}} %[[OUT:[a-z0-9]+]] = %[[ZERO]]) ->
// CHECK: %[[O:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[OUT]] :
// CHECK: tile.map tiles(%[[O]] :
tile.program @factor_first(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m, %l, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.25 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %y, %x : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// What is added to the sum in a step is there after the first step as well.

// CHECK-LABEL: tile.program @added(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x16xf32>
// CHECK: scf.if
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[SHRINK:.*]] = tile.softmax
// CHECK: %[[ADDED:.*]] = tile.map tiles(%[[ZERO]] : vector<8x16xf32>) rows(%[[SHRINK]] :
// CHECK: arith.addf
// CHECK: scf.for {{.*}} %[[OUT:[a-z0-9]+]] = %[[ADDED]]) ->
// CHECK: %[[O:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[OUT]] :
// CHECK: tile.map tiles(%[[O]] :
// CHECK: arith.addf
tile.program @added(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m, %l, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.25 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-remark @+1 {{the first step computes this as well, though nothing has been added up: it is no scaling of rows}}
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.addf %x, %y : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A map that is not marked is none that scales rows, whatever it computes.

// CHECK-LABEL: tile.program @unmarked(
// CHECK: scf.if
// CHECK: tile.map
// CHECK: scf.for
tile.program @unmarked(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m, %l, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.25 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-remark @+1 {{the first step computes this as well, though nothing has been added up: it is no scaling of rows}}
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u {tile.stage = 1 : i64} : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
