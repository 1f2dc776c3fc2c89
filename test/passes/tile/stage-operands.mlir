// RUN: attnc-opt %s --pass-pipeline='builtin.module(attnc-attn,attnc-tile)' | FileCheck %s

// All threads copy a step ahead of the products. Puts are as many as gets on every way: the one that no step needs has no
// row below its limit, which is its first row, and is taken out after the loop.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  // CHECK-LABEL: tile.program @full_tile
  // CHECK-SAME: #attn.warps<
  // CHECK-SAME: shared_bytes = 40960
  // CHECK: %[[Q:.*]] = tile.ring {offset = 0 : i64} : <1 x vector<64x64xbf16>>
  // CHECK: %[[K:.*]] = tile.ring {offset = 8192 : i64} : <2 x vector<64x64xbf16>>
  // CHECK: %[[V:.*]] = tile.ring {offset = 24576 : i64} : <2 x vector<64x64xbf16>>
  // CHECK-NOT: tile.role
  // CHECK: tile.put %[[Q]]
  // CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[KEYS:.*]], %c0
  // CHECK: %[[LIMIT:.*]] = arith.select %[[SOME]], %[[KEYS]], %c0
  // CHECK: tile.put %[[K]], %{{.*}} below(%[[LIMIT]],
  // CHECK: tile.put %[[V]], %{{.*}} below(%[[LIMIT]],
  // CHECK: tile.sync copies 2
  // CHECK: tile.get %[[Q]]
  // CHECK: scf.for
  // The put of the next keys follows the barrier behind which no thread reads their buffer.
  // CHECK: tile.sync copies 1
  // CHECK-NEXT: tile.get %[[K]]
  // CHECK-NOT: tile.sync
  // CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c64
  // CHECK: arith.select %{{.*}}, %[[KEYS]], %[[NEXT]]
  // CHECK: tile.put %[[K]], %{{.*}}[%{{.*}}, %[[NEXT]],
  // CHECK: tile.mma
  // CHECK-NEXT: tile.release %[[K]]
  // CHECK: tile.sync copies 1
  // CHECK-NEXT: tile.get %[[V]]
  // CHECK-NOT: tile.sync
  // CHECK: tile.put %[[V]]
  // CHECK: tile.mma
  // CHECK-NEXT: tile.release %[[V]]
  // CHECK: scf.yield
  // CHECK: tile.release %[[Q]]
  // CHECK: tile.sync copies 0
  // CHECK-DAG: tile.get %[[V]]
  // CHECK-DAG: tile.get %[[K]]
  // CHECK-NOT: tile.sync
  // CHECK: tile.return
  func.func @full(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 2>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }

  // One stage: a barrier stands between the last product that reads a buffer and the copy into it.
  // CHECK-LABEL: tile.program @one_stage_tile
  // CHECK: scf.for
  // CHECK: tile.sync copies
  // CHECK: tile.get %[[K:.*]] : <1 x
  // CHECK: tile.mma
  // CHECK-NEXT: tile.release %[[K]]
  // CHECK: tile.sync copies
  // CHECK-NEXT: tile.get %[[V:.*]] : <1 x
  // CHECK: tile.put %[[K]]
  // CHECK: tile.mma
  // CHECK-NEXT: tile.release %[[V]]
  // CHECK: tile.sync{{$}}
  // CHECK-NEXT: tile.put %[[V]]
  // CHECK-NEXT: scf.yield
  func.func @one_stage(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }

  // Where warps join their rows, a barrier stands between the stores of maxima and their loads; the next keys may be copied
  // after it. A step copies its own values, after its first barrier.
  // CHECK-LABEL: tile.program @joined_tile
  // CHECK: scf.for
  // CHECK: tile.sync copies 0
  // CHECK-NEXT: tile.get %[[K:.*]] : <1 x vector<64x64xbf16>>
  // CHECK-NEXT: tile.put %[[V:.*]], %arg2
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.release %[[K]]
  // CHECK: tile.sync{{$}}
  // CHECK-NEXT: tile.get %{{.*}} : <1 x vector<2x64xf32>>
  // CHECK: tile.put %[[K]], %arg1
  // CHECK: tile.sync copies 1
  // CHECK-NEXT: tile.get %{{.*}} : <1 x vector<64x64xbf16>>
  // CHECK-NEXT: tile.get %[[V]]
  // CHECK-NOT: tile.sync
  // CHECK: scf.yield
  func.func @joined(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 2, stages = 1>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }

  // With weights ahead one barrier serves maxima, weights of the step before and values.
  // CHECK-LABEL: tile.program @ahead_tile
  // CHECK: scf.for
  // CHECK: tile.sync copies 0
  // CHECK-NEXT: tile.get %[[K:.*]] : <1 x vector<64x64xbf16>>
  // CHECK-NEXT: tile.put %[[V:.*]], %arg2
  // CHECK: tile.share %{{.*}} : vector<64xf32>
  // CHECK-NEXT: tile.sync copies 0
  // CHECK-NEXT: tile.get %{{.*}} : <1 x vector<2x64xf32>>
  // CHECK-NEXT: tile.get %{{.*}} : <2 x vector<64x64xbf16>>
  // CHECK-NEXT: tile.get %[[V]]
  // CHECK: tile.put %[[K]], %arg1
  // CHECK: tile.mma
  // CHECK-NOT: tile.sync
  // CHECK: tile.share %{{.*}} : vector<64x64xbf16>
  // CHECK-NOT: tile.sync
  // CHECK: scf.yield
  func.func @ahead(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 2, stages = 1, weights_ahead = true>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}
