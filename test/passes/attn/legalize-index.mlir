// RUN: attnc-opt %s --attn-legalize-index --canonicalize -split-input-file | FileCheck %s

// What is the same in 32 bits stays as it is; all else computes in i64. That both mean the same is held against brute
// force in test/unit/passes.

// Plain masks stay as they are.

// CHECK-LABEL: func.func @plain(
// CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK-NEXT: %[[N:.*]] = math.absi %[[D]] : index
// CHECK-NEXT: %[[R:.*]] = arith.remsi %[[N]], %{{.*}} : index
// CHECK-NEXT: %[[A:.*]] = arith.cmpi eq, %[[R]], %{{.*}} : index
// CHECK-NEXT: %[[B:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT: arith.andi %[[A]], %[[B]] : i1
func.func @plain(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %d = arith.subi %i, %j : index
      %n = math.absi %d : index
      %r = arith.remsi %n, %c4 : index
      %x = arith.cmpi eq, %r, %c0 : index
      %y = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %x, %y : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A scalar may be anything; once it is limited, 32 bits will do again.

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[W:[a-z0-9]+]]: index
// CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK-DAG: %[[W64:.*]] = arith.index_cast %[[W]] : index to i64
// CHECK-DAG: %[[I64:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-DAG: %[[J64:.*]] = arith.index_cast %[[J]] : index to i64
// CHECK: %[[SUM:.*]] = arith.addi %[[I64]], %[[W64]] : i64
// CHECK: arith.cmpi sle, %[[J64]], %[[SUM]] : i64
// CHECK: %[[LIMITED:.*]] = arith.minui %[[W64]], %{{.*}} : i64
// CHECK: %[[NARROW:.*]] = arith.index_cast %[[LIMITED]] : i64 to index
// CHECK: %[[D:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK: arith.cmpi slt, %[[D]], %[[NARROW]] : index
func.func @scalars(%q: tensor<?x?x4x64xf32>, %w: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c99 = arith.constant 99 : index
      %s = arith.addi %i, %w : index
      %x = arith.cmpi sle, %j, %s : index
      %l = arith.minui %w, %c99 : index
      %d = arith.subi %i, %j : index
      %y = arith.cmpi slt, %d, %l : index
      %keep = arith.andi %x, %y : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Unsigned operations and long shifts look at bits that 32 do not have. A signed shift past them finds the sign.

// CHECK-LABEL: func.func @bits(
// CHECK-DAG: %[[C31:.*]] = arith.constant 31 : index
// CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK: %[[D:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK: %[[D64:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: arith.remui %[[D64]], %{{.*}} : i64
// CHECK: arith.shrui %[[D64]], %{{.*}} : i64
// CHECK: math.ctlz %[[D64]] : i64
// CHECK: arith.shrsi %[[D]], %[[C31]] : index
func.func @bits(%q: tensor<?x?x4x64xf32>, %t: tensor<64xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c7 = arith.constant 7 : index
      %c40 = arith.constant 40 : index
      %c63 = arith.constant 63 : index
      %d = arith.subi %i, %j : index
      %x = arith.remui %d, %c7 : index
      %y = arith.shrui %d, %c40 : index
      %z = math.ctlz %d : index
      %s = arith.shrsi %d, %c63 : index
      %xy = arith.xori %x, %y : index
      %zs = arith.xori %z, %s : index
      %all = arith.xori %xy, %zs : index
      %keep = attn.load %t[%all] : tensor<64xi1>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// An offset lets positions reach 2^31: a sum with one may not fit then, and a distance does.

// CHECK-LABEL: func.func @offset(
// CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: arith.subi %[[I]], %[[J]] : index
func.func @offset(%q: tensor<?x?x4x64xf32>, %n: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q q_offset(%n)
    mask (%b, %h, %i, %j) {
      %c9 = arith.constant 9 : index
      %s = arith.addi %i, %c9 : index
      %x = arith.cmpi sle, %j, %s : index
      %d = arith.subi %i, %j : index
      %y = arith.cmpi sle, %d, %c9 : index
      %keep = arith.andi %x, %y : i1
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A sum that fits, of parts that do not without a constant in it: emitters take constants out of sums.

// CHECK-LABEL: func.func @constants_in_sums(
// CHECK: arith.addi %{{.*}}, %{{.*}} : index
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
func.func @constants_in_sums(%q: tensor<?x?x4x64xf32>, %n: index, %t: tensor<?xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q q_offset(%n)
    mask (%b, %h, %i, %j) {
      %far = arith.constant -1000000000 : index
      %x = arith.addi %i, %far : index
      %y = arith.addi %x, %j : index
      %keep = attn.load %t[%y] : tensor<?xi1>
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}
