// Guards where MLIR leaves a result open, and none where ranges prove that it does not.
// RUN: attnc-opt %s --attn-define-arithmetic | FileCheck %s
// RUN: attnc-opt %s --attn-define-arithmetic --canonicalize | FileCheck %s --check-prefix=FOLDED

!t = tensor<1x4x1x8xf32>

// CHECK-LABEL: func @safe
// CHECK: %[[D:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK-NEXT: arith.remsi %[[D]], %c4 : index
// CHECK-NEXT: arith.divsi %[[D]], %c-1 : index
// CHECK-NEXT: arith.shrsi %[[D]], %c4 : index
// CHECK-NEXT: arith.maxsi
// CHECK-NEXT: arith.floordivsi
// CHECK-NOT: select
// CHECK: attn.yield
func.func @safe(%q: !t, %k: !t, %v: !t, %w: index) -> !t {
  %o = attn.forward %q, %k, %v mask (%b, %h, %i, %j) {
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %m = arith.constant -1 : index
      %d = arith.subi %i, %j overflow<nsw> : index
      %r = arith.remsi %d, %c4 : index
      %n = arith.divsi %d, %m : index
      %s = arith.shrsi %d, %c4 exact : index
      %p = arith.maxsi %w, %c1 : index
      %f = arith.floordivsi %d, %p : index
      %x = arith.addi %r, %n : index
      %y = arith.addi %s, %f : index
      %keep = arith.cmpi slt, %x, %y : index
      attn.yield %keep : i1
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// CHECK-LABEL: func @unsafe
// CHECK-SAME: %[[W:[^ ]*]]: i32, %{{[^ ]*}}: f32)
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[W]], %{{.*}} : i32
// CHECK: %[[SOME:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[W]] : i32
// CHECK: %[[LEAST:.*]] = arith.cmpi eq, %[[X:.*]], %c-2147483648_i32 : i32
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[W]], %c-1_i32 : i32
// CHECK: %[[WRAPS:.*]] = arith.andi %[[LEAST]], %[[MINUS]] : i1
// CHECK: %[[SAFE:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[SOME]] : i32
// CHECK: %[[R:.*]] = arith.remsi %[[X]], %[[SAFE]] : i32
// CHECK: arith.select %[[ZERO]], %[[X]], %[[R]] : i32
// CHECK: %[[WITHIN:.*]] = arith.cmpi ult, %[[W]], %c32_i32 : i32
// CHECK: %[[AMOUNT:.*]] = arith.select %[[WITHIN]], %[[W]], %{{.*}} : i32
// CHECK: %[[SHIFTED:.*]] = arith.shli %{{.*}}, %[[AMOUNT]] : i32
// CHECK: arith.select %[[WITHIN]], %[[SHIFTED]], %{{.*}} : i32
// CHECK: arith.fptosi %{{.*}} : f32 to i8
func.func @unsafe(%q: !t, %k: !t, %v: !t, %w: i32, %z: f32) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %x = arith.index_cast %j : index to i32
      %l = arith.constant -2147483647 : i32
      %m = arith.muli %x, %l : i32
      %r = arith.remsi %m, %w : i32
      %a = arith.shli %r, %w : i32
      %f = arith.fptosi %z : f32 to i8
      %e = arith.extsi %f : i8 to i32
      %n = arith.addi %a, %e : i32
      %y = arith.sitofp %n : i32 to f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// Constants fold to what the language says, whatever a folder of their operation would make of them.
// FOLDED-LABEL: func @constants
// FOLDED: %[[SUM:.*]] = arith.constant -1.220000e+02 : f32
// FOLDED: score
// FOLDED-NEXT: attn.yield %[[SUM]] : f32
func.func @constants(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %c0 = arith.constant 0 : i8
      %c7 = arith.constant 7 : i8
      %c9 = arith.constant 9 : i8
      %m1 = arith.constant -1 : i8
      %least = arith.constant -128 : i8
      %0 = arith.divsi %c7, %c0 : i8       // 0
      %1 = arith.remui %c7, %c0 : i8       // 7
      %2 = arith.divsi %least, %m1 : i8    // -128
      %3 = arith.shli %c7, %c9 : i8        // 0
      %4 = arith.shrsi %least, %c9 : i8    // -1
      %5 = arith.shrui %least, %c9 : i8    // 0
      %6 = arith.addi %0, %1 : i8
      %7 = arith.addi %2, %3 : i8
      %8 = arith.addi %4, %5 : i8
      %9 = arith.addi %6, %7 : i8
      %10 = arith.addi %8, %9 : i8         // -122
      %y = arith.sitofp %10 : i8 to f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// CHECK-LABEL: func @always
// CHECK-NOT: cmpf
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: arith.select %[[TRUE]]
func.func @always(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %c = arith.constant 0.5 : f32
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      %x = arith.cmpf true, %f, %c : f32
      %y = arith.select %x, %s, %f : f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// An index that may need 64 bits is cut by a truncation: MLIR takes a cast to i32 and one back for the index itself.
// Positions fit, and stay.
// CHECK-LABEL: func @narrowing
// CHECK: %[[WORD:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: %[[LOW:.*]] = arith.trunci %[[WORD]] : i64 to i32
// CHECK: arith.index_cast %[[LOW]] : i32 to index
// CHECK: %[[LOW:.*]] = arith.trunci %{{.*}} : i64 to i8
// CHECK: arith.index_castui %[[LOW]] : i8 to index
// CHECK: arith.index_cast %j : index to i32
func.func @narrowing(%q: !t, %k: !t, %v: !t, %n: index) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %low = arith.index_cast %n : index to i32
      %back = arith.index_cast %low : i32 to index
      %byte = arith.index_castui %n : index to i8
      %wide = arith.index_castui %byte : i8 to index
      %sum = arith.addi %back, %wide : index
      %i64 = arith.index_cast %sum : index to i64
      %f = arith.sitofp %i64 : i64 to f32
      %j32 = arith.index_cast %j : index to i32
      %g = arith.sitofp %j32 : i32 to f32
      %x = arith.addf %f, %g : f32
      attn.yield %x : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}
