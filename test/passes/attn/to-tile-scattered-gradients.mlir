// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// Gradients of tensors that are read in ways which give their elements neither rows nor tiles: sums in a workspace for each, which
// one program clears, another adds to, and a third rounds.

// CHECK-DAG: #[[TILES_OF_TABLE:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (152)>

// 301 numbers of four heads: elements of a tile are along the first dimension, which has more.
// CHECK-LABEL: tile.program @kernel_clear_scattered_0(
// CHECK-SAME: grid = #[[TILES_OF_TABLE]]
// CHECK: %[[SUMS:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [301, 4], strides: [4, 1] : memref<?x?xf32, strided<[?, 1]>> to memref<301x4xf32, strided<[4, 1]>>
// CHECK: tile.store %{{.*}}, %[[SUMS]][%{{.*}}, %{{.*}}] axes [0] below(%c301) : vector<8xf32>

// One program for both tensors. Heads are an index, rows of queries and a computed index tiles of places; what is open is
// clamped here.
// CHECK-LABEL: tile.program @kernel_dscattered(
// CHECK-SAME: workspaces = [#tile.workspace<"statistics", {{.*}}#tile.workspace<"scattered0", {{.*}}#tile.workspace<"scattered1", ()[s0, s1, s2, s3, s4] -> ((s3 * s4) ceildiv 256, 256)>]
// CHECK: scf.for
// CHECK-COUNT-2: tile.mma
// CHECK: %[[COMPUTED:[0-9]+]]:2 = tile.map tiles(%[[DS:[0-9]+]] : vector<240x64xf32>)
// CHECK: } -> (vector<240x64xi32>, vector<240x64xi32>)
// CHECK: %[[EXISTING:[0-9]+]] = tile.map tiles(%[[DS]] : vector<240x64xf32>) rows(
// CHECK: tile.scatter %[[EXISTING]], %{{.*}}[%c0, %{{.*}}] at(%[[COMPUTED]]#0 : vector<240x64xi32>) axes [0] {diagonals} : vector<240x64xf32>, memref<301x4xf32, strided<[4, 1]>>
// CHECK: %[[ROWS:[0-9]+]] = tile.map tiles() rows() cols() at(%{{.*}}, %{{.*}}) {
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: %[[INSIDE:[0-9]+]] = tile.map tiles(%[[COMPUTED]]#1 : vector<240x64xi32>)
// CHECK: arith.minsi
// CHECK: tile.scatter %[[EXISTING]], %{{.*}}[%c0, %c0] at(%[[ROWS]], %[[INSIDE]] : vector<240x64xi32>, vector<240x64xi32>) axes [0, 1] : vector<240x64xf32>, memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: tile.program @kernel_dsums_1(
// CHECK: %[[SUM:.*]] = tile.load
// CHECK: %[[NARROW:.*]] = arith.truncf %[[SUM]] : vector<8xf32> to vector<8xbf16>
// CHECK: tile.store %[[NARROW]], %{{.*}} axes [1]
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %table: tensor<301x4xf32>, %rows: tensor<?x?xbf16>, %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>,
                  %do: tensor<?x?x4x16xf32>) -> (tensor<301x4xf32>, tensor<?x?xbf16>) {
  %d:5 = attn.backward %q, %k, %v, %o, %lse, %do captured(%table[n, h] : tensor<301x4xf32>, %rows[i, n] : tensor<?x?xbf16>)
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %table[%d, %h] : tensor<301x4xf32>
      %y = attn.bias %x, %rows[%i, %d] : tensor<?x?xbf16>
      attn.yield %y : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<301x4xf32>, tensor<?x?xbf16>)
  return %d#3, %d#4 : tensor<301x4xf32>, tensor<?x?xbf16>
}
}
