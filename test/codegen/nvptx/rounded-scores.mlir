// A score that ends with a product is rounded before its row's maximum is taken from it: fused with the difference, the
// greatest of 4e8 would be off by as much as 16 from itself, and its weight infinite in f16.

// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --implicit-check-not=neg.f32
// CHECK: sub.rn.f32
// CHECK: mul.f32 %[[EXPONENT:.*]], %{{.*}}, 0f3FB8AA3B;
// CHECK-NEXT: ex2.approx.ftz.f32 %{{.*}}, %[[EXPONENT]];

!t = tensor<?x?x1x16xf16>
func.func @kernel(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %n = arith.index_cast %d : index to i32
      %f = arith.sitofp %n : i32 to f32
      %g = arith.addf %f, %s : f32
      %x = arith.mulf %g, %g : f32
      attn.yield %x : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}
