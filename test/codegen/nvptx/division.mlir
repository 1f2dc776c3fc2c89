// Quotients and remainders of words, run on this machine: for divisors and dividends of all sizes they are those of the
// machine's own division.

// RUN: attnc-opt %s --nvptx-expand-math | FileCheck %s --check-prefix=IR
// RUN: attnc-opt %s --nvptx-expand-math \
// RUN:   | mlir-opt --convert-scf-to-cf --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm \
// RUN:       --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// CHECK: {{^0$}}

// What the divisor decides stands by itself: its reciprocal, and one step of Newton's.
// IR-LABEL: func.func @divide(
// IR-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32)
// IR-NOT: divui
// IR: %[[F:.*]] = arith.uitofp %[[Y]] : i32 to f32
// IR: %[[R:.*]] = arith.divf %{{.*}}, %[[F]] fastmath<afn> : f32
// IR: arith.fptoui
// IR: arith.mului_extended %[[X]],
// IR-NOT: divui
// IR: return
func.func @divide(%x: i32, %y: i32) -> i32 {
  %q = arith.divui %x, %y : i32
  return %q : i32
}

// IR-LABEL: func.func @rest(
// IR-NOT: remui
// IR: return
func.func @rest(%x: i32, %y: i32) -> i32 {
  %r = arith.remui %x, %y : i32
  return %r : i32
}

// Constants are left to LLVM, which knows better.
// IR-LABEL: func.func @by_seven(
// IR: arith.divui
func.func @by_seven(%x: i32) -> i32 {
  %c = arith.constant 7 : i32
  %q = arith.divui %x, %c : i32
  return %q : i32
}

// Numbers of a linear congruential generator, shifted so that all sizes occur.
func.func @main() -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 1000000 : index
  %seed = arith.constant 88172645463325252 : i64
  %factor = arith.constant 6364136223846793005 : i64
  %increment = arith.constant 1442695040888963407 : i64
  %high = arith.constant 32 : i64
  %six = arith.constant 59 : i64
  %good = arith.constant 0 : i32
  %bad = arith.constant 1 : i32
  %one32 = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %steps step %one iter_args(%state = %seed, %worst = %good) -> (i64, i32) {
    %m0 = arith.muli %state, %factor : i64
    %s0 = arith.addi %m0, %increment : i64
    %m1 = arith.muli %s0, %factor : i64
    %s1 = arith.addi %m1, %increment : i64
    %m2 = arith.muli %s1, %factor : i64
    %s2 = arith.addi %m2, %increment : i64
    %x0 = arith.shrui %s0, %high : i64
    %y0 = arith.shrui %s1, %high : i64
    %shift = arith.shrui %s2, %six : i64
    %y1 = arith.shrui %y0, %shift : i64
    %x = arith.trunci %x0 : i64 to i32
    %y2 = arith.trunci %y1 : i64 to i32
    %y = arith.maxui %y2, %one32 : i32
    %q = func.call @divide(%x, %y) : (i32, i32) -> i32
    %r = func.call @rest(%x, %y) : (i32, i32) -> i32
    // In 64 bits division stays what it is.
    %wideX = arith.extui %x : i32 to i64
    %wideY = arith.extui %y : i32 to i64
    %exactQ = arith.divui %wideX, %wideY : i64
    %exactR = arith.remui %wideX, %wideY : i64
    %gotQ = arith.extui %q : i32 to i64
    %gotR = arith.extui %r : i32 to i64
    %sameQ = arith.cmpi eq, %exactQ, %gotQ : i64
    %sameR = arith.cmpi eq, %exactR, %gotR : i64
    %same = arith.andi %sameQ, %sameR : i1
    %next = arith.select %same, %worst, %bad : i32
    scf.yield %s2, %next : i64, i32
  }
  return %r#1 : i32
}
