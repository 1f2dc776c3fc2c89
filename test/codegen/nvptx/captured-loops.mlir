// A captured tile that was got before a loop and is read in each iteration: its buffer is given back after the loop, and the
// address of the barrier waits for what the last iteration has read, which a register carries.

// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit ptx -o - | FileCheck %s

// CHECK: .visible .entry shared_backward_dbias_0_entry
// CHECK-COUNT-16: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: bar.warp.sync
// CHECK: and.b32 %r[[NONE:[0-9]+]], %r{{[0-9]+}}, %r
// CHECK-NEXT: add.s32 %r[[BARRIER:[0-9]+]], %r{{[0-9]+}}, %r[[NONE]]
// CHECK: @p mbarrier.arrive.shared::cta.b64 _, [%r[[BARRIER]]]
// CHECK: bar.warp.sync
// CHECK: add.s32 %r[[NEXT:[0-9]+]], %r{{[0-9]+}}, %r[[NONE]]
// CHECK: @p mbarrier.arrive.shared::cta.b64 _, [%r[[NEXT]]]
// CHECK-NOT: ldmatrix

func.func @shared(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                  %bias: tensor<1x2x?x?xbf16> {attn.requires_grad}) -> tensor<?x?x2x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<1x2x?x?xbf16>
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}
