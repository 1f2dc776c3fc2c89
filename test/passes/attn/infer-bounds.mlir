// RUN: attnc-opt %s --attn-expand --canonicalize --cse --attn-infer-bounds --canonicalize --cse -split-input-file \
// RUN:   | FileCheck %s

// What is derived from a mask: `bounds` in closed form, and `blocks` where that does not say everything. That it is right
// is held against brute force in test/unit/passes.

// The keys up to the last query of the tile; up to the first one, all are kept. Nothing is left for `blocks` to say.

// CHECK-LABEL: func.func @causal(
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V2]], %[[V1]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @causal(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// The same mask without its name has the same bounds.

// CHECK-LABEL: func.func @causal_by_hand(
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V2]], %[[V1]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @causal_by_hand(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %c0 = arith.constant 0 : index
      %keep = arith.cmpi sge, %d, %c0 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// So has the negation of its opposite.

// CHECK-LABEL: func.func @causal_by_negation(
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V2]], %[[V1]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @causal_by_negation(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %true = arith.constant true
      %after = arith.cmpi slt, %i, %j : index
      %keep = arith.xori %after, %true : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// One side: no end but that of the keys.

// CHECK-LABEL: func.func @window_left(
// CHECK-DAG: %[[CMINUS7:.*]] = arith.constant -7 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I0]], %[[CMINUS7]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I1]], %[[CMINUS7]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.maxsi %[[V1]], %[[C0]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.maxsi %[[V2]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V3]], %[[V4]], %[[CBEYOND]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @window_left(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(7)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @window_right(
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C4]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C4]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V2]], %[[V1]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @window_right(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j right(3)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Two sides: the hull goes from the first query's left to the last one's right, the full stretch the other way around.

// CHECK-LABEL: func.func @window(
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[CMINUS7:.*]] = arith.constant -7 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I0]], %[[CMINUS7]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I1]], %[[CMINUS7]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.addi %[[I1]], %[[C4]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.addi %[[I0]], %[[C4]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.maxsi %[[V1]], %[[C0]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.maxsi %[[V2]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V5]], %[[V6]], %[[V4]], %[[V3]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @window(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(7) right(3)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Sides that are known at launch only, from 0 to as far as positions can be apart. Ends past all keys come nearer.

// CHECK-LABEL: func.func @window_of_values(
// CHECK-SAME: %[[W:[a-z0-9]+]]: index
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK-DAG: %[[BEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[BELOW:.*]] = arith.minsi %[[W]], %[[MOST]] : index
// CHECK-NEXT: %[[LEFT:.*]] = arith.maxsi %[[BELOW]], %[[C0]] : index
// CHECK-NEXT: %[[V1:.*]] = arith.subi %[[I0]], %[[LEFT]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.subi %[[I1]], %[[LEFT]] : index
// CHECK-NEXT: %[[N1:.*]] = arith.subi %[[C0]], %[[I1]] : index
// CHECK-NEXT: %[[N0:.*]] = arith.subi %[[C0]], %[[I0]] : index
// CHECK-NEXT: %[[BELOW2:.*]] = arith.minsi %[[N]], %[[MOST]] : index
// CHECK-NEXT: %[[RIGHT:.*]] = arith.maxsi %[[BELOW2]], %[[C0]] : index
// CHECK-NEXT: %[[R1:.*]] = arith.subi %[[N1]], %[[RIGHT]] : index
// CHECK-NEXT: %[[R0:.*]] = arith.subi %[[N0]], %[[RIGHT]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.subi %[[C1]], %[[R1]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.subi %[[C1]], %[[R0]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.maxsi %[[V1]], %[[C0]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.maxsi %[[V2]], %[[C0]] : index
// CHECK-NEXT: %[[B6:.*]] = arith.minsi %[[V6]], %[[BEYOND]] : index
// CHECK-NEXT: %[[B5:.*]] = arith.minsi %[[V5]], %[[BEYOND]] : index
// CHECK-NEXT: attn.yield %[[V7]], %[[V8]], %[[B6]], %[[B5]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @window_of_values(%q: tensor<?x?x4x64xf32>, %w: index, %n: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(%w) right(%n)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Two stretches that start together join: the longer one decides.

// CHECK-LABEL: func.func @prefix_or_causal(
// CHECK-SAME: %[[LEN:[a-z0-9]+]]: tensor<?xi32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: %[[V3:.*]] = attn.load %[[LEN]][%[[B]]] : tensor<?xi32>
// CHECK-NEXT: %[[V4:.*]] = arith.index_cast %[[V3]] : i32 to index
// CHECK-NEXT: %[[V5:.*]] = arith.maxsi %[[V1]], %[[V4]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.maxsi %[[V2]], %[[V4]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V6]], %[[V5]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @prefix_or_causal(%q: tensor<?x?x4x64xf32>, %len: tensor<?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = attn.causal %i, %j
      %p = attn.prefix %j, %len[%b] : tensor<?xi32>
      %keep = arith.ori %c, %p : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// floor(j / c) = r is c * r <= j < c * r + c. Division truncates where the key position, which is never negative, is
// divided; the query's is divided as it is written.

// CHECK-LABEL: func.func @chunks(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.divsi %[[I0]], %[[C128]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.divsi %[[I1]], %[[C128]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.muli %[[V2]], %[[C128]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.muli %[[V1]], %[[C128]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.addi %[[V3]], %[[C128]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.addi %[[V4]], %[[C128]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.maxsi %[[V4]], %[[C0]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.maxsi %[[V3]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V7]], %[[V8]], %[[V6]], %[[V5]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @chunks(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = arith.constant 128 : index
      %x = arith.divsi %i, %c : index
      %y = arith.divsi %j, %c : index
      %keep = arith.cmpi eq, %y, %x : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @chunks_flooring(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.floordivsi %[[I0]], %[[C128]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.floordivsi %[[I1]], %[[C128]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.muli %[[V2]], %[[C128]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.muli %[[V1]], %[[C128]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.addi %[[V3]], %[[C128]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.addi %[[V4]], %[[C128]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.maxsi %[[V4]], %[[C0]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.maxsi %[[V3]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V7]], %[[V8]], %[[V6]], %[[V5]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @chunks_flooring(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = arith.constant 128 : index
      %x = arith.floordivsi %i, %c : index
      %y = arith.floordivsi %j, %c : index
      %keep = arith.cmpi eq, %x, %y : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A factor of j divides, rounding down.

// CHECK-LABEL: func.func @half(
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.floordivsi %[[I1]], %[[C2]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[V1]], %[[C1]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.floordivsi %[[I0]], %[[C2]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.addi %[[V3]], %[[C1]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[C0]], %[[V4]], %[[V2]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @half(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c2 = arith.constant 2 : index
      %d = arith.muli %j, %c2 : index
      %keep = arith.cmpi sle, %d, %i : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A condition that does not look at j keeps every key or none.

// CHECK-LABEL: func.func @heads(
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %[[H:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi slt, %[[H]], %[[C4]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.select %[[V1]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.select %[[V1]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.maxsi %[[V2]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V4]], %[[V4]], %[[V3]], %[[V3]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @heads(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %keep = arith.cmpi slt, %h, %c4 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Ids of keys cannot be solved for: the tile of queries is compared with each tile of keys by their least and greatest ids.

// CHECK-LABEL: func.func @segments(
// CHECK-SAME: %[[QS:[a-z0-9]+]]: tensor<?x?xi32>
// CHECK-SAME: %[[KS:[a-z0-9]+]]: tensor<?x?xi32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK: } bounds (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[LEAST:.*]], %[[GREATEST:.*]] = attn.load_range %[[QS]][%[[B]], %[[I0]] to %[[I1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi sge, %[[LEAST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[V2:.*]] = arith.cmpi sge, %[[GREATEST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[V3:.*]] = arith.select %[[V2]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V2]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.select %[[V1]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.select %[[V1]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.maxsi %[[V5]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.minsi %[[V6]], %[[C0]] : index
// CHECK-NEXT: %[[V9:.*]] = arith.maxsi %[[V3]], %[[C0]] : index
// CHECK-NEXT: %[[V10:.*]] = arith.maxsi %[[V7]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V9]], %[[V10]], %[[V8]], %[[V4]] : index, index, index, index
// CHECK-NEXT: } blocks (%[[KB:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KLEAST:.*]], %[[KGREATEST:.*]] = attn.load_range %[[QS]][%[[KB]], %[[KI0]] to %[[KI1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[KLEAST_0:.*]], %[[KGREATEST_1:.*]] = attn.load_range %[[KS]][%[[KB]], %[[KJ0]] to %[[KJ1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[KV1:.*]] = arith.cmpi sle, %[[KLEAST]], %[[KGREATEST_1]] : i32
// CHECK-NEXT: %[[KV2:.*]] = arith.cmpi sle, %[[KLEAST_0]], %[[KGREATEST]] : i32
// CHECK-NEXT: %[[KV3:.*]] = arith.andi %[[KV1]], %[[KV2]] : i1
// CHECK-NEXT: %[[KV4:.*]] = arith.cmpi eq, %[[KLEAST]], %[[KGREATEST_1]] : i32
// CHECK-NEXT: %[[KV5:.*]] = arith.cmpi eq, %[[KGREATEST]], %[[KLEAST_0]] : i32
// CHECK-NEXT: %[[KV6:.*]] = arith.andi %[[KV4]], %[[KV5]] : i1
// CHECK-NEXT: %[[KV7:.*]] = arith.cmpi sge, %[[KLEAST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[KV8:.*]] = arith.cmpi sge, %[[KGREATEST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[KV9:.*]] = arith.andi %[[KV6]], %[[KV7]] : i1
// CHECK-NEXT: %[[KV10:.*]] = arith.andi %[[KV3]], %[[KV8]] : i1
// CHECK-NEXT: attn.yield %[[KV10]], %[[KV9]] : i1, i1
// CHECK-NEXT: } : (
func.func @segments(%q: tensor<?x?x4x64xf32>, %qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// What can be solved bounds the walk, what cannot decides on its way.

// CHECK-LABEL: func.func @documents(
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<?x?xi32>
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK: } bounds (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: %[[LEAST:.*]], %[[GREATEST:.*]] = attn.load_range %[[IDS]][%[[B]], %[[I0]] to %[[I1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[V3:.*]] = arith.cmpi sge, %[[LEAST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[V4:.*]] = arith.cmpi sge, %[[GREATEST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[V5:.*]] = arith.select %[[V4]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.select %[[V4]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.select %[[V3]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.select %[[V3]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V9:.*]] = arith.maxsi %[[V7]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V10:.*]] = arith.minsi %[[V8]], %[[C0]] : index
// CHECK-NEXT: %[[V11:.*]] = arith.minsi %[[V1]], %[[V6]] : index
// CHECK-NEXT: %[[V12:.*]] = arith.minsi %[[V2]], %[[V10]] : index
// CHECK-NEXT: %[[V13:.*]] = arith.maxsi %[[V5]], %[[C0]] : index
// CHECK-NEXT: %[[V14:.*]] = arith.maxsi %[[V9]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V13]], %[[V14]], %[[V12]], %[[V11]] : index, index, index, index
// CHECK-NEXT: } blocks (%[[KB:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KV1:.*]] = arith.cmpi sle, %[[KJ1]], %[[KI0]] : index
// CHECK-NEXT: %[[KV2:.*]] = arith.cmpi sle, %[[KJ0]], %[[KI1]] : index
// CHECK-NEXT: %[[KLEAST:.*]], %[[KGREATEST:.*]] = attn.load_range %[[IDS]][%[[KB]], %[[KI0]] to %[[KI1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[KLEAST_0:.*]], %[[KGREATEST_1:.*]] = attn.load_range %[[IDS]][%[[KB]], %[[KJ0]] to %[[KJ1]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[KV3:.*]] = arith.cmpi sle, %[[KLEAST]], %[[KGREATEST_1]] : i32
// CHECK-NEXT: %[[KV4:.*]] = arith.cmpi sle, %[[KLEAST_0]], %[[KGREATEST]] : i32
// CHECK-NEXT: %[[KV5:.*]] = arith.andi %[[KV3]], %[[KV4]] : i1
// CHECK-NEXT: %[[KV6:.*]] = arith.cmpi eq, %[[KLEAST]], %[[KGREATEST_1]] : i32
// CHECK-NEXT: %[[KV7:.*]] = arith.cmpi eq, %[[KGREATEST]], %[[KLEAST_0]] : i32
// CHECK-NEXT: %[[KV8:.*]] = arith.andi %[[KV6]], %[[KV7]] : i1
// CHECK-NEXT: %[[KV9:.*]] = arith.cmpi sge, %[[KLEAST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[KV10:.*]] = arith.cmpi sge, %[[KGREATEST]], %[[C0_I32]] : i32
// CHECK-NEXT: %[[KV11:.*]] = arith.andi %[[KV8]], %[[KV9]] : i1
// CHECK-NEXT: %[[KV12:.*]] = arith.andi %[[KV5]], %[[KV10]] : i1
// CHECK-NEXT: %[[KV13:.*]] = arith.andi %[[KV1]], %[[KV11]] : i1
// CHECK-NEXT: %[[KV14:.*]] = arith.andi %[[KV2]], %[[KV12]] : i1
// CHECK-NEXT: attn.yield %[[KV14]], %[[KV13]] : i1, i1
// CHECK-NEXT: } : (
func.func @documents(%q: tensor<?x?x4x64xf32>, %ids: tensor<?x?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = attn.causal %i, %j
      %s = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      %keep = arith.andi %c, %s : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// The mask's own elements are looked at: all set, some set.

// CHECK-LABEL: func.func @bits(
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<?x1x?x?xi1>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } blocks (%[[KB:[a-z0-9_]+]], %[[KH:[a-z0-9_]+]], %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KLEAST:.*]], %[[KGREATEST:.*]] = attn.load_range %[[M]][%[[KB]], %[[KH]], %[[KI0]] to %[[KI1]], %[[KJ0]] to %[[KJ1]]] : tensor<?x1x?x?xi1>
// CHECK-NEXT: attn.yield %[[KGREATEST]], %[[KLEAST]] : i1, i1
// CHECK-NEXT: } : (
func.func @bits(%q: tensor<?x?x4x64xf32>, %m: tensor<?x1x?x?xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.load %m[%b, %h, %i, %j] : tensor<?x1x?x?xi1>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A gap between two stretches: `blocks` knows it.

// CHECK-LABEL: func.func @sink_and_window(
// CHECK-DAG: %[[CMINUS255:.*]] = arith.constant -255 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C255:.*]] = arith.constant 255 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[CMINUS255]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.maxsi %[[V2]], %[[C4]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.subi %[[V3]], %[[V1]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.cmpi sle, %[[V5]], %[[C4]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.select %[[V6]], %[[C0]], %[[V1]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.select %[[V6]], %[[C4]], %[[V3]] : index
// CHECK-NEXT: %[[V9:.*]] = arith.maxsi %[[V7]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[V9]], %[[V8]], %[[V4]] : index, index, index, index
// CHECK-NEXT: } blocks (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KV1:.*]] = arith.cmpi slt, %[[KJ1]], %[[C4]] : index
// CHECK-NEXT: %[[KV2:.*]] = arith.cmpi slt, %[[KJ0]], %[[C4]] : index
// CHECK-NEXT: %[[KV3:.*]] = arith.subi %[[KI0]], %[[C255]] : index
// CHECK-NEXT: %[[KV4:.*]] = arith.subi %[[KI1]], %[[C255]] : index
// CHECK-NEXT: %[[KV5:.*]] = arith.cmpi sge, %[[KJ0]], %[[KV4]] : index
// CHECK-NEXT: %[[KV6:.*]] = arith.cmpi sge, %[[KJ1]], %[[KV3]] : index
// CHECK-NEXT: %[[KV7:.*]] = arith.cmpi sle, %[[KJ1]], %[[KI0]] : index
// CHECK-NEXT: %[[KV8:.*]] = arith.cmpi sle, %[[KJ0]], %[[KI1]] : index
// CHECK-NEXT: %[[KV9:.*]] = arith.andi %[[KV5]], %[[KV7]] : i1
// CHECK-NEXT: %[[KV10:.*]] = arith.andi %[[KV6]], %[[KV8]] : i1
// CHECK-NEXT: %[[KV11:.*]] = arith.ori %[[KV1]], %[[KV9]] : i1
// CHECK-NEXT: %[[KV12:.*]] = arith.ori %[[KV2]], %[[KV10]] : i1
// CHECK-NEXT: attn.yield %[[KV12]], %[[KV11]] : i1, i1
// CHECK-NEXT: } : (
func.func @sink_and_window(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %first = arith.cmpi slt, %j, %c4 : index
      %near = attn.window %i, %j left(255) right(0)
      %keep = arith.ori %first, %near : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A remainder has no range: what it decides is partial, and never full.

// CHECK-LABEL: func.func @dilated(
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[FALSE:.*]] = arith.constant false
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.minsi %[[V2]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[V3]], %[[V1]] : index, index, index, index
// CHECK-NEXT: } blocks (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[KV1:.*]] = arith.cmpi sle, %[[KJ0]], %[[KI1]] : index
// CHECK-NEXT: attn.yield %[[KV1]], %[[FALSE]] : i1, i1
// CHECK-NEXT: } : (
func.func @dilated(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %d = arith.subi %i, %j : index
      %phase = arith.remsi %d, %c4 : index
      %on = arith.cmpi eq, %phase, %c0 : index
      %c = attn.causal %i, %j
      %keep = arith.andi %on, %c : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Alone it says nothing: all keys are visited and masked, and there are no blocks.

// CHECK-LABEL: func.func @unknown(
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @unknown(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %phase = arith.remsi %j, %c4 : index
      %keep = arith.cmpi eq, %phase, %c0 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Nor does a comparison of floats.

// CHECK-LABEL: func.func @floats(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @floats(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %d32 = arith.index_cast %d : index to i32
      %x = arith.sitofp %d32 : i32 to f32
      %y = math.sqrt %x : f32
      %f = arith.constant 6.5 : f32
      %keep = arith.cmpf olt, %y, %f : f32
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Nor an unsigned one, which wraps where the difference is negative.

// CHECK-LABEL: func.func @unsigned(
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @unsigned(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %c9 = arith.constant 9 : index
      %keep = arith.cmpi ult, %d, %c9 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Nor a comparison of conditions.

// CHECK-LABEL: func.func @conditions(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @conditions(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c9 = arith.constant 9 : index
      %p = arith.cmpi slt, %i, %c9 : index
      %r = arith.cmpi slt, %j, %c9 : index
      %keep = arith.cmpi eq, %p, %r : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Nor one of a product that is cut to 32 bits.

// CHECK-LABEL: func.func @wrapping(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @wrapping(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = arith.constant 123456789 : index
      %d = arith.muli %j, %c : index
      %n = arith.index_cast %d : index to i32
      %z = arith.constant 0 : i32
      %keep = arith.cmpi sge, %n, %z : i32
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Ranges of computed indices stay computed ones, also where they simplify to a bare coordinate; so does a single
// element.

// CHECK-LABEL: func.func @computed_indices(
// CHECK: } bounds (
// CHECK: attn.load_range %{{.*}}[%{{.*}}, %{{.*}} to %{{.*}}] {coordinates = array<i1: true, false>} : tensor<?x?xi32>
// CHECK: attn.load %{{.*}}[%{{.*}}] {coordinates = array<i1: false>} : tensor<?xi32>
// CHECK: } blocks (
// CHECK: attn.load_range %{{.*}}[%{{.*}}, %{{.*}} to %{{.*}}] {coordinates = array<i1: true, false>} : tensor<?x?xi32>
// CHECK: attn.load_range %{{.*}}[%{{.*}}, %{{.*}} to %{{.*}}] : tensor<?x?xi32>
func.func @computed_indices(%q: tensor<?x?x4x64xf32>, %ids: tensor<?x?xi32>, %len: tensor<?xi32>)
    -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %at = arith.addi %i, %c0 : index
      %entry = arith.addi %b, %c0 : index
      %m = attn.same_segment %ids[%b, %at], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      %p = attn.prefix %j, %len[%entry] : tensor<?xi32>
      %keep = arith.andi %m, %p : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// An absolute difference is no affine function of j, but it has a range.

// CHECK-LABEL: func.func @distance(
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[C0]], %[[CBEYOND]], %[[C0]], %[[CBEYOND]] : index, index, index, index
// CHECK-NEXT: } blocks (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KV1:.*]] = arith.subi %[[KI0]], %[[KJ1]] : index
// CHECK-NEXT: %[[KV2:.*]] = arith.subi %[[KI1]], %[[KJ0]] : index
// CHECK-NEXT: %[[KV3:.*]] = arith.subi %[[C0]], %[[KV1]] : index
// CHECK-NEXT: %[[KV4:.*]] = arith.subi %[[C0]], %[[KV2]] : index
// CHECK-NEXT: %[[KV5:.*]] = arith.maxsi %[[KV1]], %[[KV4]] : index
// CHECK-NEXT: %[[KV6:.*]] = arith.maxsi %[[KV5]], %[[C0]] : index
// CHECK-NEXT: %[[KV7:.*]] = arith.maxsi %[[KV3]], %[[KV2]] : index
// CHECK-NEXT: %[[KV8:.*]] = arith.cmpi sle, %[[KV7]], %[[C9]] : index
// CHECK-NEXT: %[[KV9:.*]] = arith.cmpi sle, %[[KV6]], %[[C9]] : index
// CHECK-NEXT: attn.yield %[[KV9]], %[[KV8]] : i1, i1
// CHECK-NEXT: } : (
func.func @distance(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c9 = arith.constant 9 : index
      %d = arith.subi %i, %j : index
      %n = math.absi %d : index
      %keep = arith.cmpi sle, %n, %c9 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A choice between masks, by the head: the keys of the one that is chosen, joined.

// CHECK-LABEL: func.func @heads_of_two_kinds(
// CHECK-DAG: %[[CMINUS255:.*]] = arith.constant -255 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[CBEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C255:.*]] = arith.constant 255 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: } bounds (%{{[a-z0-9_]+}}, %[[H:[a-z0-9_]+]], %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi slt, %[[H]], %[[C2]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.select %[[V1]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.select %[[V1]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V4:.*]] = arith.addi %[[I1]], %[[C1]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.addi %[[I0]], %[[C1]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.minsi %[[V3]], %[[V4]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.minsi %[[V3]], %[[V5]] : index
// CHECK-NEXT: %[[V8:.*]] = arith.cmpi sge, %[[H]], %[[C2]] : index
// CHECK-NEXT: %[[V9:.*]] = arith.select %[[V8]], %[[C0]], %[[CBEYOND]] : index
// CHECK-NEXT: %[[V10:.*]] = arith.select %[[V8]], %[[CBEYOND]], %[[C0]] : index
// CHECK-NEXT: %[[V11:.*]] = arith.addi %[[I0]], %[[CMINUS255]] : index
// CHECK-NEXT: %[[V12:.*]] = arith.addi %[[I1]], %[[CMINUS255]] : index
// CHECK-NEXT: %[[V13:.*]] = arith.maxsi %[[V9]], %[[V11]] : index
// CHECK-NEXT: %[[V14:.*]] = arith.minsi %[[V10]], %[[V4]] : index
// CHECK-NEXT: %[[V15:.*]] = arith.maxsi %[[V9]], %[[V12]] : index
// CHECK-NEXT: %[[V16:.*]] = arith.minsi %[[V10]], %[[V5]] : index
// CHECK-NEXT: %[[V17:.*]] = arith.minsi %[[V2]], %[[V13]] : index
// CHECK-NEXT: %[[V18:.*]] = arith.maxsi %[[V6]], %[[V14]] : index
// CHECK-NEXT: %[[V19:.*]] = arith.subi %[[V7]], %[[V2]] : index
// CHECK-NEXT: %[[V20:.*]] = arith.subi %[[V16]], %[[V15]] : index
// CHECK-NEXT: %[[V21:.*]] = arith.cmpi sge, %[[V19]], %[[V20]] : index
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V21]], %[[V2]], %[[V15]] : index
// CHECK-NEXT: %[[V23:.*]] = arith.select %[[V21]], %[[V7]], %[[V16]] : index
// CHECK-NEXT: %[[V24:.*]] = arith.maxsi %[[V17]], %[[C0]] : index
// CHECK-NEXT: %[[V25:.*]] = arith.maxsi %[[V22]], %[[C0]] : index
// CHECK-NEXT: attn.yield %[[V24]], %[[V25]], %[[V23]], %[[V18]] : index, index, index, index
// CHECK-NEXT: } blocks (%{{[a-z0-9_]+}}, %[[KH:[a-z0-9_]+]], %[[KI0:[a-z0-9_]+]], %[[KI1:[a-z0-9_]+]], %[[KJ0:[a-z0-9_]+]], %[[KJ1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KV1:.*]] = arith.cmpi slt, %[[KH]], %[[C2]] : index
// CHECK-NEXT: %[[KV2:.*]] = arith.cmpi sle, %[[KJ1]], %[[KI0]] : index
// CHECK-NEXT: %[[KV3:.*]] = arith.cmpi sle, %[[KJ0]], %[[KI1]] : index
// CHECK-NEXT: %[[KV4:.*]] = arith.subi %[[KI0]], %[[C255]] : index
// CHECK-NEXT: %[[KV5:.*]] = arith.subi %[[KI1]], %[[C255]] : index
// CHECK-NEXT: %[[KV6:.*]] = arith.cmpi sge, %[[KJ0]], %[[KV5]] : index
// CHECK-NEXT: %[[KV7:.*]] = arith.cmpi sge, %[[KJ1]], %[[KV4]] : index
// CHECK-NEXT: %[[KV8:.*]] = arith.andi %[[KV6]], %[[KV2]] : i1
// CHECK-NEXT: %[[KV9:.*]] = arith.andi %[[KV7]], %[[KV3]] : i1
// CHECK-NEXT: %[[KV10:.*]] = arith.andi %[[KV1]], %[[KV2]] : i1
// CHECK-NEXT: %[[KV11:.*]] = arith.cmpi sge, %[[KH]], %[[C2]] : index
// CHECK-NEXT: %[[KV12:.*]] = arith.andi %[[KV11]], %[[KV8]] : i1
// CHECK-NEXT: %[[KV13:.*]] = arith.ori %[[KV10]], %[[KV12]] : i1
// CHECK-NEXT: %[[KV14:.*]] = arith.ori %[[KV8]], %[[KV13]] : i1
// CHECK-NEXT: %[[KV15:.*]] = arith.andi %[[KV1]], %[[KV3]] : i1
// CHECK-NEXT: %[[KV16:.*]] = arith.andi %[[KV11]], %[[KV9]] : i1
// CHECK-NEXT: %[[KV17:.*]] = arith.ori %[[KV15]], %[[KV16]] : i1
// CHECK-NEXT: attn.yield %[[KV17]], %[[KV14]] : i1, i1
// CHECK-NEXT: } : (
func.func @heads_of_two_kinds(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c2 = arith.constant 2 : index
      %global = arith.cmpi slt, %h, %c2 : index
      %c = attn.causal %i, %j
      %w = attn.window %i, %j left(255) right(0)
      %keep = arith.select %global, %c, %w : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Without a mask there is nothing to derive, and what is there already is kept.

// CHECK-LABEL: func.func @without_mask(
// CHECK-NOT: bounds
// CHECK-NOT: blocks
// CHECK: return
func.func @without_mask(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// CHECK-LABEL: func.func @with_bounds(
// CHECK: bounds (%{{.*}}, %{{.*}}, %[[I0:.*]], %[[I1:.*]]) {
// CHECK-NEXT: attn.yield %[[I0]], %[[I0]], %[[I0]], %[[I1]] : index, index, index, index
// CHECK-NEXT: } : (
func.func @with_bounds(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } bounds (%b, %h, %i0, %i1) {
      attn.yield %i0, %i0, %i0, %i1 : index, index, index, index
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A closed form that holds for scalars within 2^40 only is chosen by a check of the scalar; past them nothing is known.

// CHECK-LABEL: func.func @scalars_that_wrap(
// CHECK-SAME: %[[W:[a-z0-9]+]]: index
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant 1099511627776 : index
// CHECK-DAG: %[[NEGATIVE:.*]] = arith.constant -1099511627776 : index
// CHECK-DAG: %[[BEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: } bounds (
// CHECK: %[[HIGH:.*]] = arith.addi %{{.*}}, %[[W]] : index
// CHECK: %[[ABOVE:.*]] = arith.cmpi sge, %[[W]], %[[NEGATIVE]] : index
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[W]], %[[LIMIT]] : index
// CHECK: %[[CHECK:.*]] = arith.andi %[[ABOVE]], %[[BELOW]] : i1
// CHECK: arith.select %[[CHECK]], %{{.*}}, %[[C0]] : index
// CHECK: arith.select %[[CHECK]], %{{.*}}, %[[BEYOND]] : index
func.func @scalars_that_wrap(%q: tensor<?x?x4x64xf32>, %w: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %last = arith.addi %i, %w : index
      %keep = arith.cmpi sle, %j, %last : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Lengths from data, and windows of queries that stand anywhere: ends are near enough to be subtracted in 32 bits.

// CHECK-LABEL: func.func @far_ends(
// CHECK-DAG: %[[BEYOND:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[BEFORE:.*]] = arith.constant -1073741824 : index
// CHECK: } bounds (
// CHECK: %[[LENGTH:.*]] = attn.load
// CHECK-NEXT: %[[END:.*]] = arith.index_cast %[[LENGTH]] : i32 to index
// CHECK-DAG: %[[HIGH:.*]] = arith.maxsi %[[END]], %[[BEFORE]] : index
// CHECK-DAG: %[[LOW:.*]] = arith.minsi %{{.*}}, %[[BEYOND]] : index
// CHECK-DAG: %[[FULL:.*]] = arith.minsi %{{.*}}, %[[BEYOND]] : index
// CHECK: attn.yield %[[LOW]], %[[FULL]], %[[HIGH]], %[[HIGH]] : index, index, index, index
func.func @far_ends(%q: tensor<?x?x4x64xf32>, %len: tensor<?xi32>, %n: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q q_offset(%n)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(7)
      %p = attn.prefix %j, %len[%b] : tensor<?xi32>
      %keep = arith.andi %w, %p : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A backward has the transpose as well: the queries that see a tile of keys, as i64, since positions may be past the ends
// of 32 bits. From the first key of a tile on, a causal mask has some; from the last on, it has all.

// CHECK-LABEL: func.func @backward(
// CHECK: bounds (
// CHECK: } query_bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[J0:[a-z0-9_]+]], %[[J1:[a-z0-9_]+]]) {
// CHECK-DAG: %[[A:.*]] = arith.maxsi %[[J0]], %{{.*}} : index
// CHECK-DAG: %[[B:.*]] = arith.maxsi %[[J1]], %{{.*}} : index
// CHECK: %[[LOW:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: %[[FULL:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: attn.yield %[[LOW]], %[[FULL]], %c1099511627776_i64, %c1099511627776_i64 : i64, i64, i64, i64
func.func @backward(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>,
                    %o: tensor<?x?x4x64xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x64xf32>)
    -> tensor<?x?x4x64xf32> {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x4x?xf32>,
         tensor<?x?x4x64xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>)
  return %dq : tensor<?x?x4x64xf32>
}
