// The program that lists tiles of keys: warps bring minima and maxima of steps to shared memory, several steps at once; each thread
// judges a step; each warp lists steps by counting the bits of those before. The kernel starts while it runs.

// RUN: attnc compile %s --target nvptx:sm_90a --emit nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=VECTORS < %t.ptx
// RUN: FileCheck %s --check-prefix=KERNEL < %t.ptx
// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix=PIECES

// NVVM: llvm.func @documents_block_mask_entry(
// NVVM-SAME: %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = !llvm.array<3 x i64>, nvvm.grid_constant})
// NVVM-SAME: tile.launch = #tile.launch<threads = 512, shared_bytes = 16384>
// NVVM: llvm.func @documents_tile_entry(
// NVVM-SAME: tile.launch = #tile.launch<{{.*}}early = true

// CHECK: .visible .entry documents_block_mask_entry(
// CHECK-NOT: griddepcontrol
// The minima and maxima of rows are on their way while those of eight steps start; the lanes meet once for each.
// CHECK: .pragma "nounroll";
// CHECK-COUNT-4: ld.global.b32
// CHECK-COUNT-9: redux.sync.min.s32
// CHECK-NOT: redux.sync.min.s32
// CHECK: bar.sync 0;
// CHECK: vote.sync.ballot.b32
// CHECK: vote.sync.ballot.b32
// CHECK: popc.b32
// CHECK-COUNT-4: redux.sync.add.s32
// CHECK: st.global.b32
// CHECK: ret;

// Rows of steps that are whole, adjacent and aligned come as a vector each.
// VECTORS-COUNT-8: ld.global.v4.b32
// VECTORS-NOT: ld.global.v4.b32
// VECTORS: .visible .entry documents_tile_entry(

// The kernel reads its list, and has no elements to look for.
// KERNEL: .visible .entry documents_tile_entry(
// It waits for the block mask after it has set up its barriers.
// KERNEL: mbarrier.init
// KERNEL: griddepcontrol.wait;
// KERNEL-NEXT: // end inline asm
// KERNEL-NEXT: bar.sync 0;
// KERNEL-NOT: shfl.sync.bfly.b32 {{.*}}, 16,
// KERNEL: wgmma.mma_async

// The way of warps goes over the list too, a step ahead.
// PIECES: .visible .entry documents_tile_entry(
// PIECES-NOT: griddepcontrol
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
