// f32 by six products of parts that bf16 holds. With split_floats, threads read two pieces of four elements, and write one piece of
// eight of each part; products load the parts as they load bf16, and the left operand in pairs of neighbours.

// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - --schedule '#attn.schedule<query_tile = 128, key_tile = 16, panel = 128, pipeline = #attn.warps<consumers = 1, stages = 1>>' | FileCheck %s --check-prefix=EACH
// RUN: attnc compile %s --target nvrtc:sm_90a --emit cuda -o - | FileCheck %s --check-prefix=CUDA

// CHECK: .minnctapersm 1
// CHECK: ld.shared.v4.b32
// CHECK: ld.shared.v4.b32
// CHECK: cvt.rn.satfinite.bf16x2.f32
// CHECK: st.shared.v4.b32 [%[[TO:r[0-9]+]]],
// CHECK: st.shared.v4.b32 [%[[TO]]+4096],
// CHECK: st.shared.v4.b32 [%[[TO]]+8192],
// CHECK: ld.shared.v2.f32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// Else each warp splits what it loads. Small parts come first, and what a step sums up is added outside of the tensor cores.
// EACH: .target sm_90a
// EACH-NOT: {{wgmma|ld.shared.v[24]}}
// EACH: cvt.rn.bf16x2.f32
// EACH-COUNT-6: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// EACH: add.rn.f32
// EACH-NOT: ld.shared.v
// EACH: ld.shared.f32
// EACH: cvt.rn.bf16x2.f32
// EACH-COUNT-6: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// EACH: add.rn.f32
// CUDA: __launch_bounds__(128, 1)
// CUDA: loadPiece(

!f = tensor<?x?x1x128xf32>

func.func @kernel(%q: !f, %k: !f, %v: !f) -> !f {
  %o = attn.forward %q, %k, %v : (!f, !f, !f) -> !f
  return %o : !f
}
