// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// Gradients of captured tensors: a slope for each head, a number for each key, and numbers for each query and key, which
// heads and batch entries have of their own or share.

// Statistics of each head in a workspace: LSE, delta, and a sum for each captured tensor; those of keys come after those
// of queries.
// CHECK-DAG: #[[OF_BIAS:.*]] = affine_map<()[s0, s1, s2, s3, s4, s5] -> (((s2 ceildiv 240) * (s3 ceildiv 64)) * 4)>
// CHECK-DAG: #[[OF_SLOPES:.*]] = affine_map<()[s0, s1, s2, s3] -> (4)>
// CHECK-DAG: #[[OF_KEYS:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s2 ceildiv 8)>

// CHECK-LABEL: tile.program @kernel_dq(
// CHECK-SAME: workspaces = [#tile.workspace<"statistics", ()[s0, s1, s2, s3] -> (s3 * 16, s0 + s2)>]
// Tiles of keys that the mask drops, before and after those of the loop.
// CHECK: scf.for %{{.*}} = %c0 to
// CHECK: tile.store %cst{{[_0-9]*}}, %{{.*}} axes [2, 3] {{.*}} : vector<240x64xf32>, memref<?x4x?x?xf32
// CHECK: scf.for
// CHECK: tile.store %cst{{[_0-9]*}}, %{{.*}} axes [2, 3] {{.*}} : vector<240x64xf32>, memref<?x4x?x?xf32
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK: %[[DS:[0-9]+]] = tile.map tiles(%{{[0-9]+}}, %{{[0-9]+}} : vector<240x64xf32>, vector<240x64xf32>) rows(%{{[0-9]+}} : vector<240xf32>)
// CHECK: %[[DSLOPE:[0-9]+]] = tile.map tiles(%[[DS]] : vector<240x64xf32>) rows() cols() at
// CHECK: math.absi
// CHECK: tile.mma %[[DS]]
// CHECK: tile.reduce <add> %[[DSLOPE]]
// CHECK: tile.store %[[DS]], %{{.*}} axes [2, 3] {{.*}} memref<?x4x?x?xf32
// CHECK: tile.store %[[SUMS]]#1, %{{.*}} axes [1]

// CHECK-LABEL: tile.program @kernel_dkdv(
// CHECK: scf.for
// CHECK: %[[SUMS:.*]]:3 = scf.for
// CHECK: %[[DS:[0-9]+]] = tile.map tiles(%{{[0-9]+}}, %{{[0-9]+}} : vector<240x64xf32>, vector<240x64xf32>) rows() cols(%{{[0-9]+}} : vector<1x64xf32>)
// CHECK: tile.mma %[[DS]]
// CHECK: tile.reduce <add> %[[DS]]
// CHECK: tile.store %[[SUMS]]#2, %{{.*}} axes [1]
// CHECK: scf.yield %[[SUMS]]#0, %[[SUMS]]#1

// Of a tensor that batch entries share, each tile for all of them in turn, where the mask keeps something of it.
// CHECK-LABEL: tile.program @kernel_dbias_3(
// CHECK-SAME: grid = #[[OF_BIAS]]
// CHECK-NOT: scf.for
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %
// CHECK: scf.if
// CHECK-COUNT-2: tile.mma
// CHECK: %[[NEXT:.*]] = tile.map tiles(%[[BEFORE]], %{{.*}} : vector<240x64xf32>
// CHECK: arith.addf %{{.*}} fastmath<contract>
// CHECK: scf.yield %[[NEXT]]
// CHECK: } else {
// CHECK: scf.yield %[[BEFORE]]
// CHECK: %[[NARROW:.*]] = tile.map tiles(%[[SUM]]
// CHECK: tile.store %[[NARROW]], %{{.*}} axes [1, 2]

// CHECK-LABEL: tile.program @kernel_dsums_0(
// CHECK-SAME: grid = #[[OF_SLOPES]]
// CHECK: tile.live_rows %c1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: scf.for
// CHECK: tile.load %{{.*}} -> vector<1x64xf32>
// CHECK: tile.reduce <add>
// CHECK: tile.store %[[SUM]], %{{.*}} axes [0] {{.*}} memref<4xf32

// CHECK-LABEL: tile.program @kernel_dsums_1(
// CHECK-SAME: grid = #[[OF_KEYS]]
// CHECK-COUNT-2: scf.for
// CHECK: tile.load %{{.*}} -> vector<8xf32>
// CHECK: tile.store %{{.*}} axes [1] {{.*}} : vector<8xf16>, memref<1x?xf16
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x16xf32>,
                  %slopes: tensor<4xf32>, %keys: tensor<1x?xf16>, %own: tensor<?x4x?x?xf32>, %bias: tensor<4x?x?xbf16>,
                  %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> (tensor<4xf32>, tensor<1x?xf16>, tensor<?x4x?x?xf32>, tensor<4x?x?xbf16>) {
  %d:7 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%slopes[h] : tensor<4xf32>, %keys[h, j] : tensor<1x?xf16>, %own[b, h, i, j] : tensor<?x4x?x?xf32>,
             %bias[h, i, j] : tensor<4x?x?xbf16>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      %y = attn.bias %x, %keys[%h, %j] : tensor<1x?xf16>
      %z = attn.bias %y, %own[%b, %h, %i, %j] : tensor<?x4x?x?xf32>
      %r = attn.bias %z, %bias[%h, %i, %j] : tensor<4x?x?xbf16>
      attn.yield %r : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<4xf32>, tensor<1x?xf16>,
        tensor<?x4x?x?xf32>, tensor<4x?x?xbf16>)
  return %d#3, %d#4, %d#5, %d#6 : tensor<4xf32>, tensor<1x?xf16>, tensor<?x4x?x?xf32>, tensor<4x?x?xbf16>
}
}
