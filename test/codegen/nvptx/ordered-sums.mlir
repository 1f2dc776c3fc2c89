// Sums that are added to in an order. Each warp of a program without roles waits for its turn, adds its own pieces by
// loads and stores, and leaves its place; of one with roles, the copy engine adds, and the place is left when that is
// complete. Also as CUDA C++.

// RUN: split-file %s %t
// RUN: attnc-opt %t/warps.mlir --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm)' -o %t/warps.nvvm
// RUN: FileCheck %s --input-file=%t/warps.nvvm --check-prefix=WARPS
// RUN: attnc-opt %t/warps.nvvm --attnc-nvvm-to-llvm --nvptx-print -o %t.out | FileCheck %s --check-prefix=PTX
// RUN: attnc-opt %t/warps.mlir --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm,nvrtc-print)' -o %t.out | FileCheck %s --check-prefix=CUDA
// RUN: attnc-opt %t/roles.mlir --pass-pipeline='builtin.module(tile.program(tile-specialize-roles,tile-insert-sync,tile-allocate-shared),tile-to-nvvm)' -o %t/roles.nvvm
// RUN: FileCheck %s --input-file=%t/roles.nvvm --check-prefix=ROLES
// RUN: attnc-opt %t/warps.mlir --tile-simulate='args=256,64,8*0' -o %t.sim
// RUN: attnc-opt %t/roles.mlir --tile-simulate='args=256,128,8*0' -o %t.sim

// WARPS-LABEL: llvm.func @warps_entry(
// WARPS: llvm.inline_asm has_side_effects {{.*}}ld.acquire.gpu.global.s32{{.*}} %[[AT:.*]], %{{.*}} : (!llvm.ptr<1>, i32) -> ()
// WARPS: scf.if
// WARPS-COUNT-8: llvm.load %{{.*}} -> vector<4xf32>
// WARPS: arith.addf
// WARPS-COUNT-8: llvm.store %{{.*}} : vector<4xf32>
// WARPS: nvvm.bar.warp.sync
// WARPS: llvm.inline_asm has_side_effects {{.*}}st.release.gpu.global.s32{{.*}} %{{.*}}, %[[AT]]

// PTX: ld.acquire.gpu.global.s32
// PTX-COUNT-8: ld.global.v4.b32
// PTX-COUNT-8: st.global.v4.b32
// PTX: bar.warp.sync
// PTX: st.release.gpu.global.s32

// CUDA: ATTNC_DEVICE void acquirePlace(u64 a0, u32 a1) {
// CUDA: "ld.acquire.gpu.global.s32 place, [%0];
// CUDA: ATTNC_DEVICE void releasePlaceIf(bool a0, u64 a1, u32 a2) {
// CUDA: st.release.gpu.global.s32 [%1], %2;

// The copy before is complete before its place is left, which comes before the buffer is written again; and at the end
// of a tile.
// ROLES-LABEL: llvm.func @roles_entry(
// ROLES: scf.while
// ROLES: nvvm.cp.async.bulk.wait_group 0{{$}}
// ROLES: nvvm.bar.warp.sync
// ROLES: st.relaxed.gpu.global.s32
// ROLES: st.shared
// ROLES: nvvm.fence.proxy
// ROLES: ld.relaxed.gpu.global.s32
// ROLES: cp.reduce.async.bulk
// ROLES: nvvm.cp.async.bulk.wait_group 0{{$}}
// ROLES: nvvm.bar.warp.sync
// ROLES: st.relaxed.gpu.global.s32
// ROLES: scf.yield

//--- warps.mlir
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
tile.program @warps(%x: memref<?x64xf32>, %s: memref<?x64xf32>, %semaphores: memref<?xi32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 64)>, grid_sizes = array<i64: 0, 0>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %place = arith.addi %tile, %c1 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %first = arith.muli %tile, %c64 : index
  %t = tile.load %x[%first, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xf32> -> vector<64x64xf32>
  tile.store %t, %s[%c0, %c0] axes [0, 1] below(%c64, %c64) order(%place after %tile of %semaphores[%c0] : memref<?xi32>) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
  tile.return
}
}
//--- roles.mlir
#pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
tile.program @roles(%x: memref<?x64xf32>, %s: memref<?x64xf32>, %semaphores: memref<?xi32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 128)>, grid_sizes = array<i64: 0, 0>, rows = 128, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %place = arith.addi %tile, %c1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %first = arith.muli %tile, %c128 : index
  %t = tile.load %x[%first, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xf32> -> vector<128x64xf32>
  tile.store %t, %s[%c0, %c0] axes [0, 1] below(%c64, %c64) order(%place after %tile of %semaphores[%c0] : memref<?xi32>) {accumulate, blocked} : vector<128x64xf32>, memref<?x64xf32>
  tile.return
}
}
