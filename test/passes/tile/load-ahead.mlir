// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-load-ahead))" -split-input-file -verify-diagnostics | FileCheck %s

// A captured tile that scores read is carried by the loop: each step loads the next one's after its own product has
// started, and the last its own again. A tile that a mask reads comes when it is needed, and so does
// one that depends on what the loop carries, with a remark.

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
    // expected-remark @+1 {{the captured tile is not loaded a step ahead: where it lies depends on what the loop carries}}
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

// -----

// Other tiles that scores read and that come when they are needed: of narrow elements, read by a product as well, and read
// in a branch. Of one that is the same in each step there is nothing to say.

// CHECK-LABEL: tile.program @others(
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK: scf.yield %{{[a-z0-9]+}} : vector<8x16xf32>
// CHECK: tile.return
tile.program @others(%K: memref<?x?xbf16>, %B: memref<?x?xbf16>, %N: memref<?x?xi8>, %low: index, %high: index,
                     %o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %h = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x8xbf16>
  %r = scf.for %j = %low to %high step %c8 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
    // expected-remark @+1 {{the captured tile is not loaded a step ahead: its elements would take a register each, though they have less than 16 bits}}
    %n = tile.load %N[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xi8> -> vector<8x8xi8>
    %b = tile.load %B[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x8xbf16>
    // expected-remark @+1 {{the captured tile is not loaded a step ahead: it is not for the elements of scores alone}}
    %w = tile.load %B[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x8xbf16>
    %x = tile.map tiles(%s, %n, %b, %w : vector<8x8xf32>, vector<8x8xi8>, vector<8x8xbf16>, vector<8x8xbf16>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %f: i8, %g: bf16, %unread: bf16, %i: index, %c: index):
      %d = arith.sitofp %f : i8 to f32
      %l = arith.extf %g : bf16 to f32
      %y = arith.addf %e, %d : f32
      %z = arith.addf %y, %l : f32
      tile.yield %z : f32
    } -> vector<8x8xf32>
    %t = tile.mma %h, %w, %x : vector<8x8xbf16>, vector<8x8xbf16>, vector<8x8xf32>
    %some = arith.cmpi eq, %j, %c8 : index
    %u = scf.if %some -> (vector<8x8xf32>) {
      // expected-remark @+1 {{the captured tile is not loaded a step ahead: a branch of the step reads it}}
      %a = tile.load %B[%c8, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x8xbf16>
      %y = tile.map tiles(%t, %a : vector<8x8xf32>, vector<8x8xbf16>) rows() cols() at(%c0, %j) {
      ^bb0(%e: f32, %g: bf16, %i: index, %c: index):
        %l = arith.extf %g : bf16 to f32
        %z = arith.addf %e, %l : f32
        tile.yield %z : f32
      } -> vector<8x8xf32>
      scf.yield %y : vector<8x8xf32>
    } else {
      scf.yield %t : vector<8x8xf32>
    }
    %p = tile.map tiles(%u : vector<8x8xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %i: index, %c: index):
      %z = arith.truncf %e : f32 to bf16
      tile.yield %z : bf16
    } -> vector<8x8xbf16>
    %v = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) {tile.stage = 1 : i64} : memref<?x?xbf16> -> vector<8x16xbf16>
    %a = tile.mma %p, %v, %out {tile.stage = 1 : i64} : vector<8x8xbf16>, vector<8x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
