// RUN: attnc-opt %s --attn-expand --canonicalize --cse --attn-infer-bounds --canonicalize --cse -split-input-file \
// RUN:   | FileCheck %s

// What is derived from a mask where `bounds` do not say everything: `blocks`, which compares tiles by ranges, those
// of captured tensors too.

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
