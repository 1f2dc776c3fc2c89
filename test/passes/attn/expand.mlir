// RUN: attnc-opt %s --attn-expand -split-input-file | FileCheck %s

// Every sugar operation becomes what docs/spec.md says it means.

// CHECK-NOT: attn.softcap
// CHECK-NOT: attn.alibi
// CHECK-NOT: attn.bias
// CHECK-NOT: attn.causal
// CHECK-NOT: attn.window
// CHECK-NOT: attn.same_segment
// CHECK-NOT: attn.prefix

// A literal cap multiplies by its reciprocal.
// CHECK-LABEL: func.func @softcap_literal(
// CHECK: score (%[[S:[a-z0-9_]+]],
// CHECK-DAG: %[[CAP:.*]] = arith.constant 5.000000e+01 : f32
// CHECK-DAG: %[[INVERSE:.*]] = arith.constant 2.000000e-02 : f32
// CHECK: %[[RATIO:.*]] = arith.mulf %[[S]], %[[INVERSE]] : f32
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[RATIO]] : f32
// CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[CAP]], %[[TANH]] : f32
// CHECK-NEXT: attn.yield %[[CAPPED]] : f32
func.func @softcap_literal(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 50.0
      attn.yield %c : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @softcap_value(
// CHECK-SAME: %[[CAP:[a-z0-9_]+]]: f32
// CHECK: score (%[[S:[a-z0-9_]+]],
// CHECK-NEXT: %[[RATIO:.*]] = arith.divf %[[S]], %[[CAP]] : f32
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[RATIO]] : f32
// CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[CAP]], %[[TANH]] : f32
// CHECK-NEXT: attn.yield %[[CAPPED]] : f32
func.func @softcap_value(%q: tensor<?x?x4x64xf32>, %cap: f32) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, %cap
      attn.yield %c : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// An infinite cap changes nothing; the launch has looked at one that is an argument.
// CHECK-LABEL: func.func @softcap_computed(
// CHECK: score (%[[S:[a-z0-9_]+]],
// CHECK: %[[CAP:.*]] = arith.addf
// CHECK: %[[CAPPED:.*]] = arith.mulf %[[CAP]], %{{.*}} : f32
// CHECK-NEXT: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %[[CAP]], %[[INF]] : f32
// CHECK-NEXT: %[[X:.*]] = arith.select %[[NONE]], %[[S]], %[[CAPPED]] : f32
// CHECK-NEXT: attn.yield %[[X]] : f32
func.func @softcap_computed(%q: tensor<?x?x4x64xf32>, %cap: f32) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = arith.addf %cap, %cap : f32
      %x = attn.softcap %s, %c
      attn.yield %x : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @alibi(
// CHECK-SAME: %[[SLOPES:[a-z0-9_]+]]: tensor<4xf32>
// CHECK: score (%[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[H:[a-z0-9_]+]], %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[SLOPE:.*]] = attn.load %[[SLOPES]][%[[H]]] : tensor<4xf32>
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK-NEXT: %[[N:.*]] = math.absi %[[D]] : index
// CHECK-NEXT: %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[N32]] : i32 to f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[SLOPE]], %[[X]] : f32
// CHECK-NEXT: %[[Y:.*]] = arith.subf %[[S]], %[[P]] : f32
// CHECK-NEXT: attn.yield %[[Y]] : f32
func.func @alibi(%q: tensor<?x?x4x64xf32>, %slopes: tensor<4xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      attn.yield %c : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// What is narrower than f32 is widened first.

// CHECK-LABEL: func.func @alibi_narrow(
// CHECK: %[[SLOPE:.*]] = attn.load %{{.*}} : tensor<4xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[SLOPE]] : bf16 to f32
// CHECK: arith.mulf %[[WIDE]],
func.func @alibi_narrow(%q: tensor<?x?x4x64xf32>, %slopes: tensor<4xbf16>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xbf16>
      attn.yield %c : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %[[T:[a-z0-9_]+]]: tensor<4x?x?xf32>, %[[U:[a-z0-9_]+]]: tensor<1x1x?x?xf16>
// CHECK: score (%[[S:[a-z0-9_]+]], %[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[X:.*]] = attn.load %[[T]][%[[H]], %[[I]], %[[J]]] : tensor<4x?x?xf32>
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[S]], %[[X]] : f32
// CHECK-NEXT: %[[Y:.*]] = attn.load %[[U]][%[[B]], %[[H]], %[[I]], %[[J]]] : tensor<1x1x?x?xf16>
// CHECK-NEXT: %[[Z:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[Z]] : f32
// CHECK-NEXT: attn.yield %[[C]] : f32
func.func @bias(%q: tensor<?x?x4x64xf32>, %t: tensor<4x?x?xf32>, %u: tensor<1x1x?x?xf16>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %a = attn.bias %s, %t[%h, %i, %j] : tensor<4x?x?xf32>
      %c = attn.bias %a, %u[%b, %h, %i, %j] : tensor<1x1x?x?xf16>
      attn.yield %c : f32
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @causal(
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @causal(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @window(
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : index
// CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[I]], %[[C7]] : index
// CHECK-NEXT: %[[LEFT:.*]] = arith.cmpi sge, %[[J]], %[[FIRST]] : index
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[I]], %[[C2]] : index
// CHECK-NEXT: %[[RIGHT:.*]] = arith.cmpi sle, %[[J]], %[[LAST]] : index
// CHECK-NEXT: %[[KEEP:.*]] = arith.andi %[[LEFT]], %[[RIGHT]] : i1
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @window(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(7) right(2)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// One side only, as a value: the distance of positions, which fits 32 bits, is compared with it.

// CHECK-LABEL: func.func @window_left(
// CHECK-SAME: %[[W:[a-z0-9_]+]]: index
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK-NEXT: %[[BELOW:.*]] = arith.minsi %[[W]], %[[MOST]] : index
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[SIDE:.*]] = arith.maxsi %[[BELOW]], %[[C0]] : index
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi sle, %[[DISTANCE]], %[[SIDE]] : index
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @window_left(%q: tensor<?x?x4x64xf32>, %w: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(%w)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @window_right(
// CHECK-SAME: %[[W:[a-z0-9_]+]]: index
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK-NEXT: %[[BELOW:.*]] = arith.minsi %[[W]], %[[MOST]] : index
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[SIDE:.*]] = arith.maxsi %[[BELOW]], %[[C0]] : index
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[J]], %[[I]] : index
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi sle, %[[DISTANCE]], %[[SIDE]] : index
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @window_right(%q: tensor<?x?x4x64xf32>, %w: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j right(%w)
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A literal that reaches every position is no side; one less is.

// CHECK-LABEL: func.func @window_beyond(
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[J]], %[[I]] : index
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi sle, %[[DISTANCE]], %[[MOST]] : index
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: arith.andi %[[KEEP]], %[[TRUE]] : i1
func.func @window_beyond(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(2147483648) right(2147483647)
      %x = attn.window %i, %j left(9223372036854775807) right(9223372036854775807)
      %keep = arith.andi %w, %x : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A window without sides keeps everything.

// CHECK-LABEL: func.func @window_unbounded(
// CHECK: mask
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: attn.yield %[[TRUE]] : i1
func.func @window_unbounded(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @same_segment(
// CHECK-SAME: %[[QS:[a-z0-9_]+]]: tensor<?x?xi32>, %[[KS:[a-z0-9_]+]]: tensor<?xi32>
// CHECK: mask (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[X:.*]] = attn.load %[[QS]][%[[B]], %[[I]]] : tensor<?x?xi32>
// CHECK-NEXT: %[[Y:.*]] = attn.load %[[KS]][%[[J]]] : tensor<?xi32>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[EQUAL:.*]] = arith.cmpi eq, %[[X]], %[[Y]] : i32
// CHECK-NEXT: %[[LIVE:.*]] = arith.cmpi sge, %[[X]], %[[ZERO]] : i32
// CHECK-NEXT: %[[KEEP:.*]] = arith.andi %[[EQUAL]], %[[LIVE]] : i1
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @same_segment(%q: tensor<?x?x4x64xf32>, %qs: tensor<?x?xi32>, %ks: tensor<?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %qs[%b, %i], %ks[%j] : tensor<?x?xi32>, tensor<?xi32>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @prefix(
// CHECK-SAME: %[[LEN:[a-z0-9_]+]]: tensor<?xi32>
// CHECK: mask (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[N:.*]] = attn.load %[[LEN]][%[[B]]] : tensor<?xi32>
// CHECK-NEXT: %[[LIMIT:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi slt, %[[J]], %[[LIMIT]] : index
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @prefix(%q: tensor<?x?x4x64xf32>, %len: tensor<?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %keep = attn.prefix %j, %len[%b] : tensor<?xi32>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Loads inherit which indices are coordinates.

// CHECK-LABEL: func.func @computed_indices(
// CHECK: score (
// CHECK-NEXT: attn.load %{{.*}}[%{{.*}}] {coordinates = array<i1: false>} : tensor<4xf32>
// CHECK: attn.load %{{.*}}[%{{.*}}, %{{.*}}] {coordinates = array<i1: false, true>} : tensor<?x?xf32>
// CHECK: mask (
// CHECK-NEXT: attn.load %{{.*}}[%{{.*}}, %{{.*}}] {coordinates = array<i1: true, false>} : tensor<?x?xi32>
// CHECK-NEXT: attn.load %{{.*}}[%{{.*}}] : tensor<?xi32>
// CHECK: attn.load %{{.*}}[%{{.*}}] : tensor<?xi32>
// CHECK-NEXT: attn.load %{{.*}}[%{{.*}}] {coordinates = array<i1: false>} : tensor<?xi32>
// CHECK: attn.load %{{.*}}[%{{.*}}] {coordinates = array<i1: false>} : tensor<?xi32>
func.func @computed_indices(%q: tensor<?x?x4x64xf32>, %slopes: tensor<4xf32>, %t: tensor<?x?xf32>,
                            %qs: tensor<?x?xi32>, %ks: tensor<?xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %a = attn.alibi %s, %slopes[%h], %i, %j {coordinates = array<i1: false>} : tensor<4xf32>
      %c = attn.bias %a, %t[%i, %j] {coordinates = array<i1: false, true>} : tensor<?x?xf32>
      attn.yield %c : f32
    }
    mask (%b, %h, %i, %j) {
      %m = attn.same_segment %qs[%b, %i], %ks[%j] {coordinates = array<i1: true, false, true>} : tensor<?x?xi32>, tensor<?xi32>
      %n = attn.same_segment %ks[%i], %ks[%j] {coordinates = array<i1: true, false>} : tensor<?xi32>, tensor<?xi32>
      %p = attn.prefix %j, %ks[%b] {coordinates = array<i1: false>} : tensor<?xi32>
      %mn = arith.andi %m, %n : i1
      %keep = arith.andi %mn, %p : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}
