// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-rescale-on-overflow))" -split-input-file -verify-diagnostics | FileCheck %s

// Loops of a schedule with `rescaling = on_overflow` whose steps look for new row maxima all the same: remarks say why.

// One that reuses them.
// CHECK-LABEL: tile.program @reused(
// CHECK: tile.softmax %{{.*}} {fixed,
// CHECK: tile.any
tile.program @reused(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Another, whose factor comes first.
// CHECK-LABEL: tile.program @factor_first(
// CHECK: tile.softmax %{{.*}} {fixed,
// CHECK: tile.any
tile.program @factor_first(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %y, %x : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Row factors that are added: what a step does by them is not left out where they are 1.
// CHECK-LABEL: tile.program @added(
// CHECK-NOT: tile.any
// CHECK: %[[SUM:.*]] = tile.mma
// CHECK-NEXT: tile.map tiles(%[[SUM]] :
// CHECK: arith.addf
// CHECK-NOT: tile.any
tile.program @added(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: the loop carries on no output that is scaled last by its row factors}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.addf %x, %y : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// The step reads the maxima.
// CHECK-LABEL: tile.program @read(
// CHECK-NOT: tile.any
tile.program @read(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: something else than the next step's softmax reads its maxima or sums}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    tile.store %m, %o[%c0, %j] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Row sums of all lanes in each step.
// CHECK-LABEL: tile.program @whole(
// CHECK-NOT: tile.any
tile.program @whole(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: its row sums are added over lanes}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A scaling that comes before the product.
// CHECK-LABEL: tile.program @scaled_before(
// CHECK-NOT: tile.any
tile.program @scaled_before(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: the loop carries on no output that is scaled last by its row factors}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Steps that were not overlapped: the product reads the weights at once.
// CHECK-LABEL: tile.program @at_once(
// CHECK-NOT: tile.any
tile.program @at_once(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: its own step reads the weights, and not the next}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Maxima that are kept until they have grown.
// CHECK-LABEL: tile.program @kept(
// CHECK-NOT: tile.any
tile.program @kept(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{each step looks for new row maxima: they are to be kept until they have grown}}
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, rescale_on_growth, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Two of them.
// CHECK-LABEL: tile.program @several(
// CHECK-NOT: tile.any
tile.program @several(%K: memref<?x?xf32>, %V: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %weights0 = arith.constant dense<0.0> : vector<8x4xbf16>
  %r:4 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0, %weights = %weights0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %c16) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    // expected-remark @+1 {{each step looks for new row maxima: the loop has a second softmax}}
    %m1, %t1, %p1, %shrink1 = tile.softmax %s, %max0, %sum0 at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    tile.store %t1, %o[%c0, %j] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %weights, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %u = tile.map tiles(%a : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    scf.yield %u, %m, %t, %p : vector<8x16xf32>, vector<8xf32>, vector<8xf32>, vector<8x4xbf16>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Steps that may be skipped.

// CHECK-LABEL: tile.program @skipped(
// CHECK-NOT: tile.any
tile.program @skipped(%K: memref<?x?xf32>, %skip: i1, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %out0 = arith.constant dense<0.0> : vector<8xf32>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%max = %max0, %sum = %sum0, %out = %out0) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %x:3 = scf.if %skip -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
      scf.yield %max, %sum, %out : vector<8xf32>, vector<8xf32>, vector<8xf32>
    } else {
      // expected-remark @+1 {{each step looks for new row maxima: the loop's softmax is in a branch}}
      %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
      %scaled = arith.mulf %out, %shrink : vector<8xf32>
      scf.yield %m, %t, %scaled : vector<8xf32>, vector<8xf32>, vector<8xf32>
    }
    scf.yield %x#0, %x#1, %x#2 : vector<8xf32>, vector<8xf32>, vector<8xf32>
  }
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// With a fixed maximum there are none to look for.

// CHECK-LABEL: tile.program @fixed(
// CHECK-NOT: tile.any
tile.program @fixed(%K: memref<?x?xf32>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %sum0) -> (vector<8xf32>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max0, %sum at(%c0, %j) {fixed, octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    scf.yield %t : vector<8xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Nor where only the sums are wanted: nothing would be scaled.

// CHECK-LABEL: tile.program @sums(
// CHECK-NOT: tile.any
tile.program @sums(%K: memref<?x?xf32>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %r:2 = scf.for %j = %c0 to %high step %c4 iter_args(%max = %max0, %sum = %sum0) -> (vector<8xf32>, vector<8xf32>) {
    %s = tile.load %K[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, partial, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    scf.yield %m, %t : vector<8xf32>, vector<8xf32>
  }
  tile.store %r#1, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}
