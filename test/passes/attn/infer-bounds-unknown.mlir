// RUN: attnc-opt %s --attn-expand --canonicalize --cse --attn-infer-bounds --canonicalize --cse -split-input-file \
// RUN:   | FileCheck %s

// Where little or nothing is derived: from masks that cannot be solved for, and without one.

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
