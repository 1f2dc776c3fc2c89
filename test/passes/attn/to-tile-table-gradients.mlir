// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// The gradient of a table that is read by a computed index, in an order that is the same in every run: a program sums for
// each row of queries what its elements read of several entries, and another adds rows and batch entries up.

// CHECK-DAG: #[[OF_ROWS:.*]] = affine_map<()[s0, s1, s2] -> (((s0 ceildiv 240) * s1) * 12)>
// CHECK-DAG: #[[OF_TABLE:.*]] = affine_map<()[s0, s1, s2] -> (176)>

// Where nobody asks for the gradients of queries and keys, statistics are all that is left of their programs.
// CHECK-LABEL: tile.program @kernel_dq(
// CHECK-NOT: tile.mma

// 44 entries in tiles of 16, of which the last has fewer.
// CHECK-LABEL: tile.program @kernel_dbuckets_0(
// CHECK-SAME: grid = #[[OF_ROWS]]
// CHECK: %[[SUMS:[0-9]+]]:16 = scf.for
// CHECK-COUNT-2: tile.mma
// CHECK: %[[READ:[0-9]+]] = tile.map tiles(%[[DS:[0-9]+]] : vector<240x64xf32>) rows() cols() at
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: arith.sitofp
// CHECK: tile.map tiles(%[[DS]], %[[READ]] : vector<240x64xf32>, vector<240x64xf32>)
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK-COUNT-16: tile.reduce <add>
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: tile.store %[[SUMS]]#0, %{{.*}} axes [1]
// CHECK: tile.store %[[SUMS]]#15, %{{.*}} axes [1]

// CHECK-LABEL: tile.program @kernel_dsums_0(
// CHECK-SAME: grid = #[[OF_TABLE]]
// CHECK: tile.reduce <add>
// CHECK: tile.store %{{.*}} axes [0] {{.*}} memref<44x4xf32
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %table: tensor<44x4xf32>, %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>,
                  %do: tensor<?x?x4x16xf32>) -> tensor<44x4xf32> attributes {attn.deterministic} {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do captured(%table[n, h] : tensor<44x4xf32>)
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %table[%d, %h] : tensor<44x4xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<44x4xf32>)
  return %d#3 : tensor<44x4xf32>
}
}
