// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-stages,tile-overlap-steps,canonicalize))" -split-input-file \
// RUN:   -verify-diagnostics | FileCheck %s

// A step of keys' gradients: five products, two that start from zero and two that accumulate (the fifth, of queries'
// gradients, has a program of its own), whose loads feed two products each.

// The products that start from zero run a step ahead: with the sums of the step before.

// CHECK-LABEL: tile.program @logits_ahead(
// CHECK: scf.if
// What the first step starts comes before the loop, with the vector that its elements read.
// CHECK: tile.load %[[Q:[a-z0-9]+]][%[[LOW:[a-z0-9]+]], %{{.*}} {tile.kept = 0 : i64}
// CHECK: tile.load %[[DO:[a-z0-9]+]][%[[LOW]], %{{.*}} {tile.kept = 1 : i64}
// CHECK: tile.load %[[L:[a-z0-9]+]][%[[LOW]]]
// CHECK: tile.mma {{.*}} transposed
// CHECK: tile.mma {{.*}} transposed
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %{{.*}} step
// The elements of the step's own columns, and its sums from tiles that are there,
// CHECK-DAG: %[[HELD0:[a-z0-9]+]] = tile.load %[[Q]][%[[J]], %{{.*}} {tile.held = 0 : i64}
// CHECK-DAG: %[[HELD1:[a-z0-9]+]] = tile.load %[[DO]][%[[J]], %{{.*}} {tile.held = 1 : i64}
// CHECK: tile.map
// CHECK: tile.mma %{{.*}}, %[[HELD1]], %{{[a-z0-9]+}} :
// CHECK: tile.map
// CHECK: tile.mma %{{.*}}, %[[HELD0]], %{{[a-z0-9]+}} :
// then the products of the next.
// CHECK: %[[NEXT:[a-z0-9]+]] = arith.addi %[[J]], %{{.*}} : index
// CHECK-NEXT: tile.load %[[Q]][%[[NEXT]], %{{.*}} {tile.kept = 0 : i64}
// CHECK: tile.load %[[DO]][%{{.*}} {tile.kept = 1 : i64}
// CHECK: tile.load %[[L]]
// CHECK: tile.mma {{.*}} transposed
// CHECK-NEXT: tile.mma {{.*}} transposed
// CHECK-NEXT: scf.yield
// The last step's sums come after it. No choice is left: there is a step.
// CHECK-NOT: arith.select
// CHECK: tile.load %[[Q]]{{.*}} {tile.held = 0 : i64}
// CHECK: tile.load %[[DO]]{{.*}} {tile.held = 1 : i64}
// CHECK-NOT: arith.select
// CHECK: } else {
tile.program @logits_ahead(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>,
                           %L: memref<?xf32>, %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = logits_ahead>>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %v = tile.load %V[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c4 iter_args(%dk = %sum, %dv = %sum) -> (vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %l = tile.load %L[%j] axes [0] below(%high) : memref<?xf32> -> vector<1x4xf32>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %dp = tile.mma %v, %do, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols(%l : vector<1x4xf32>) at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.subf %x, %y : f32
      %b = arith.truncf %e : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %a = tile.mma %p, %do, %dv : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %ds = tile.map tiles(%dp : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %b = tile.mma %ds, %q, %dk : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %b, %a : vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<logits_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Sums run a step late: they start after the products of the next logits, and the elements of those come under them. The
// mask is of columns a step ahead of the induction variable.

// CHECK-LABEL: tile.program @sums_late(
// CHECK: scf.if
// CHECK: tile.mma {{.*}} transposed
// CHECK: tile.mask
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %{{.*}} step {{.*}} iter_args(%[[DQ:[a-z0-9]+]] = %{{.*}}, %[[DS:[a-z0-9]+]] = %{{.*}})
// CHECK: %[[NEXT:[a-z0-9]+]] = arith.addi %[[J]], %{{.*}} : index
// CHECK-NEXT: tile.load %[[K:[a-z0-9]+]][%[[NEXT]], %{{.*}} {tile.kept = 0 : i64}
// CHECK: tile.mma {{.*}} transposed
// CHECK: tile.mma {{.*}} transposed
// CHECK: %[[HELD:[a-z0-9]+]] = tile.load %[[K]][%[[J]], %{{.*}} {tile.held = 0 : i64}
// CHECK: %[[SUM:[a-z0-9]+]] = tile.mma %[[DS]], %[[HELD]], %[[DQ]]
// CHECK: %[[AHEAD:[a-z0-9]+]] = arith.addi %[[J]], %{{.*}} : index
// CHECK-NEXT: tile.mask {{.*}} at(%{{.*}}, %[[AHEAD]])
// CHECK: %[[NEW:[a-z0-9]+]] = tile.map
// CHECK: scf.yield %[[SUM]], %[[NEW]]
// CHECK-NOT: arith.select
// CHECK: tile.load %[[K]]{{.*}} {tile.held = 0 : i64}
// CHECK: } else {
tile.program @sums_late(%Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>,
                        %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %do = tile.load %DO[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %low to %high step %c4 iter_args(%dq = %sum) -> (vector<8x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %dp = tile.mma %do, %v, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m = tile.mask tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %n: index):
      %keep = arith.cmpi sle, %n, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %ds = tile.map tiles(%m, %dp : vector<8x4xf32>, vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %e : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %a = tile.mma %ds, %k, %dq : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// All five products in a loop: two fresh ones, a third that reads what consumers have shared, and two that accumulate, whose loads feed
// two products each. The product of queries and keys alone runs a step ahead: after the last products of the step before, and before
// what leaves for memory and for the other consumers.

// CHECK-LABEL: tile.program @scores_ahead(
// CHECK: scf.if
// CHECK: tile.load %[[Q:[a-z0-9]+]][%{{.*}} {tile.kept = 0 : i64}
// CHECK: %[[FIRST:[a-z0-9]+]] = tile.mma {{.*}} transposed
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %{{.*}} step {{.*}} iter_args(%{{.*}}, %{{.*}}, %[[S:[a-z0-9]+]] = %[[FIRST]])
// CHECK: %[[HELD:[a-z0-9]+]] = tile.load %[[Q]][%[[J]], %{{.*}} {tile.held = 0 : i64}
// CHECK: tile.mma {{.*}} transposed
// CHECK: tile.map tiles(%[[S]] :
// CHECK: tile.mma %{{.*}}, %{{.*}}, %{{[a-z0-9]+}} :
// CHECK: %[[DS:[a-z0-9]+]] = tile.map
// CHECK: %[[SHARED:[a-z0-9]+]] = tile.take
// CHECK: %[[PART:[a-z0-9]+]] = tile.mma %[[SHARED]], %{{.*}}, %{{.*}} left_transposed
// CHECK: tile.mma %[[DS]], %[[HELD]],
// CHECK: tile.load %[[Q]][%{{.*}} {tile.kept = 0 : i64}
// CHECK: tile.mma {{.*}} transposed
// CHECK: tile.store %[[PART]], %{{.*}}[%[[J]], %{{.*}} {accumulate, blocked}
// CHECK-NEXT: tile.share %[[DS]]
// CHECK-NEXT: scf.yield
// CHECK-NOT: arith.select
// CHECK: tile.store %{{.*}} {accumulate, blocked}
// CHECK: } else {
tile.program @scores_ahead(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>,
                           %DQ: memref<?x16xf32>, %low: index, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = 16,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = scores_ahead>>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<32x16xf32>
  %none = arith.constant dense<0.0> : vector<16x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<32x16xbf16>
  %v = tile.load %V[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<32x16xbf16>
  %r:2 = scf.for %j = %low to %high step %c16 iter_args(%dk = %zero, %dv = %zero) -> (vector<32x16xf32>, vector<32x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<32x16xbf16>, vector<16x16xbf16>, vector<32x16xf32>
    %dp = tile.mma %v, %do, %zero transposed : vector<32x16xbf16>, vector<16x16xbf16>, vector<32x16xf32>
    %p = tile.map tiles(%s : vector<32x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<32x16xbf16>
    %a = tile.mma %p, %do, %dv : vector<32x16xbf16>, vector<16x16xbf16>, vector<32x16xf32>
    %ds = tile.map tiles(%dp : vector<32x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<32x16xbf16>
    %shared = tile.take : !tile.shared<vector<32x16xbf16>>
    %part = tile.mma %shared, %k, %none left_transposed : !tile.shared<vector<32x16xbf16>>, vector<32x16xbf16>, vector<16x16xf32>
    %b = tile.mma %ds, %q, %dk : vector<32x16xbf16>, vector<16x16xbf16>, vector<32x16xf32>
    tile.store %part, %DQ[%j, %c0] axes [0, 1] below(%high, %c16) {accumulate, blocked} : vector<16x16xf32>, memref<?x16xf32>
    tile.share %ds : vector<32x16xbf16>
    scf.yield %b, %a : vector<32x16xf32>, vector<32x16xf32>
  } {tile.overlap = #tile.overlap<scores_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<32x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<32x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Five products, of which two are fresh and three accumulate, whose three loads feed two products each: a fresh one and one that
// accumulates. All three sums run a step late, and read tiles that are held.

// CHECK-LABEL: tile.program @five(
// CHECK: scf.if
// CHECK-DAG: tile.load %[[Q:[a-z0-9]+]][%{{.*}} {tile.kept = 0 : i64}
// CHECK-DAG: tile.load %[[DO:[a-z0-9]+]][%{{.*}} {tile.kept = 1 : i64}
// CHECK-DAG: tile.load %[[W:[a-z0-9]+]][%{{.*}} {tile.kept = 2 : i64}
// CHECK-COUNT-2: tile.mma {{.*}} transposed
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %{{.*}} step {{.*}} iter_args(%[[DK:[a-z0-9]+]] = %{{[^,]*}}, %[[DV:[a-z0-9]+]] = %{{[^,]*}}, %[[DW:[a-z0-9]+]] = %{{[^,]*}}, %[[P:[a-z0-9]+]] = %{{[^,]*}}, %[[DS:[a-z0-9]+]] = %{{[^,]*}}) ->
// CHECK: %[[KEPT0:[a-z0-9]+]] = tile.load %[[Q]][%{{.*}} {tile.kept = 0 : i64}
// CHECK: %[[KEPT1:[a-z0-9]+]] = tile.load %[[DO]][%{{.*}} {tile.kept = 1 : i64}
// CHECK: %[[KEPT2:[a-z0-9]+]] = tile.load %[[W]][%{{.*}} {tile.kept = 2 : i64}
// CHECK: tile.mma %{{.*}}, %[[KEPT0]], %{{.*}} transposed
// CHECK: tile.mma %[[KEPT2]], %[[KEPT1]], %{{.*}} transposed
// CHECK: %[[HELD0:[a-z0-9]+]] = tile.load %[[Q]][%[[J]], %{{.*}} {tile.held = 0 : i64}
// CHECK: %[[HELD1:[a-z0-9]+]] = tile.load %[[DO]][%[[J]], %{{.*}} {tile.held = 1 : i64}
// CHECK: %[[HELD2:[a-z0-9]+]] = tile.load %[[W]][%[[J]], %{{.*}} {tile.held = 2 : i64}
// CHECK-DAG: tile.mma %[[P]], %[[HELD1]], %[[DV]] :
// CHECK-DAG: tile.mma %[[DS]], %[[HELD0]], %[[DK]] :
// CHECK-DAG: tile.mma %[[DS]], %[[HELD2]], %[[DW]] :
// CHECK: tile.map
// CHECK: scf.yield
// CHECK-NOT: arith.select
// CHECK-COUNT-3: tile.mma
// CHECK: } else {
tile.program @five(%K: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>, %W: memref<?x?xbf16>, %low: index, %high: index,
                  %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c8 iter_args(%dk = %sum, %dv = %sum, %dw = %sum) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %dp = tile.mma %w, %do, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %p:2 = tile.map tiles(%s, %dp : vector<8x8xf32>, vector<8x8xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %x : f32 to bf16
      %c = arith.truncf %e : f32 to bf16
      tile.yield %b, %c : bf16, bf16
    } -> (vector<8x8xbf16>, vector<8x8xbf16>)
    %a = tile.mma %p#0, %do, %dv : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %b = tile.mma %p#1, %q, %dk : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %c = tile.mma %p#1, %w, %dw : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    scf.yield %b, %a, %c : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A step that reads a sum that is to run late, itself or in a branch, stays as it is, and a remark says so.

// CHECK-LABEL: tile.program @read(
// CHECK: scf.for
// CHECK-NOT: tile.stage
// CHECK-COUNT-2: tile.mma {{.*}} transposed
// CHECK-COUNT-3: tile.mma
// CHECK: tile.store
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.store
tile.program @read(%K: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>, %W: memref<?x?xbf16>, %low: index, %high: index,
                  %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c8 iter_args(%dk = %sum, %dv = %sum, %dw = %sum) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %dp = tile.mma %w, %do, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %p:2 = tile.map tiles(%s, %dp : vector<8x8xf32>, vector<8x8xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %x : f32 to bf16
      %c = arith.truncf %e : f32 to bf16
      tile.yield %b, %c : bf16, bf16
    } -> (vector<8x8xbf16>, vector<8x8xbf16>)
    %a = tile.mma %p#0, %do, %dv : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %b = tile.mma %p#1, %q, %dk : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    // expected-note @+1 {{which is left for the next step}}
    %c = tile.mma %p#1, %w, %dw : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    // expected-remark @+1 {{the loop's steps are not overlapped: this would run before what it reads}}
    tile.store %c, %o[%j, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
    scf.yield %b, %a, %c : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.program @read_in_branch(
// CHECK: scf.for
// CHECK-NOT: tile.stage
// CHECK-COUNT-5: tile.mma
// CHECK: tile.return
tile.program @read_in_branch(%K: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>, %W: memref<?x?xbf16>, %low: index, %high: index,
                  %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %low to %high step %c8 iter_args(%dk = %sum, %dv = %sum, %dw = %sum) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %dp = tile.mma %w, %do, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %p:2 = tile.map tiles(%s, %dp : vector<8x8xf32>, vector<8x8xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %x : f32 to bf16
      %c = arith.truncf %e : f32 to bf16
      tile.yield %b, %c : bf16, bf16
    } -> (vector<8x8xbf16>, vector<8x8xbf16>)
    %a = tile.mma %p#0, %do, %dv : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %b = tile.mma %p#1, %q, %dk : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    // expected-note @+1 {{which is left for the next step}}
    %c = tile.mma %p#1, %w, %dw : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %last = arith.cmpi eq, %j, %c8 : index
    // expected-remark @+1 {{the loop's steps are not overlapped: this would run before what it reads}}
    scf.if %last {
      tile.store %c, %o[%j, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
    }
    scf.yield %b, %a, %c : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A fresh product that multiplies what the step before has summed up.

// CHECK-LABEL: tile.program @carried(
// CHECK: scf.for
// CHECK-NOT: tile.stage
// CHECK-COUNT-3: tile.mma
// CHECK: tile.return
tile.program @carried(%Q: memref<?x?xbf16>, %W: memref<?x?xbf16>, %high: index, %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %r = scf.for %j = %c0 to %high step %c16 iter_args(%sum = %zero) -> (vector<16x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<16x16xbf16>
    // expected-remark @+1 {{the loop's steps are not overlapped: this would run before what it reads}}
    %before = tile.map tiles(%sum : vector<16x16xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<16x16xbf16>
    %s = tile.mma %before, %q, %zero transposed : vector<16x16xbf16>, vector<16x16xbf16>, vector<16x16xf32>
    %t = tile.mma %w, %q, %zero transposed : vector<16x16xbf16>, vector<16x16xbf16>, vector<16x16xf32>
    %p = tile.map tiles(%s, %t : vector<16x16xf32>, vector<16x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %e : f32 to bf16
      tile.yield %b : bf16
    } -> vector<16x16xbf16>
    // expected-note @+1 {{which is left for the next step}}
    %a = tile.mma %p, %w, %sum : vector<16x16xbf16>, vector<16x16xbf16>, vector<16x16xf32>
    scf.yield %a : vector<16x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<16x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// The pipeliner knows of loops only that carry on what their steps compute.

// CHECK-LABEL: tile.program @handed_on(
// CHECK: scf.for
// CHECK-NOT: tile.stage
// CHECK-COUNT-5: tile.mma
// CHECK: tile.return
tile.program @handed_on(%K: memref<?x?xbf16>, %Q: memref<?x?xbf16>, %DO: memref<?x?xbf16>, %W: memref<?x?xbf16>, %low: index, %high: index,
                  %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %sum = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  // expected-remark @+1 {{the loop's steps are not overlapped: it carries on what its step does not compute}}
  %r:4 = scf.for %j = %low to %high step %c8 iter_args(%dk = %sum, %dv = %sum, %dw = %sum, %last = %sum) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %do = tile.load %DO[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %w = tile.load %W[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %dp = tile.mma %w, %do, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    %p:2 = tile.map tiles(%s, %dp : vector<8x8xf32>, vector<8x8xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      %b = arith.truncf %x : f32 to bf16
      %c = arith.truncf %e : f32 to bf16
      tile.yield %b, %c : bf16, bf16
    } -> (vector<8x8xbf16>, vector<8x8xbf16>)
    %a = tile.mma %p#0, %do, %dv : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %b = tile.mma %p#1, %q, %dk : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    %c = tile.mma %p#1, %w, %dw : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    scf.yield %b, %a, %c, %dw : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#3, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
