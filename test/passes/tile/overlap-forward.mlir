// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-stages,tile-reverse-loops,tile-load-ahead,tile-overlap-steps,tile-own-keys),canonicalize,cse)" -split-input-file \
// RUN:   -verify-diagnostics | FileCheck %s

// A step holds the logits of its own keys and the product of the step before, and the loop goes from the last keys to
// the first.

// The output is rescaled right after a product, with the factors of the step that it stands in.

// CHECK-LABEL: tile.program @after(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?xbf16>, %[[K:[a-z0-9]+]]: memref<?x?xbf16>, %[[V:[a-z0-9]+]]: memref<?x?xbf16>, %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index,
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x16xf32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK: %[[QUERY:.*]] = tile.load %[[Q]]
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LOW]], %[[HIGH]] : index
// CHECK: %[[R:.*]]:2 = scf.if %[[ANY]] -> (vector<8x16xf32>, vector<8xf32>) {
// CHECK: %[[D:.*]] = arith.subi %[[HIGH]], %[[LOW]] : index
// CHECK: %[[STEPS:.*]] = arith.ceildivui %[[D]], %c4 : index
// CHECK: %[[LENGTH:.*]] = arith.muli %[[STEPS]], %c4 : index
// CHECK: %[[END:.*]] = arith.addi %[[LOW]], %[[LENGTH]] : index
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c4 : index
//
// The first step: logits and weights of the last keys, no product.
// CHECK: %[[K0:.*]] = tile.load %[[K]][%[[LAST]], %c0]
// CHECK: %[[S0:.*]] = tile.mma %[[QUERY]], %[[K0]], %{{.*}} transposed
// CHECK: %[[M0:.*]] = tile.reduce <max> %[[S0]], %[[NONE]]
// CHECK: %[[P0:.*]]:2 = tile.map tiles(%[[S0]] {{.*}} at(%c0, %[[LAST]])
// CHECK: %[[T0:.*]] = tile.reduce <add> %[[P0]]#0,
//
// CHECK: %[[F:.*]]:5 = scf.for %[[I:.*]] = %c4 to %[[LENGTH]] step %c4 iter_args(%[[MAX:.*]] = %[[M0]], %[[SUM:.*]] = %[[T0]], %[[KEY:.*]] = %[[LAST]], %[[W:.*]] = %[[P0]]#1, %[[OUT:.*]] = %[[ZERO]])
// CHECK: %[[J:.*]] = arith.subi %[[LAST]], %[[I]] : index
// CHECK: %[[K1:.*]] = tile.load %[[K]][%[[J]], %c0]
// CHECK: %[[S1:.*]] = tile.mma %[[QUERY]], %[[K1]], %{{.*}} transposed
// CHECK-NOT: tile.map
// CHECK: %[[V1:.*]] = tile.load %[[V]][%[[KEY]], %c0]
// CHECK: %[[O1:.*]] = tile.mma %[[W]], %[[V1]], %[[OUT]] :
// CHECK: %[[M1:.*]] = tile.reduce <max> %[[S1]], %[[MAX]]
// CHECK: %[[SHRINK:.*]] = math.exp2
// CHECK: %[[P1:.*]]:2 = tile.map tiles(%[[S1]] : {{.*}} at(%c0, %[[J]])
// CHECK: %[[T1:.*]] = tile.reduce <add> %[[P1]]#0,
// CHECK: %[[U1:.*]] = tile.map tiles(%[[O1]] : vector<8x16xf32>) rows(%[[SHRINK]] :
// CHECK: scf.yield %[[M1]], %[[T1]], %[[J]], %[[P1]]#1, %[[U1]] :
//
// The last product, of the first keys; its accumulator has been rescaled.
// CHECK: %[[V2:.*]] = tile.load %[[V]][%[[F]]#2, %c0]
// CHECK-NOT: tile.map
// CHECK: %[[O2:.*]] = tile.mma %[[F]]#3, %[[V2]], %[[F]]#4 :
// CHECK: scf.yield %[[O2]], %[[F]]#1 :
// CHECK: } else {
// CHECK: scf.yield %[[ZERO]],
// CHECK: tile.store %[[R]]#0,
tile.program @after(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.reduce <max> %s, %max : vector<8x4xf32>, vector<8xf32>
    %d = arith.subf %max, %m : vector<8xf32>
    %shrink = math.exp2 %d : vector<8xf32>
    %less = arith.mulf %sum, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%m : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %less : vector<8x4xf32>, vector<8xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p#1, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A program for a CPU stays.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{arg3}} to %{{arg4}} step %c4
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @no_pipeline(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.reduce <max> %s, %max : vector<8x4xf32>, vector<8xf32>
    %d = arith.subf %max, %m : vector<8xf32>
    %shrink = math.exp2 %d : vector<8xf32>
    %less = arith.mulf %sum, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%m : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %less : vector<8x4xf32>, vector<8xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p#1, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// So does a loop without a product that accumulates, as one over weights;

// CHECK-LABEL: tile.program @no_product(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{arg3}} to %{{arg4}} step %c4
// CHECK: tile.return
tile.program @no_product(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.reduce <max> %s, %max : vector<8x4xf32>, vector<8xf32>
    %d = arith.subf %max, %m : vector<8xf32>
    %shrink = math.exp2 %d : vector<8xf32>
    %less = arith.mulf %sum, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%m : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %less : vector<8x4xf32>, vector<8xf32>
    scf.yield %out, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// one whose values are its keys too;

// CHECK-LABEL: tile.program @values_twice(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{arg3}} to %{{arg4}} step %c4
// CHECK: tile.return
tile.program @values_twice(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %v, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.reduce <max> %s, %max : vector<8x4xf32>, vector<8xf32>
    %d = arith.subf %max, %m : vector<8xf32>
    %shrink = math.exp2 %d : vector<8xf32>
    %less = arith.mulf %sum, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%m : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %less : vector<8x4xf32>, vector<8xf32>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    // expected-remark@+1 {{the loop's steps are not overlapped: something else reads the right operand of the product that accumulates over it}}
    %a = tile.mma %p#1, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// and one that starts with an output, where the first factors would be missed.

// CHECK-LABEL: tile.program @starts_with_output(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{arg3}} to %{{arg4}} step %c4
// CHECK: tile.return
tile.program @starts_with_output(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<1.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.reduce <max> %s, %max : vector<8x4xf32>, vector<8xf32>
    %d = arith.subf %max, %m : vector<8xf32>
    %shrink = math.exp2 %d : vector<8xf32>
    %less = arith.mulf %sum, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%m : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %less : vector<8x4xf32>, vector<8xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    // expected-remark@+1 {{the loop's steps are not overlapped: the product that accumulates over it does not begin with 0}}
    %a = tile.mma %p#1, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Weights of one scale: nothing is rescaled, and no row factors go from step to step.

// CHECK-LABEL: tile.program @fixed(
// CHECK: scf.for {{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[KEY:.*]] = %{{[^,]*}}, %[[W:.*]] = %{{.*}})
// CHECK: %[[S1:.*]] = tile.mma {{.*}} transposed
// CHECK: %[[O1:.*]] = tile.mma %[[W]], %{{.*}}, %[[OUT]] :
// CHECK: %[[P1:.*]]:2 = tile.map tiles(%[[S1]] :
// CHECK: %[[T1:.*]] = tile.reduce <add> %[[P1]]#0, %[[SUM]]
// CHECK: scf.yield %[[O1]], %[[T1]], %{{.*}}, %[[P1]]#1 :
// CHECK: tile.mma
// CHECK-NOT: tile.map
// CHECK: tile.store
tile.program @fixed(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%max0 : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %w = math.exp2 %e : f32
      %b = arith.truncf %w : f32 to bf16
      tile.yield %w, %b : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %sum : vector<8x4xf32>, vector<8xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p#1, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %t : vector<8x16xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A captured tile that scores read comes a step ahead: what a step reads was loaded in the step before, and the load for
// the next one starts beside this one's products. The last step loads its own keys again, which are there. Tiles that
// masks read, and vectors, come when they are needed.

// CHECK-LABEL: tile.program @captured(
// CHECK-SAME: %{{.*}}: memref<?x?xbf16>, %{{.*}}: memref<?x?xbf16>, %{{.*}}: memref<?x?xbf16>, %[[B:[a-z0-9]+]]: memref<?x?xbf16>, %[[M:[a-z0-9]+]]: memref<?x?xi1>, %[[LOW:[a-z0-9]+]]: index
// CHECK: %[[END:.*]] = arith.addi %[[LOW]]
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c4
// CHECK: tile.mma {{.*}} transposed
// CHECK: %[[BEFORE:.*]] = arith.subi %[[END]], %c8
// CHECK: %[[SECOND:.*]] = arith.maxsi %[[BEFORE]], %[[LOW]]
// CHECK: %[[B1:.*]] = tile.load %[[B]][%c0, %[[SECOND]]]
// CHECK: %[[B0:.*]] = tile.load %[[B]][%c0, %[[LAST]]]
// CHECK: tile.map tiles(%{{.*}}, %[[B0]] :
// CHECK: tile.load %[[M]][%c0, %[[LAST]]]
// CHECK: scf.for %[[V:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[HELD:.*]] = %[[B1]], %[[KEY:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}})
// CHECK: %[[J:.*]] = arith.subi %[[LAST]], %[[V]]
// CHECK: %[[S:.*]] = tile.mma {{.*}} transposed
// CHECK: tile.mma %[[W]],
// CHECK: %[[NEXT:.*]] = arith.subi %[[J]], %c4
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[NEXT]], %[[LOW]]
// CHECK: %[[AHEAD:.*]] = tile.load %[[B]][%c0, %[[INSIDE]]]
// CHECK: tile.map tiles(%[[S]], %[[HELD]] :
// CHECK: tile.load %[[M]][%c0, %[[J]]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[AHEAD]], %{{.*}}, %{{.*}} :
tile.program @captured(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %B: memref<?x?xbf16>,
                       %M: memref<?x?xi1>, %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0.0> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %b = tile.load %B[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x4xbf16>
    %x = tile.map tiles(%s, %b : vector<8x4xf32>, vector<8x4xbf16>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %f: bf16, %i: index, %n: index):
      %g = arith.extf %f : bf16 to f32
      %h = arith.addf %e, %g : f32
      tile.yield %h : f32
    } -> vector<8x4xf32>
    %m = tile.load %M[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xi1> -> vector<8x4xi1>
    %y = tile.mask tiles(%x, %m : vector<8x4xf32>, vector<8x4xi1>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %keep: i1, %i: index, %n: index):
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %p:2 = tile.map tiles(%y : vector<8x4xf32>) rows(%max0 : vector<8xf32>) cols() at(%c0, %j) {
    ^bb0(%e: f32, %f: f32, %i: index, %n: index):
      %g = arith.subf %e, %f : f32
      %w = math.exp2 %g : f32
      %z = arith.truncf %w : f32 to bf16
      tile.yield %w, %z : f32, bf16
    } -> (vector<8x4xf32>, vector<8x4xbf16>)
    %t = tile.reduce <add> %p#0, %sum : vector<8x4xf32>, vector<8xf32>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p#1, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %t : vector<8x16xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Of two products that accumulate, none is picked: a remark says so.

// CHECK-LABEL: tile.program @two_products(
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: tile.return
tile.program @two_products(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %W: memref<?x?xbf16>,
                           %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c4 iter_args(%dk = %out0, %dv = %out0) -> (vector<8x16xf32>, vector<8x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-note@+1 {{the first is here}}
    %a = tile.mma %p, %v, %dk : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-remark@+1 {{the loop's steps are not overlapped: a second product accumulates over it}}
    %b = tile.mma %p, %w, %dv : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %b : vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
