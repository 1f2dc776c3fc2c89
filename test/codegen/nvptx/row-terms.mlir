// What masks and scores add to the loop: what is the same for a row is computed once a row.

// RUN: attnc compile %s --target nvptx:sm_90a --entry window --emit ptx -o - | FileCheck %s --check-prefix=WINDOW
// RUN: attnc compile %s --target nvptx:sm_90a --entry alibi --emit ptx -o - \
// RUN:   | FileCheck %s --check-prefix=ALIBI --implicit-check-not=cvt.rn.f32.s32
// RUN: attnc compile %s --target nvptx:sm_90a --entry softcap --emit ptx -o - | FileCheck %s --check-prefix=SOFTCAP
// RUN: attnc compile %s --target nvptx:sm_90a --entry symmetric --emit ptx -o - | FileCheck %s --check-prefix=SYMMETRIC

// Both ends of a window are bits of one word a row: no element is compared. 32 columns of the thread, in two rows, in the
// first step and in the two loops that masks cut.
// WINDOW: wgmma.mma_async
// WINDOW: shl.b32 %r{{[0-9]+}}, -1, %r{{[0-9]+}};
// WINDOW: and.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 4;
// WINDOW-NEXT: setp.{{eq|ne}}.b32

// ALiBi: one conversion a step (the first, the loop above the diagonal, the loop below). Where the mask cuts tiles, an
// element's distance is exact: the column's number is taken from the row's. Below, the last column's is, once a row, and
// an element takes one fused operation, of its number from there, the slope and the product.
// ALIBI: cvt.rn.f32.s32
// ALIBI: add.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000;
// ALIBI: cvt.rn.f32.s32
// ALIBI: add.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000;
// ALIBI: cvt.rn.f32.s32 %[[FIRST:.*]], %
// ALIBI-NEXT: add.rn.f32 %{{.*}}, %[[FIRST]], 0fC2640000;
// ALIBI: fma.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000, %
// The schedule for long sequences has three as well.
// ALIBI: cvt.rn.f32.s32
// ALIBI: add.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000;
// ALIBI: cvt.rn.f32.s32
// ALIBI: add.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000;
// ALIBI: cvt.rn.f32.s32 %[[FIRST:.*]], %
// ALIBI-NEXT: add.rn.f32 %{{.*}}, %[[FIRST]], 0fC2640000;
// ALIBI: fma.rn.f32 %{{.*}}, %{{.*}}, 0fC2640000, %

// One product before a cap, none behind it: 1 / sqrt(128) / 50. Of four exponentials one is left to multiply-add units, which
// round by a shift.
// SOFTCAP: mul.rn.f32 %{{.*}}, %{{.*}}, 0f3AE7B46A;
// SOFTCAP: tanh.approx.f32
// SOFTCAP: add.rn.f32 %{{.*}}, %{{.*}}, 0f4B400000;

// Where keys on both sides are kept, the distance has a magnitude; it is of a float that the column is added to.
// SYMMETRIC: cvt.rn.f32.s32 %[[FIRST:.*]], %
// SYMMETRIC: add.rn.f32 %[[D:.*]], %[[FIRST]], 0fC1000000;
// SYMMETRIC-NEXT: abs.f32 %{{.*}}, %[[D]];

!t = tensor<?x?x4x128xbf16>

func.func @window(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(1024) right(0)
      attn.yield %keep : i1
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}

func.func @alibi(%q: !t, %k: !t, %v: !t, %slopes: tensor<4xf32>) -> !t {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}

func.func @softcap(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}

func.func @symmetric(%q: !t, %k: !t, %v: !t, %slopes: tensor<4xf32>) -> !t {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      attn.yield %x : f32
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}
