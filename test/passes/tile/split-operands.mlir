// RUN: attnc-opt %s --pass-pipeline='builtin.module(attnc-attn,attnc-tile)' | FileCheck %s

// With split_floats, keys and values of f32 are split into parts as soon as both are there: two barriers a step, and the copies
// of the next step start between them.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#split = #attn.warps<consumers = 1, stages = 1, split_floats = true>
!t = tensor<?x?x4x64xf32>
module attributes {attn.target = #gpu} {
  // CHECK-LABEL: tile.program @forward_tile
  // CHECK-SAME: split_floats = true
  // CHECK-SAME: shared_bytes = 57344
  // CHECK: %[[Q:.*]] = tile.ring {offset = 0 : i64} : <1 x vector<64x64xf32>>
  // CHECK: %[[K:.*]] = tile.ring {offset = 16384 : i64} : <1 x vector<32x64xf32>>
  // CHECK: %[[KP:.*]] = tile.ring {offset = 24576 : i64} : <1 x vector<3x32x64xbf16>>
  // CHECK: %[[V:.*]] = tile.ring {offset = 36864 : i64} : <1 x vector<32x64xf32>>
  // CHECK: %[[VP:.*]] = tile.ring {offset = 45056 : i64} : <1 x vector<3x32x64xbf16>>
  // CHECK: scf.for
  // CHECK-NEXT: tile.sync copies 0
  // CHECK-NEXT: %[[VRAW:.*]] = tile.get %[[V]]
  // CHECK-NEXT: %[[KRAW:.*]] = tile.get %[[K]]
  // CHECK-NEXT: tile.split %[[VRAW]] to %[[VP]]
  // CHECK-NEXT: tile.release %[[V]]
  // CHECK-NEXT: tile.split %[[KRAW]] to %[[KP]]
  // CHECK-NEXT: tile.release %[[K]]
  // CHECK-NEXT: tile.sync{{$}}
  // CHECK-NEXT: %[[VS:.*]] = tile.get %[[VP]]
  // CHECK-NEXT: %[[KS:.*]] = tile.get %[[KP]]
  // CHECK: tile.put %[[K]]
  // CHECK: tile.put %[[V]]
  // CHECK-NOT: tile.sync
  // CHECK: tile.mma %{{.*}}, %[[KS]], %{{.*}} transposed
  // CHECK-NEXT: tile.release %[[KP]]
  // CHECK-NOT: tile.sync
  // CHECK: tile.mma %{{.*}}, %[[VS]],
  // CHECK-NEXT: tile.release %[[VP]]
  // CHECK-NEXT: scf.yield
  func.func @forward(%q: !t, %k: !t, %v: !t) -> !t {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #split>) : (!t, !t, !t) -> !t
    return %o : !t
  }

  // Two of three products with keys read the same parts.
  // CHECK-LABEL: tile.program @backward_dq(
  // CHECK: scf.for
  // CHECK: tile.split %{{.*}} to %[[VP:[0-9]+]] :
  // CHECK: tile.split %{{.*}} to %[[KP:[0-9]+]] :
  // CHECK: %[[VS:.*]] = tile.get %[[VP]]
  // CHECK: %[[KS:.*]] = tile.get %[[KP]]
  // CHECK: tile.mma %{{.*}}, %[[KS]], %{{.*}} transposed
  // CHECK: tile.mma %{{.*}}, %[[VS]], %{{.*}} transposed
  // CHECK: tile.mma %{{.*}}, %[[KS]], %{{[a-z0-9_]+}} {tile.load_ahead, tile.loads_together = 2 : i64} : vector
  // CHECK: scf.yield
  // CHECK-LABEL: tile.program @backward_dkdv(
  // CHECK-NOT: tile.split
  func.func @backward(%q: !t, %k: !t, %v: !t, %o: !t, %lse: tensor<?x4x?xf32>, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
      schedule(#attn.schedule<query_tile = 64, key_tile = 16, panel = 64, pipeline = #split, program = dq>,
               #attn.schedule<query_tile = 16, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1>, program = dkdv>)
      : (!t, !t, !t, !t, tensor<?x4x?xf32>, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}
