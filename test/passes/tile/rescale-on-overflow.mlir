// RUN: attnc-opt %s -split-input-file \
// RUN:   --pass-pipeline="builtin.module(tile.program(tile-defer-row-sums,tile-assign-stages,tile-reverse-loops,tile-load-ahead,tile-overlap-steps,tile-own-keys,tile-rescale-on-overflow),canonicalize,cse)" \
// RUN:   | FileCheck %s

// The first step has maxima of its own. The others take those of the steps before, unless what their weights add up to
// says that a row has outgrown its maximum, or a row has none: then a branch does the step as it was.

// CHECK-LABEL: tile.program @keeping_maxima(
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK-DAG: %[[MINUS0:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[LARGE:.*]] = arith.constant dense<0x49800000> : vector<8xf32>
// CHECK: tile.softmax %{{.*}}, %[[NONE]], %{{.*}} at(%c0, %{{.*}}) {octaves, partial, scale = 1.250000e-01 : f32}
// CHECK: scf.for {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[W:.*]] = %{{[^,]*}}, %[[OUT:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tile.mma {{.*}} transposed
// CHECK: %[[O:.*]] = tile.mma %[[W]], %{{.*}}, %[[OUT]] :
// CHECK: %{{.*}}, %[[PART:.*]], %[[P:.*]], %{{.*}} = tile.softmax %[[S]], %[[MAX]], %[[MINUS0]] at(%c0, %{{.*}}) {fixed, octaves, partial, scale =
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MAX]], %[[NONE]]
// CHECK: %[[HIGH:.*]] = arith.cmpf ogt, %[[PART]], %[[LARGE]]
// CHECK: %[[GROWN:.*]] = arith.ori %[[HIGH]], %[[EMPTY]]
// CHECK: %[[SOME:.*]] = tile.any %[[GROWN]]
// CHECK: %[[R:.*]]:4 = scf.if %[[SOME]]
//
// The maxima of rows that have not outgrown theirs grow by whole octaves.
// CHECK: %[[WORST:.*]] = tile.warp_reduce %[[PART]] max
// CHECK: %[[HIGH2:.*]] = arith.cmpf ogt, %[[WORST]], %[[LARGE]]
// CHECK: %[[ROWS:.*]] = arith.ori %[[HIGH2]], %[[EMPTY]]
// CHECK: %[[M2:.*]], %[[T2:.*]], %[[P2:.*]], %[[SHRINK:.*]] = tile.softmax %[[S]], %[[MAX]], %[[SUM]] at(%c0, %{{.*}}) renewed %[[ROWS]] : vector<8xi1> {octaves, partial, scale =
// CHECK: %[[U2:.*]] = tile.map tiles(%[[O]] : vector<8x16xf32>) rows(%[[SHRINK]] :
// CHECK: scf.yield %[[M2]], %[[T2]], %[[P2]], %[[U2]]
// CHECK: } else {
// CHECK: %[[T:.*]] = arith.addf %[[SUM]], %[[PART]]
// CHECK: scf.yield %[[MAX]], %[[T]], %[[P]], %[[O]]
// CHECK: scf.yield %[[R]]#0, %[[R]]#1, %{{.*}}, %[[R]]#2, %[[R]]#3 :
tile.program @keeping_maxima(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
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
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Weights of f16 have fewer octaves.

// CHECK-LABEL: tile.program @half(
// CHECK-DAG: %[[LARGE:.*]] = arith.constant dense<3.276800e+04> : vector<8xf32>
// CHECK: scf.for
// CHECK: arith.cmpf ogt, %{{.*}}, %[[LARGE]]
tile.program @half(%Q: memref<?x?xf16>, %K: memref<?x?xf16>, %V: memref<?x?xf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<8x16xf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<4x16xf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xf16>, vector<4x16xf16>, vector<8x4xf32>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<4x16xf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xf16>, vector<4x16xf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Numbers of dropout are computed again where a step is done again.

// CHECK-LABEL: tile.program @kept(
// CHECK: scf.for
// CHECK: %[[N:.*]] = tile.philox %{{.*}} at(%{{[^)]*}}) : vector<8x4xi16>
// CHECK: tile.softmax {{.*}} numbers %[[N]] :
// CHECK: scf.if
// CHECK: %[[AGAIN:.*]] = tile.philox %{{.*}} at(%{{[^)]*}}) again : vector<8x4xi16>
// CHECK: tile.softmax {{.*}} numbers %[[AGAIN]] :
tile.program @kept(%Q: memref<?x?xf16>, %K: memref<?x?xf16>, %V: memref<?x?xf16>, %low: index, %high: index, %seed: i64,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %least = arith.constant 6554 : i32
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<8x16xf16>
  %r:3 = scf.for %j = %low to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<4x16xf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xf16>, vector<4x16xf16>, vector<8x4xf32>
    %numbers = tile.philox %seed at(%c0, %c0, %c0, %j) : vector<8x4xi16>
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) numbers %numbers : vector<8x4xi16> dropped below %least {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xf16> -> vector<4x16xf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xf16>, vector<4x16xf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Rows that a step treats in another way for their maximum are none for a step that trusts: it has the common way only.
// One test finds them, and those that have no maximum.

// CHECK-LABEL: tile.program @choosing(
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<1.71798692E+10> : vector<8xf32>
// CHECK: scf.for {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{[^,]*}} = %{{[^,]*}}, %{{.*}} = %{{.*}})
// CHECK: tile.softmax %{{.*}}, %[[MAX]], %{{.*}} {exponent = #tile.exponent<fused>, fixed,
// CHECK-NOT: oeq
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[MAX]]
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK: %[[GROWN:.*]] = arith.ori %{{.*}}, %[[LARGE]]
// CHECK: tile.any %[[GROWN]]
// CHECK: scf.if
// CHECK: tile.softmax %{{.*}} renewed %{{.*}} {exponent = #tile.exponent<fused>, octaves,
tile.program @choosing(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
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
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {exponent = #tile.exponent<fused>, octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// With `each_step`, each step has its own.

// CHECK-LABEL: tile.program @plain(
// CHECK: scf.for
// CHECK: tile.softmax %{{.*}} {octaves, partial, scale =
// CHECK-NOT: tile.any
tile.program @plain(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
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
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Where the rows are divided by their sums, the loop carries the greatest sum that a lane had in a step, and the divisor
// takes in what that is rounded by. Rows that have outgrown their maximum begin again: theirs is a power of two. Those of
// others shrink by whole octaves, which leaves what they are rounded by.

// CHECK-LABEL: tile.program @divided(
// CHECK-DAG: %[[LARGE:.*]] = arith.constant dense<1.1529215E+18> : vector<8xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[LOOP:.*]]:6 = scf.for {{.*}} %[[G:.*]] = %[[ZERO]]) ->
// CHECK: %{{.*}}, %[[PART:.*]], %{{.*}}, %{{.*}} = tile.softmax %{{.*}} {fixed,
// CHECK: arith.cmpf ogt, %[[PART]], %[[LARGE]]
// CHECK: scf.if
// CHECK: %[[ROWS:.*]] = arith.ori
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[SHRINK:.*]] = tile.softmax %{{.*}} renewed %[[ROWS]] :
// CHECK: %[[MORE:.*]] = arith.maxnumf %[[G]], %[[PART]]
// CHECK: %[[SHRUNK:.*]] = arith.mulf %[[MORE]], %[[SHRINK]]
// CHECK: %[[NEW:.*]] = arith.select %[[ROWS]], %[[ZERO]], %[[SHRUNK]]
// CHECK: scf.yield {{.*}}, %[[NEW]] :
// CHECK: %[[MORE2:.*]] = arith.maxnumf %[[G]], %[[PART]]
// CHECK: scf.yield {{.*}}, %[[MORE2]] :
// CHECK: %[[ALL:.*]] = tile.warp_reduce %[[LOOP]]#5 max
// CHECK: scf.yield {{.*}}, %[[ALL]] :
// CHECK: } else {
// CHECK: scf.yield {{.*}}, %[[ZERO]] :
// CHECK: tile.softmax_end %{{.*}}, %{{.*}} max_weight %{{.*}} : vector<8xf32> {octaves, rounded = bf16, scale =
tile.program @divided(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %low: index, %high: index,
                    %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, epilogue = direct>} {
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
    %m, %t, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.125 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %t : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  %reciprocal, %lse = tile.softmax_end %r#1, %r#2 {octaves, scale = 0.125 : f32} : vector<8xf32>
  tile.store %reciprocal, %o[%c0, %c0] axes [0] below(%high) : vector<8xf32>, memref<?x?xf32>
  tile.return
}
