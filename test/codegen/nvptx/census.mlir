// The program that lists tiles of keys: each of 32 warps looks at a step, all meet, and the first warp writes the list.

// RUN: attnc compile %s --target nvptx:sm_90a --emit nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=KERNEL < %t.ptx
// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix=PIECES

// NVVM: llvm.func @documents_census_entry(
// NVVM-SAME: %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<3 x i64>, nvvm.grid_constant})
// NVVM-SAME: shared_bytes = 16384 : i64
// NVVM-SAME: threads = 1024 : i64

// CHECK: .visible .entry documents_census_entry(
// Four loads are on their way before the first is used, and the lanes meet.
// CHECK-COUNT-4: ld.global.b32
// CHECK: redux.sync.min.s32
// CHECK: redux.sync.max.s32
// CHECK: bar.sync 0;
// CHECK: vote.sync.ballot.b32
// CHECK: popc.b32
// Steps that keep all are listed first, then those that keep some.
// CHECK: setp.{{eq|ne}}.{{b|s}}32 %p{{[0-9]+}}, %r{{[0-9]+}}, 2;
// CHECK: st.global.b32
// CHECK: setp.{{eq|ne}}.{{b|s}}32 %p{{[0-9]+}}, %r{{[0-9]+}}, 1;
// CHECK: st.global.b32
// CHECK: ret;

// The kernel reads its list, and has no extents to look for.
// KERNEL: .visible .entry documents_tile_entry(
// KERNEL-NOT: shfl.sync.bfly.b32 {{.*}}, 16,
// KERNEL: wgmma.mma_async

// The way of warps goes over the list too, a step ahead.
// PIECES: .visible .entry documents_tile_entry(
// PIECES: cp.async.cg.shared.global
// PIECES: mma.sync.aligned.m16n8k16
func.func @documents(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x8x128xbf16>, %v: tensor<?x?x8x128xbf16>,
                     %ids: tensor<?x?xi32>) -> tensor<?x?x8x128xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %same = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %same : i1
    }
    : (tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xbf16>
  return %o : tensor<?x?x8x128xbf16>
}
