// RUN: attnc-opt %s --nvptx-expand-math --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @exp2
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%arg0) : (f32) -> f32
// CHECK-NEXT: return %[[R]]
func.func @exp2(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}

// On multiply-add units, where that is asked for. Four of them: three leave an error of 1e-4, which an LSE may not have.
// CHECK-LABEL: func @exp2_polynomial
// CHECK-NOT: llvm.call_intrinsic
// CHECK: %[[X:.*]] = arith.maxnumf %arg0, %{{.*}} : f32
// CHECK: %[[N:.*]] = arith.addf %[[X]], %{{.*}} : f32
// CHECK-COUNT-4: math.fma
// CHECK: arith.shli
// CHECK: arith.addi
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @exp2_polynomial(%x: f32) -> f32 {
  %y = math.exp2 %x {attnc.multiply_add} : f32
  return %y : f32
}

// CHECK-LABEL: func @exp
// CHECK: math.fma
// CHECK: arith.shli
// The polynomial: the device's own power is off by three roundings of f32.
// CHECK-COUNT-6: math.fma
// CHECK-NOT: llvm.nvvm.ex2
// CHECK: arith.addi
// CHECK-NOT: math.exp
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func @tanh
// CHECK-NOT: llvm.intr.tanh
// CHECK-NOT: llvm.nvvm.ex2
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: math.copysign
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// CHECK-LABEL: func @approximate
// CHECK: llvm.intr.tanh(%arg0) {fastmathFlags = #llvm.fastmath<{{.*}}afn{{.*}}>}
// CHECK: "llvm.nvvm.lg2.approx.ftz.f"
// CHECK-NEXT: arith.constant 0.693147182 : f32
// CHECK-NEXT: arith.mulf
// CHECK: "llvm.nvvm.lg2.approx.ftz.f"
// CHECK: arith.mulf
// CHECK-NEXT: "llvm.nvvm.ex2.approx.ftz.f32"
func.func @approximate(%x: f32) -> (f32, f32, f32, f32) attributes {attnc.approximate_math} {
  %a = math.tanh %x fastmath<afn> : f32
  %b = math.log %x fastmath<afn> : f32
  %c = math.log2 %x fastmath<afn> : f32
  %d = math.exp %x fastmath<afn> : f32
  return %a, %b, %c, %d : f32, f32, f32, f32
}

// Without the flag they are not; inside of an exact tanh, results of 16 bits do not show what its exponential loses.
// CHECK-LABEL: func @exact
// CHECK-NOT: llvm.intr.tanh
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-NOT: lg2.approx
func.func @exact(%x: f32) -> (f32, f32) attributes {attnc.approximate_math} {
  %a = math.tanh %x : f32
  %b = math.log %x : f32
  return %a, %b : f32, f32
}

// Where its error may be one of 1, tanh is a power and a reciprocal, with one factor for the exponent.
// CHECK-LABEL: func @coarse
// CHECK: arith.constant 5.77078
// CHECK-NEXT: arith.mulf %arg0,
// CHECK-NEXT: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: arith.addf
// CHECK-NEXT: "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: math.fma
// CHECK-NOT: copysign
func.func @coarse(%x: f32) -> f32 attributes {attnc.approximate_math} {
  %c = arith.constant 0.02 : f32
  %y = arith.mulf %x, %c : f32
  %a = math.tanh %y {attn.error_of_one = 50.0 : f64} : f32
  return %a : f32
}

// With that of the exponent, a large factor would be infinite, and 0 times it NaN.
// CHECK-LABEL: func @coarse_of_large_factor
// CHECK-NOT: 0x7F800000
// CHECK: return
func.func @coarse_of_large_factor(%x: f32) -> f32 attributes {attnc.approximate_math} {
  %c = arith.constant 2.0e38 : f32
  %y = arith.mulf %x, %c : f32
  %a = math.tanh %y {attn.error_of_one = 50.0 : f64} : f32
  return %a : f32
}

// Several elements share a reciprocal: that of the product of their divisors, which saturate, so that it stays finite.
// What is -2^-23 times it, and the factor of the users, goes from there to pairs, and from pairs to elements, into the product and sum that come
// after.
// CHECK-LABEL: func @shared
// CHECK: %[[F0:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[D0:.*]] = llvm.call_intrinsic "llvm.nvvm.saturate.f"(%[[F0]])
// CHECK: %[[D1:.*]] = llvm.call_intrinsic "llvm.nvvm.saturate.f"
// CHECK: %[[D2:.*]] = llvm.call_intrinsic "llvm.nvvm.saturate.f"
// CHECK: %[[D3:.*]] = llvm.call_intrinsic "llvm.nvvm.saturate.f"
// CHECK: %[[P0:.*]] = arith.mulf %[[D0]], %[[D1]]
// CHECK: %[[P1:.*]] = arith.mulf %[[D2]], %[[D3]]
// CHECK: %[[P:.*]] = arith.mulf %[[P0]], %[[P1]]
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[P]])
// CHECK-NEXT: %[[SCALE:.*]] = arith.constant -8.58306884E-6 : f32
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[R]], %[[SCALE]]
// CHECK-NEXT: %[[R0:.*]] = arith.mulf %[[S]], %[[P1]]
// CHECK-NEXT: %[[R1:.*]] = arith.mulf %[[S]], %[[P0]]
// CHECK-NOT: rcp
// CHECK: %[[SUM:.*]] = arith.constant 1.000000e+01 : f32
// CHECK-NEXT: %[[E0:.*]] = math.fma %[[R0]], %[[D1]], %[[SUM]]
// CHECK: %[[E1:.*]] = math.fma %[[R0]], %[[D0]],
// CHECK: %[[E2:.*]] = math.fma %[[R1]], %[[D3]],
// CHECK: arith.addf %{{.*}}, %arg4
// CHECK-NEXT: %[[E3:.*]] = math.fma %[[R1]], %[[D2]],
// CHECK: return %[[E0]], %[[E1]], %[[E2]], %[[E3]]
func.func @shared(%x: f32, %y: f32, %z: f32, %w: f32, %row: f32) -> (f32, f32, f32, f32)
    attributes {attnc.approximate_math} {
  %v = vector.from_elements %x, %y, %z, %w : vector<4xf32>
  %t = math.tanh %v {attn.error_of_one = 50.0 : f64, tile.shared_reciprocal = 4 : i64} : vector<4xf32>
  %factor = arith.constant 72.0 : f32
  %sum = arith.constant -62.0 : f32
  %t0 = vector.extract %t[0] : f32 from vector<4xf32>
  %t1 = vector.extract %t[1] : f32 from vector<4xf32>
  %t2 = vector.extract %t[2] : f32 from vector<4xf32>
  %t3 = vector.extract %t[3] : f32 from vector<4xf32>
  %e0 = math.fma %t0, %factor, %sum : f32
  %e1 = math.fma %t1, %factor, %sum : f32
  %e2 = math.fma %t2, %factor, %sum : f32
  %e3 = math.fma %t3, %factor, %row : f32
  return %e0, %e1, %e2, %e3 : f32, f32, f32, f32
}

// Whatever else reads an element reads tanh.
// CHECK-LABEL: func @shared_of_two
// CHECK-COUNT-1: llvm.nvvm.rcp.approx.ftz.f
// CHECK: arith.constant -1.1920929E-7 : f32
// CHECK: %[[T0:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: %[[T1:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: math.fma %[[T0]], %arg2, %arg2
// CHECK: return %{{.*}}, %[[T1]]
func.func @shared_of_two(%x: f32, %y: f32, %factor: f32) -> (f32, f32) attributes {attnc.approximate_math} {
  %v = vector.from_elements %x, %y : vector<2xf32>
  %t = math.tanh %v {attn.error_of_one = 50.0 : f64, tile.shared_reciprocal = 4 : i64} : vector<2xf32>
  %t0 = vector.extract %t[0] : f32 from vector<2xf32>
  %t1 = vector.extract %t[1] : f32 from vector<2xf32>
  %e0 = math.fma %t0, %factor, %factor : f32
  return %e0, %t1 : f32, f32
}

// Reciprocals need no branch for what their instruction cannot do; other quotients, and those of other kernels, are exact.
// CHECK-LABEL: func @approximate_reciprocal
// CHECK: arith.divf %{{.*}}, %arg0 fastmath<afn> : f32
// CHECK: arith.divf %arg0, %arg1 : f32
func.func @approximate_reciprocal(%x: f32, %y: f32) -> (f32, f32) attributes {attnc.approximate_math} {
  %one = arith.constant 1.0 : f32
  %a = arith.divf %one, %x : f32
  %b = arith.divf %x, %y : f32
  return %a, %b : f32, f32
}

// CHECK-LABEL: func @exact_reciprocal
// CHECK: arith.divf %{{.*}}, %arg0 : f32
func.func @exact_reciprocal(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %a = arith.divf %one, %x : f32
  return %a : f32
}

// 16-bit floats are computed in f32.
// CHECK-LABEL: func @bf16
// CHECK: arith.extf %arg0 : bf16 to f32
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @bf16(%x: bf16) -> bf16 {
  %y = math.exp2 %x : bf16
  return %y : bf16
}

// CHECK-LABEL: func @vector
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// CHECK: vector.from_elements
func.func @vector(%x: vector<2xf32>) -> vector<2xf32> {
  %y = math.rsqrt %x : vector<2xf32>
  return %y : vector<2xf32>
}

// What has no instruction and no rule of its own is a polynomial.
// CHECK-LABEL: func @polynomials
// CHECK-NOT: math.{{log|sin|cos|erf|powf|tan|log1p|expm1|atan|cbrt|sinh}}
// CHECK: return
func.func @polynomials(%x: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %a = math.log %x : f32
  %b = math.log2 %x : f32
  %c = math.sin %x : f32
  %d = math.cos %x : f32
  %e = math.erf %x : f32
  %f = math.powf %x, %a : f32
  %g = math.tan %x : f32
  %h = math.log1p %x : f32
  %i = math.expm1 %x : f32
  %j = math.atan %x : f32
  %k = math.cbrt %x : f32
  %l = math.sinh %x : f32
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func @instructions
// CHECK: math.sqrt
// CHECK: math.floor
func.func @instructions(%x: f32) -> (f32, f32) {
  %a = math.sqrt %x : f32
  %b = math.floor %x : f32
  return %a, %b : f32, f32
}

// -----

func.func @double(%x: f64) -> f64 {
  // expected-error @+1 {{'math.exp' op of 'f64' cannot be computed on this target}}
  %y = math.exp %x : f64
  return %y : f64
}
