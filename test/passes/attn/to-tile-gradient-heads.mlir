// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// Heads of a group whose slopes differ have a loop each in the program of a tile of keys: what the score reads of a head is loaded once.

// CHECK-LABEL: tile.program @kernel_dkdv(
// CHECK: scf.for %[[NUMBER:[a-z0-9]+]] = %c0 to %c2 step %c1
// CHECK: %[[H:.*]] = arith.addi %{{.*}}, %[[NUMBER]] : index
// CHECK: memref.load %{{.*}}[%[[H]]] : memref<4xf32
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to %{{.*}} step %c16
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[I]], %[[H]], %c0]
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x16xbf16>,
                  %o: tensor<?x?x4x16xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xbf16>, %slopes: tensor<4xf32>)
    -> (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xbf16>) -> (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>)
  return %dq, %dk, %dv : tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>
}
}
