// RUN: attnc-opt %s --attn-expand --canonicalize --cse --attn-infer-bounds --canonicalize --cse -split-input-file \
// RUN:   | FileCheck %s

// Bounds by numbers that may be far away: scalars of the launch, lengths from data, and where queries stand.

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
