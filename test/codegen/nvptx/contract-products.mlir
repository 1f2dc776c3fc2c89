// A product that several operations read is rounded before any of them: contracted into one alone, p - p * 1 would be what
// its rounding took off, and not 0.

// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s

// CHECK: mul.rn.f32 %[[PRODUCT:[a-z0-9]+]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}};
// CHECK-NEXT: neg.f32 %[[NEGATIVE:[a-z0-9]+]], %[[PRODUCT]];
// CHECK-NEXT: fma.rn.f32 %{{[a-z0-9]+}}, %[[NEGATIVE]], %{{[a-z0-9]+}}, %[[PRODUCT]];

!t = tensor<?x?x1x64xbf16>

func.func @twice(%q: !t, %k: !t, %v: !t, %a: f32, %b: f32) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b0, %h, %i, %j) {
      %p = arith.mulf %s, %a : f32
      %n = arith.mulf %p, %b : f32
      %d = arith.subf %p, %n : f32
      attn.yield %d : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}
