// Kernels without roles: copies of 16 bytes by all threads, products of warps.

// RUN: attnc compile %s --entry half --target nvptx:sm_80 --emit ptx | FileCheck %s --check-prefix=HALF
// RUN: attnc compile %s --entry half --target nvptx:sm_80 --emit nvvm | FileCheck %s --check-prefix=LAUNCH

// Rows one after the other, and a rescaling that asks both at once.
// RUN: attnc compile %s --entry half --target nvptx:sm_80 --emit ptx --schedule "#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 2, rescaling = on_growth, by_row = true>>" | FileCheck %s --check-prefix=ON-GROWTH
// ON-GROWTH: vote{{.*}}.any

// HALF: .target sm_80
// HALF: .reqntid 128
// HALF: cp.async.cg.shared.global
// Rows that are not aligned go through registers.
// HALF: st.shared.v4.b32
// HALF: cp.async.commit_group;
// HALF: cp.async.wait_group 1;
// HALF: bar{{.*}}sync
// HALF: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// HALF: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// HALF: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16

// A block a tile, and no tensor maps.
// LAUNCH-NOT: attnc-roles
// LAUNCH: tile.launch = #tile.launch<threads = 128, shared_bytes = 49152>

func.func @half(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
  return %o : tensor<?x?x4x64xf16>
}
