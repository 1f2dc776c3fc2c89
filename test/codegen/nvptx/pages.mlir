// Keys in pages: how the producer's warp starts the boxes of a tile, and how threads find their rows.

// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix=THREADS
// RUN: attnc compile %s --target nvptx:sm_90a --emit nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: sed 's/x16x2x64/x12x2x64/g' %s | attnc compile - --target nvptx:sm_90a --emit ptx -o - | FileCheck %s --check-prefix=ROWS

// Each lane reads an entry where the table has one, and takes that of its box from the lane that has it, or from what
// was read ahead; -1 is no page.
// NVVM: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i32
// CHECK: mbarrier.try_wait
// CHECK: ld.global.b32
// CHECK: shfl.sync.idx.b32
// CHECK: shfl.sync.idx.b32
// CHECK: mbarrier.arrive.expect_tx
// CHECK: bar.warp.sync
// CHECK: cp.async.bulk.tensor.4d

// Threads: an entry a row, read where the row is below the limit.
// THREADS: ld.global.b32
// THREADS: cp.async.cg.shared.global

// Pages of 12 rows are no whole groups of eight, which boxes have.
// ROWS-NOT: cp.async.bulk.tensor
// ROWS: cp.async.cg.shared.global

func.func @pages(%q: tensor<?x130x2x64xbf16>, %k: tensor<?x16x2x64xbf16>, %v: tensor<?x16x2x64xbf16>,
                 %table: tensor<?x?xi32>, %lengths: tensor<?xi32>) -> tensor<?x130x2x64xbf16> {
  %o = attn.forward %q, %k, %v paged(%table : tensor<?x?xi32>) lengths(key = %lengths : tensor<?xi32>)
    : (tensor<?x130x2x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) -> tensor<?x130x2x64xbf16>
  return %o : tensor<?x130x2x64xbf16>
}
