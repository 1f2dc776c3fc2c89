// One thread gives a buffer back for its warpgroup. All warps have waited for the buffer by then: after a product, which is one of
// warpgroups, and else by a barrier. Without that a slow warp would find the buffer filled for the second time, take that for not at
// all, and wait for ever. Loops may have no steps, so that what is given back after one has had no product.

// RUN: attnc-opt %s --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm,canonicalize)' -o %t.nvvm
// RUN: grep -n 'llvm.func\|nvvm.barrier id\|llvm.inline_asm.*mbarrier.arrive.shared\|wgmma.*wait\|scf.for\|scf.yield' %t.nvvm | FileCheck %s
// RUN: attnc-opt %s --tile-simulate=args=256,256,256,256 -o %t

// CHECK: llvm.func @release_entry(
// The number of the tile, and the step, whose product has been awaited.
// CHECK: nvvm.barrier id
// CHECK-NEXT: mbarrier.arrive
// CHECK: scf.for
// CHECK-NOT: nvvm.barrier id
// CHECK: wait
// CHECK-NOT: nvvm.barrier id
// CHECK: mbarrier.arrive
// CHECK: scf.yield
// CHECK-NEXT: nvvm.barrier id
// CHECK-NEXT: mbarrier.arrive

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                           epilogue = direct, dynamic = true>
module attributes {attn.target = #gpu} {
tile.program @release(%Q: memref<?x64xbf16>, %K: memref<?x64xbf16>, %o: memref<?x64xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %queries = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %keys = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %numbers = tile.ring : !tile.ring<1 x index>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent from %numbers : !tile.ring<1 x index> {
    ^bb0(%t: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %m = memref.dim %Q, %c0 : memref<?x64xbf16>
      %h = memref.dim %K, %c0 : memref<?x64xbf16>
      tile.put %queries, %Q[%c0, %c0] axes [0, 1] below(%m, %c64) : !tile.ring<1 x vector<64x64xbf16>>, memref<?x64xbf16>
      scf.for %i = %c0 to %n step %c64 {
        tile.put %keys, %K[%i, %c0] axes [0, 1] below(%h, %c64) : !tile.ring<1 x vector<64x64xbf16>>, memref<?x64xbf16>
      }
    }
  }
  tile.role <consumer> warpgroups 1 registers 240 {
    tile.persistent from %numbers : !tile.ring<1 x index> {
    ^bb0(%t: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %z = arith.constant dense<0.0> : vector<64x64xf32>
      %q = tile.get %queries : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%a = %z) -> (vector<64x64xf32>) {
        %k = tile.get %keys : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
        %f = tile.start %q, %k, %a transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
        %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
        tile.release %keys : !tile.ring<1 x vector<64x64xbf16>>
        scf.yield %g : vector<64x64xf32>
      }
      tile.release %queries : !tile.ring<1 x vector<64x64xbf16>>
      tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c64, %c64) : vector<64x64xf32>, memref<?x64xf32>
    }
  }
  tile.return
}
}
