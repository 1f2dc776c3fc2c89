// RUN: attnc-opt %s --nvrtc-define-bit-masks | FileCheck %s
// RUN: attnc compile %S/../nvptx/bit-masks.mlir --entry shifted --target nvrtc:sm_80 --emit cuda -o - \
// RUN:   | FileCheck %s --check-prefix CUDA

// Both loops of a kernel read the mask that is made before them.
// CUDA: const bool [[BATCH:is[0-9]+]] = n{{[0-9]+}} > 1u;
// CUDA-NEXT: const u32 [[MASK:n[0-9]+]] = bitMask([[BATCH]]);
// CUDA: for (
// CUDA: & [[MASK]]
// CUDA: for (
// CUDA: & [[MASK]]
// CUDA-NOT: bitMask(

// One mask for all loops, right after the condition.
// CHECK-LABEL: llvm.func @loops(
llvm.func @loops(%n: i32, %x: i32, %y: i32, %to: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ones = arith.constant -1 : i32
  // CHECK: %[[C:.*]] = arith.cmpi ugt
  // CHECK-NEXT: %[[M:.*]] = llvm.inline_asm "selp.b32 $0, -1, 0, $1;", "=r,b" %[[C]]
  // CHECK-NEXT: %[[ONES:.*]] = arith.constant -1
  // CHECK-NEXT: %[[NOT:.*]] = arith.xori %[[M]], %[[ONES]]
  %c = arith.cmpi ugt, %n, %one : i32
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: scf.for
    // CHECK: %[[BITS:.*]] = arith.ori
    // CHECK-NEXT: arith.andi %[[BITS]], %[[M]]
    %bits = arith.ori %i, %x : i32
    %kept = arith.select %c, %bits, %zero : i32
    llvm.store volatile %kept, %to : i32, !llvm.ptr
  }
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: scf.for
    // CHECK-NOT: arith.extsi
    // CHECK: arith.andi %{{.*}}, %[[M]]
    %mask = arith.extsi %c : i1 to i32
    %word = arith.addi %i, %y : i32
    %kept = arith.andi %word, %mask : i32
    llvm.store volatile %kept, %to : i32, !llvm.ptr
  }
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: scf.for
    // CHECK: %[[DROPPED:.*]] = arith.andi %{{.*}}, %[[NOT]]
    // CHECK-NEXT: arith.andi %[[DROPPED]]
    %word = arith.addi %i, %y : i32
    %dropped = arith.select %c, %zero, %word : i32
    %kept = arith.andi %dropped, %x : i32
    llvm.store volatile %kept, %to : i32, !llvm.ptr
  }
  llvm.return
}

// Neither a selection in the block of its condition nor one of numbers becomes a mask.
// CHECK-LABEL: llvm.func @others(
// CHECK-NOT: llvm.inline_asm
llvm.func @others(%n: i32, %x: i32, %to: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c = arith.cmpi ugt, %n, %one : i32
  %beside = arith.select %c, %x, %zero : i32
  %and = arith.andi %beside, %n : i32
  llvm.store volatile %and, %to : i32, !llvm.ptr
  scf.for %i = %zero to %n step %one : i32 {
    %number = arith.select %c, %i, %zero : i32
    llvm.store volatile %number, %to : i32, !llvm.ptr
  }
  llvm.return
}
