// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles,canonicalize,cse))" | FileCheck %s

// One consumer hands tiles to a reducer. The reducer has all that is made of them, with the sum that the loop carries, and what
// nothing else reads: a product that starts a step ahead, its loads, and rows of a vector. What both read, both compute.

// CHECK-LABEL: tile.program @split(
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<?x64xbf16>, %[[V:[a-z0-9]+]]: memref<?x64xbf16>, %[[Q:[a-z0-9]+]]: memref<?x64xbf16>, %[[G:[a-z0-9]+]]: memref<?x64xbf16>, %[[DK:[a-z0-9]+]]: memref<?x64xbf16>, %[[DV:[a-z0-9]+]]: memref<?x64xbf16>,
// CHECK: %[[SR:.*]] = tile.ring : <2 x vector<64x64xf16>>
// CHECK: %[[KR:.*]] = tile.ring : <1 x vector<64x64xbf16>>
// CHECK: %[[VR:.*]] = tile.ring : <1 x vector<64x64xbf16>>
// CHECK: %[[GR:.*]] = tile.ring : <2 x vector<64x64xbf16>>
// CHECK: %[[QR:.*]] = tile.ring : <2 x vector<64x64xbf16>>
// CHECK-NOT: tile.ring
//
// A load becomes one put, even if both roles read it.
// CHECK: tile.role <producer>
// CHECK: tile.put %[[GR]], %[[G]]
// CHECK-NEXT: tile.put %[[VR]], %[[V]]
// CHECK-NEXT: tile.put %[[KR]], %[[K]]
// CHECK: scf.for
// CHECK: tile.put %[[QR]], %[[Q]]
// CHECK: tile.put %[[GR]], %[[G]]
// CHECK-NOT: tile.put
//
// CHECK: tile.role <consumer> warpgroups 1 registers 232 {
// CHECK: %[[ROWS:.*]] = arith.addf %{{.*}} : vector<64xf32>
// CHECK-NOT: %[[VR]]
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<64x64xf32>)
// CHECK: %[[KS:.*]] = tile.get %[[QR]] :
// CHECK: %[[S:.*]] = tile.mma %{{.*}}, %[[KS]], %{{.*}} transposed
// CHECK: %[[W:.*]] = tile.map tiles(%[[S]] {{.*}}) rows(%[[ROWS]]
// CHECK: tile.share %[[W]] to %[[SR]]
// CHECK: %[[GS:.*]] = tile.get %[[GR]] :
// CHECK: tile.mma %{{.*}}, %[[GS]], %[[SUM]]
// CHECK: tile.store %{{.*}}, %[[DV]]
// CHECK-NOT: {{tile.(mma|store)}}
//
// CHECK: tile.role <reducer> warpgroups 1 registers 232 {
// CHECK: %[[G0:.*]] = tile.get %[[GR]] :
// CHECK: %[[VS:.*]] = tile.get %[[VR]] :
// CHECK: %[[P0:.*]] = tile.mma %[[VS]], %[[G0]], %{{.*}} transposed
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[P:.*]] = %[[P0]])
// CHECK: %[[QS:.*]] = tile.get %[[QR]] :
// CHECK: %[[SHARED:.*]] = tile.get %[[SR]]
// CHECK-NEXT: %[[READ:.*]] = tile.read %[[SHARED]]
// CHECK: arith.addf %{{.*}} : vector<64xf32>
// CHECK: %[[D:.*]] = tile.map tiles(%[[READ]], %[[P]]
// CHECK: tile.mma %[[D]], %[[QS]], %[[SUM]]
// CHECK: %[[G1:.*]] = tile.get %[[GR]] :
// CHECK: tile.mma %[[VS]], %[[G1]], %{{.*}} transposed
// CHECK-NOT: {{tile.share %}}
// CHECK: tile.store %{{.*}}, %[[DK]]
// CHECK: tile.return
tile.program @split(%K: memref<?x64xbf16>, %V: memref<?x64xbf16>, %Q: memref<?x64xbf16>, %G: memref<?x64xbf16>,
                    %dK: memref<?x64xbf16>, %dV: memref<?x64xbf16>, %a: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 40,
                                       consumer_registers = 232, epilogue = direct,
                                       gradients = <logit_stages = 2, reducer_registers = 232>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant dense<1.0> : vector<64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %row = arith.muli %tile, %c64 : index
  %keys = memref.dim %K, %c0 : memref<?x64xbf16>
  %offset = vector.broadcast %a : f32 to vector<64xf32>
  %rows = arith.addf %offset, %one : vector<64xf32>
  %k = tile.load %K[%row, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %v = tile.load %V[%row, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %g0 = tile.load %G[%c0, %c0] axes [0, 1] below(%high, %c64) {tile.kept = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
  %p0 = tile.mma %v, %g0, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
  %r:3 = scf.for %j = %c0 to %high step %c64 iter_args(%dk = %zero, %dv = %zero, %p = %p0)
      -> (vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %w = tile.map tiles(%s : vector<64x64xf32>) rows(%rows : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %l: index):
      %sum = arith.addf %x, %y : f32
      %n = arith.truncf %sum : f32 to f16
      tile.yield %n : f16
    } -> vector<64x64xf16>
    tile.share %w : vector<64x64xf16>
    %narrow = tile.map tiles(%s : vector<64x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<64x64xbf16>
    %g = tile.load %G[%j, %c0] axes [0, 1] below(%high, %c64) {tile.held = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
    %dv1 = tile.mma %narrow, %g, %dv : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %shared = tile.take : !tile.shared<vector<64x64xf16>>
    %read = tile.read %shared : !tile.shared<vector<64x64xf16>> -> vector<64x64xf16>
    %d = tile.map tiles(%read, %p : vector<64x64xf16>, vector<64x64xf32>) rows(%rows : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f16, %y: f32, %z: f32, %i: index, %l: index):
      %wide = arith.extf %x : f16 to f32
      %m = arith.mulf %wide, %y : f32
      %m1 = arith.mulf %m, %z : f32
      %n = arith.truncf %m1 : f32 to bf16
      tile.yield %n : bf16
    } -> vector<64x64xbf16>
    %dk1 = tile.mma %d, %q, %dk : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %next = arith.addi %j, %c64 : index
    %g1 = tile.load %G[%next, %c0] axes [0, 1] below(%high, %c64) {tile.kept = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
    %p1 = tile.mma %v, %g1, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    scf.yield %dk1, %dv1, %p1 : vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>
  }
  %ofKeys = tile.map tiles(%r#0 : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<64x64xbf16>
  tile.store %ofKeys, %dK[%row, %c0] axes [0, 1] below(%keys, %c64) : vector<64x64xbf16>, memref<?x64xbf16>
  %ofValues = tile.map tiles(%r#1 : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<64x64xbf16>
  tile.store %ofValues, %dV[%row, %c0] axes [0, 1] below(%keys, %c64) : vector<64x64xbf16>, memref<?x64xbf16>
  tile.return
}
