// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// Gradients of sinks: a tile of the sinks of each head, over the statistics of its rows in all batch entries.

// CHECK-DAG: #[[GRID:.*]] = affine_map<()[s0, s1, s2, s3] -> (4)>
// CHECK-LABEL: tile.program @kernel_dsinks(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x4x16xf32, {{.*}}>, {{.*}}, %[[SINKS:[a-z0-9]+]]: memref<4x3xf32, strided<[?, ?]>>, {{.*}}, %[[OUT:[a-z0-9]+]]: memref<4x3xf32, strided<[?, 1]>>, %[[SPACE:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]>>, %[[HEAD:[a-z0-9]+]]: index)
// CHECK-SAME: grid = #[[GRID]], {{.*}}panel = 8 : i64, rows = 8 : i64
// CHECK: tile.live_rows %c3
// CHECK: %[[S:.*]] = tile.load %[[SINKS]][%[[HEAD]], %c0] axes [1] below(%c3)
// CHECK: %[[SUM:.*]] = scf.for %[[B:[a-z0-9]+]] = %c0 to %{{.*}} step %c1
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0 to %{{.*}} step %c64 iter_args(%[[ACC:[a-z0-9]+]] =
// CHECK: %[[LSE:.*]] = tile.load %[[SPACE]][%{{.*}}, %[[I]]] axes [1]
// CHECK: %[[DELTA:.*]] = tile.load %[[SPACE]][%{{.*}}, %[[I]]] axes [1]
// CHECK: %[[TERMS:.*]] = tile.map tiles(%{{.*}} : vector<8x64xf32>) rows(%[[S]] : vector<8xf32>) cols(%[[LSE]], %[[DELTA]]
// CHECK: math.exp
// CHECK: %[[PART:.*]] = tile.reduce <add> %[[TERMS]], %cst
// CHECK: arith.addf %[[ACC]], %[[PART]]
// CHECK: tile.store %[[SUM]], %[[OUT]][%[[HEAD]], %c0] axes [1] below(%c3)
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %sinks: tensor<4x3xf32>, %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> tensor<4x3xf32> {
  %dq, %dk, %dv, %dsinks = attn.backward %q, %k, %v, %o, %lse, %do sinks(%sinks : tensor<4x3xf32>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4x3xf32>)
  return %dsinks : tensor<4x3xf32>
}
}
