// Two roles of consumers, which do different things with the same keys: a buffer is free when the warpgroups of both have given
// it back, and a warpgroup has a barrier of its own whichever its role is.

// RUN: attnc-opt %s --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm,canonicalize)' -o %t.nvvm
// RUN: FileCheck %s < %t.nvvm
// RUN: grep -B1 'nvvm.barrier id = .* number_of_threads = %c128_i32' %t.nvvm | FileCheck %s --check-prefix=NAMED
// RUN: attnc-opt %s --tile-simulate=args=256,256,256,256 -o %t

// Barriers of keys and of numbers: filled by one, and given back by one warpgroup of the first role and two of the second.
// CHECK-LABEL: llvm.func @two_roles_entry(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
// CHECK: mbarrier.init{{.*}} %{{.*}}, %[[ONE]] :
// CHECK: mbarrier.init{{.*}} %{{.*}}, %[[THREE]] :
// CHECK: mbarrier.init{{.*}} %{{.*}}, %[[ONE]] :
// CHECK: mbarrier.init{{.*}} %{{.*}}, %[[THREE]] :
// CHECK-NOT: mbarrier.init.shared
// Named barriers go on from role to role: 8 for the first role's warpgroup, which is number 1 of the block, and 9 and 10 for
// those of the second, numbers 2 and 3.
// NAMED: arith.addi %[[WARPGROUP:.*]], %c7_i32 : i32
// NAMED-NEXT: nvvm.barrier id
// NAMED: arith.addi %[[WARPGROUP]], %c7_i32 : i32
// NAMED-NEXT: nvvm.barrier id

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 3, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 160,
                           epilogue = direct, dynamic = true>
module attributes {attn.target = #gpu} {
tile.program @two_roles(%K: memref<?x64xbf16>, %o: memref<?x64xf32>, %p: memref<?x64xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64, pipeline = #pipeline} {
  %keys = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %numbers = tile.ring : !tile.ring<1 x index>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent from %numbers : !tile.ring<1 x index> {
    ^bb0(%t: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %h = memref.dim %K, %c0 : memref<?x64xbf16>
      scf.for %i = %c0 to %n step %c64 {
        tile.put %keys, %K[%i, %c0] axes [0, 1] below(%h, %c64) : !tile.ring<1 x vector<64x64xbf16>>, memref<?x64xbf16>
      }
    }
  }
  tile.role <consumer> warpgroups 1 registers 160 {
    tile.persistent from %numbers : !tile.ring<1 x index> {
    ^bb0(%t: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %z = arith.constant dense<0.0> : vector<64x64xf32>
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%a = %z) -> (vector<64x64xf32>) {
        %b = tile.get %keys : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
        %f = tile.start %b, %b, %a transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
        %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
        tile.release %keys : !tile.ring<1 x vector<64x64xbf16>>
        scf.yield %g : vector<64x64xf32>
      }
      tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c64, %c64) : vector<64x64xf32>, memref<?x64xf32>
    }
  }
  tile.role <consumer> warpgroups 2 registers 160 {
    tile.persistent from %numbers : !tile.ring<1 x index> {
    ^bb0(%t: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %z = arith.constant dense<0.0> : vector<128x64xf32>
      %one = arith.constant dense<1.0> : vector<128x64xbf16>
      %r = scf.for %i = %c0 to %n step %c64 iter_args(%a = %z) -> (vector<128x64xf32>) {
        %m = tile.map tiles(%one : vector<128x64xbf16>) rows() cols() at(%c0, %c0) {
        ^bb0(%x: bf16, %p0: index, %p1: index):
          tile.yield %x : bf16
        } -> vector<128x64xbf16>
        %b = tile.get %keys : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
        %f = tile.start %m, %b, %a : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> !tile.pending<vector<128x64xf32>>
        %g = tile.await %f : !tile.pending<vector<128x64xf32>> -> vector<128x64xf32>
        tile.release %keys : !tile.ring<1 x vector<64x64xbf16>>
        scf.yield %g : vector<128x64xf32>
      }
      tile.store %r, %p[%c0, %c0] axes [0, 1] below(%c128, %c64) : vector<128x64xf32>, memref<?x64xf32>
    }
  }
  tile.return
}
}
