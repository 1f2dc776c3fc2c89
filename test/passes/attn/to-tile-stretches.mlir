// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// Where data decides about the steps of gradients, eight are looked at together first: the least and greatest segments of 128
// keys, and those of the tile's queries, which are looked at once. Those that all lie in other segments are left out, and such as all are kept look at nothing
// more. In the others each step is looked at.

// CHECK-LABEL: tile.program @kernel_dq(
// CHECK: tile.min_max {{.*}} {most = 32 : i64}
// CHECK: scf.for %[[STRETCH:[a-z0-9]+]] = %{{.*}} to %[[HIGH:[a-z0-9]+]] step %c128 iter_args
// CHECK-NOT: most = 32
// CHECK: %[[NEXT:.*]] = arith.addi %[[STRETCH]], %c128
// CHECK: tile.min_max {{.*}} {most = 128 : i64}
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %[[HIGH]]
// CHECK: scf.if %[[SOME:.*]] -> (vector<32x16xf32>) {
// CHECK: scf.if %[[ALL:.*]] -> (vector<32x16xf32>) {
// CHECK: scf.for %{{.*}} = %[[STRETCH]] to %[[END]] step %c16 iter_args
// CHECK-NOT: tile.min_max
// CHECK-NOT: tile.mask
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[STRETCH]] to %[[END]] step %c16 iter_args
// CHECK-NOT: most = 32
// CHECK: tile.min_max {{.*}} {most = 16 : i64}
// CHECK: tile.mask
// CHECK: tile.return
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xbf16>, %k: tensor<?x?x4x16xbf16>, %v: tensor<?x?x4x16xbf16>,
                  %o: tensor<?x?x4x16xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xbf16>, %ids: tensor<?x?xi32>)
    -> (tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xbf16>) -> (tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>)
  return %dq, %dk, %dv : tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>, tensor<?x?x4x16xbf16>
}
}
