// RUN: attnc-opt %s --attn-expand --canonicalize --cse --attn-infer-bounds --canonicalize --cse -split-input-file \
// RUN:   | FileCheck %s

// What is derived from a mask: `bounds` in closed form, and `blocks` where that does not say everything
// (infer-bounds-blocks.mlir). That it is right is held against brute force in test/unit/passes.

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
