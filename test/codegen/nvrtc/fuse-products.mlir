// RUN: attnc-opt %s --nvrtc-fuse-products --canonicalize | FileCheck %s

// Both operations have to allow it.
// CHECK-LABEL: llvm.func @fuse(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
llvm.func @fuse(%a: f32, %b: f32, %c: f32, %to: !llvm.ptr) {
  // CHECK: math.fma %[[A]], %[[B]], %[[C]] : f32
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %sum = arith.addf %p, %c fastmath<contract> : f32
  llvm.store volatile %sum, %to : f32, !llvm.ptr
  // CHECK: %[[N:.*]] = arith.negf %[[C]]
  // CHECK: math.fma %[[A]], %[[B]], %[[N]] : f32
  %difference = arith.subf %p, %c fastmath<contract> : f32
  llvm.store volatile %difference, %to : f32, !llvm.ptr
  // CHECK: %[[M:.*]] = arith.negf %[[A]]
  // CHECK: math.fma %[[M]], %[[B]], %[[C]] : f32
  %other = arith.subf %c, %p fastmath<contract> : f32
  llvm.store volatile %other, %to : f32, !llvm.ptr
  // CHECK: arith.mulf
  // CHECK-NEXT: arith.addf
  %exact = arith.mulf %a, %b : f32
  %apart = arith.addf %exact, %c fastmath<contract> : f32
  llvm.store volatile %apart, %to : f32, !llvm.ptr
  llvm.return
}
