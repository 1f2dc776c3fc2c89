// Elements of a captured tile go under predicates where the program says so, and past branches in pairs or one by one where
// it does not. A bound of blocks is the kernel's.

// RUN: attnc-opt %s --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm)' | FileCheck %s

// CHECK-LABEL: llvm.func @predicated_entry(
// CHECK-SAME: nvvm.minctasm = 2 : i32
// CHECK-NOT: scf.if
// CHECK-COUNT-32: @$2 ld.global
// CHECK-NOT: ld.global
// CHECK: llvm.return
//
// CHECK-LABEL: llvm.func @branches_entry(
// CHECK-NOT: nvvm.minctasm
// CHECK: scf.if
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<1> -> i32
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
tile.program @predicated(%v: memref<?x?xbf16>, %o: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                tile.min_blocks = 2 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) {tile.predicated} : memref<?x?xbf16> -> vector<64x64xbf16>
  tile.store %x, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<64x64xbf16>, memref<?x?xbf16>
  tile.return
}
tile.program @branches(%v: memref<?x?xbf16>, %o: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  tile.store %x, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<64x64xbf16>, memref<?x?xbf16>
  tile.return
}
}
