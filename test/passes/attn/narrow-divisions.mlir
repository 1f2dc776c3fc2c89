// RUN: attnc-opt %s --attn-narrow-divisions --canonicalize -split-input-file | FileCheck %s

// A division whose dividend fits 32 bits is one of 32 bits, whatever the divisor is. That both mean the same is held against
// brute force in test/unit/passes.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: mask (%{{.*}}, %{{.*}}, %[[I:.*]], %[[J:.*]]) {
// CHECK: %[[D:.*]] = arith.subi %[[I]], %[[J]] : index
// CHECK: %[[D64:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: %[[X:.*]] = arith.trunci %[[D64]] : i64 to i32
// CHECK: %[[N64:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[Y:.*]] = arith.trunci %[[N64]] : i64 to i32
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[AGAIN:.*]] = arith.extsi %[[Y]] : i32 to i64
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[AGAIN]], %[[WIDE]] : i64
// CHECK: %[[SAFE:.*]] = arith.select %[[FITS]], %[[Y]], %c1_i32 : i32
// CHECK: %[[Q:.*]] = arith.floordivsi %[[X]], %[[SAFE]] : i32
// CHECK: %[[BEYOND:.*]] = arith.select %{{.*}}, %c-1_i32, %c0_i32 : i32
// CHECK: %[[R:.*]] = arith.select %[[FITS]], %[[Q]], %[[BEYOND]] : i32
// CHECK: arith.index_cast %[[R]] : i32 to index
func.func @blocks(%q: tensor<?x?x4x64xf32>, %n: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c3 = arith.constant 3 : index
      %d = arith.subi %i, %j : index
      %x = arith.floordivsi %d, %n : index
      %keep = arith.cmpi slt, %x, %c3 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// A divisor of 32 bits needs no look. It may be 0 as far as is known, so the remainder could be anything of 64 bits.

// CHECK-LABEL: func.func @dilated(
// CHECK: mask
// CHECK-NOT: arith.select
// CHECK: arith.remsi %{{.*}}, %{{.*}} : i32
// CHECK-NOT: arith.select
// CHECK: attn.yield
func.func @dilated(%q: tensor<?x?x4x64xf32>, %w: tensor<4xi32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %e = attn.load %w[%h] : tensor<4xi32>
      %n = arith.index_cast %e : i32 to index
      %d = arith.subi %i, %j : index
      %r = arith.remsi %d, %n : index
      %keep = arith.cmpi eq, %r, %c0 : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// What may not fit stays as it is: a product of positions, and a distance without a sign.

// CHECK-LABEL: func.func @wide(
// CHECK: arith.divsi %{{.*}}, %{{.*}} : index
// CHECK: arith.divui %{{.*}}, %{{.*}} : index
// CHECK: attn.yield
func.func @wide(%q: tensor<?x?x4x64xf32>, %n: index) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %s = arith.muli %i, %j : index
      %x = arith.divsi %s, %n : index
      %d = arith.subi %i, %j : index
      %y = arith.divui %d, %n : index
      %keep = arith.cmpi slt, %x, %y : index
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// Positions by constants stay in index, which attn-legalize-index takes care of; numbers of i64 do not.

// CHECK-LABEL: func.func @constants(
// CHECK: arith.divsi %{{.*}}, %{{.*}} : index
// CHECK: arith.remsi %{{.*}}, %{{.*}} : i32
// CHECK: attn.yield
func.func @constants(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c7 = arith.constant 7 : index
      %c7_i64 = arith.constant 7 : i64
      %c3 = arith.constant 3 : i64
      %x = arith.divsi %i, %c7 : index
      %i64 = arith.index_cast %x : index to i64
      %r = arith.remsi %i64, %c7_i64 : i64
      %keep = arith.cmpi slt, %r, %c3 : i64
      attn.yield %keep : i1
    } : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}
