// A captured tile that the copy engine brings: a warp loads its rows of it as fragments have them, and its buffer is given back
// when they are there, which the address of the barrier waits for.

// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit ptx -o - | FileCheck %s --check-prefix=GRADIENTS

// CHECK: .visible .entry bias_tile_without_boxes
// CHECK-NOT: ldmatrix
// CHECK: .visible .entry bias_tile_entry
// CHECK-COUNT-6: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: or.b32 %r[[ALL:[0-9]+]], %r
// CHECK-NEXT: bar.warp.sync
// CHECK-NEXT: and.b32 %r[[NONE:[0-9]+]], %r[[ALL]], %r
// CHECK-NEXT: add.s32 %r[[FIRST:[0-9]+]], %r{{[0-9]+}}, %r[[NONE]]
// CHECK-NEXT: add.s32 %r[[BARRIER:[0-9]+]], %r[[FIRST]],
// CHECK: mbarrier.arrive.shared::cta.b64 _, [%r[[BARRIER]]]
// CHECK: wgmma.wait_group

// Tiles of keys read what lies by queries transposed.
// GRADIENTS: .visible .entry bias_backward_dqdkdv_without_boxes
// GRADIENTS-NOT: ldmatrix
// GRADIENTS: .visible .entry bias_backward_dqdkdv_entry
// GRADIENTS-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// GRADIENTS: mbarrier.arrive.shared::cta.b64

func.func @bias(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>,
                %bias: tensor<?x16x?x?xbf16>) -> tensor<?x?x16x128xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x16x?x?xbf16>
      attn.yield %x : f32
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> tensor<?x?x16x128xbf16>
  return %o : tensor<?x?x16x128xbf16>
}
