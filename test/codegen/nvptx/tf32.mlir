// attn.tf32 asks for products of f32 by TF32 (S13): each element is rounded, by a product with a little more than 1 and by what
// cuts off the rest, and there are two products of eight elements where exact ones are six of sixteen. Weights are found as those
// of 16 bits are, for which it changes nothing.

// RUN: attnc compile %s --entry floats --target nvptx:sm_80 --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --entry floats --target nvptx:sm_90a --emit tile -o - | FileCheck %s --check-prefix=TILE
// RUN: attnc compile %s --entry floats --target nvrtc:sm_80 --emit cuda -o - | FileCheck %s --check-prefix=CUDA
// RUN: attnc compile %s --entry floats --target nvptx:sm_80 --backward --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --entry narrow --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix=NARROW
// RUN: attnc compile %s --entry exact --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix=EXACT
// RUN: attnc compile %s --entry exact --tf32 --target nvptx:sm_80 --emit ptx -o - | FileCheck %s
// RUN: attnc verify %s --entry floats --target sim:sm_80 --shape B=1,Sq=50,Sk=40
// RUN: not attnc compile %s --entry wrong --target cpu -o %t 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK-NOT: m16n8k16
// CHECK: mul.rn.f32 %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, 0f3F800B17
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: m16n8k16
// CHECK: ex2.approx
// CHECK-NOT: m16n8k16
// TILE: tile.mma {{.*}} transposed tf32 {tile.load_ahead} :
// TILE: tile.mma {{.*}} tf32 {tile.load_ahead} :
// CUDA: mmaTf32(
// NARROW-NOT: tf32
// NARROW: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// EXACT-NOT: tf32
// EXACT: mma.sync.aligned.m16n8k16.row.col.f32.bf16
// WRONG: expected attn.tf32 to be a unit attribute, got true

!f = tensor<?x?x1x40xf32>
!b = tensor<?x?x1x64xbf16>

func.func @floats(%q: !f, %k: !f, %v: !f) -> !f attributes {attn.tf32} {
  %o = attn.forward %q, %k, %v : (!f, !f, !f) -> !f
  return %o : !f
}

func.func @exact(%q: !f, %k: !f, %v: !f) -> !f {
  %o = attn.forward %q, %k, %v : (!f, !f, !f) -> !f
  return %o : !f
}

func.func @narrow(%q: !b, %k: !b, %v: !b) -> !b attributes {attn.tf32} {
  %o = attn.forward %q, %k, %v : (!b, !b, !b) -> !b
  return %o : !b
}

func.func @wrong(%q: !f, %k: !f, %v: !f) -> !f attributes {attn.tf32 = true} {
  %o = attn.forward %q, %k, %v : (!f, !f, !f) -> !f
  return %o : !f
}
