// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse | FileCheck %s

// The two programs of a backward: tiles of 32 queries that visit 16 keys a step, and tiles of 32 keys that visit 16
// queries a step, of both heads of a group. Head dims of 16 and 24.

// One pair of statistics for each query of each of four heads: LSE and delta.
// CHECK-DAG: #[[DQ_GRID:.*]] = affine_map<()[s0, s1, s2] -> (((s0 ceildiv 32) * s1) * 4)>
// CHECK-DAG: #[[DKDV_GRID:.*]] = affine_map<()[s0, s1, s2, s3] -> (((s0 ceildiv 32) * s1) * 2)>

// CHECK-LABEL: tile.program @kernel_dq(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x4x16xbf16, {{.*}}>, %[[K:[a-z0-9]+]]: memref<?x?x2x16xbf16, {{.*}}>, %[[V:[a-z0-9]+]]: memref<?x?x2x24xbf16, {{.*}}>, %[[O:[a-z0-9]+]]: memref<?x?x4x24xbf16, {{.*}}>, %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32, {{.*}}>, %[[DO:[a-z0-9]+]]: memref<?x?x4x24xbf16, {{.*}}>, %[[DQ:[a-z0-9]+]]: memref<?x?x4x16xbf16, {{.*}}>, %{{.*}}: memref<?x?x2x16xbf16, {{.*}}>, %{{.*}}: memref<?x?x2x24xbf16, {{.*}}>, %[[SPACE:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]>>, %{{.*}}: index)
// CHECK-SAME: grid = #[[DQ_GRID]], grid_sizes = array<i64: 0, 1, 0, 0, 0, 0>, panel = 16 : i64, rows = 32 : i64, workspaces = [#tile.workspace<"statistics", ()[s0, s1, s2] -> (s2 * 8, s0)>]
// CHECK: %[[QT:.*]] = tile.load %[[Q]]
// CHECK: %[[DOT:.*]] = tile.load %[[DO]]
// delta: the sum of out times its gradient.
// CHECK: %[[OT:.*]] = tile.load %[[O]]
// CHECK: %[[PRODUCTS:.*]] = tile.map tiles(%[[OT]], %[[DOT]]
// CHECK: %[[DELTA:.*]] = tile.reduce <add> %[[PRODUCTS]]
// An empty row has an LSE of +inf from here on, which leaves no probability.
// CHECK: %[[L:.*]] = tile.load %[[LSE]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[L]], %{{.*}} : vector<32xf32>
// CHECK: %[[OCTAVES:.*]] = arith.mulf %[[L]], %{{.*}} : vector<32xf32>
// CHECK: %[[LSE2:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[OCTAVES]]
// CHECK: tile.store %[[LSE2]], %[[SPACE]][%[[AT:.*]], %{{.*}}] axes [1]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c1
// CHECK: tile.store %[[DELTA]], %[[SPACE]][%[[NEXT]], %{{.*}}] axes [1]
// CHECK: %[[SUM:.*]] = scf.for %[[J:[a-z0-9]+]] = %c0 to %{{.*}} step %c16 iter_args(%[[ACC:[a-z0-9]+]] = %{{.*}}) -> (vector<32x16xf32>) {
// CHECK: %[[KT:.*]] = tile.load %[[K]][%{{.*}}, %[[J]], %{{.*}}, %c0]
// CHECK: %[[VT:.*]] = tile.load %[[V]][%{{.*}}, %[[J]], %{{.*}}, %c0]
// CHECK: %[[S:.*]] = tile.mma %[[QT]], %[[KT]], %{{.*}} transposed
// CHECK: %[[MASKED:.*]] = tile.mask tiles(%[[S]] : {{.*}}) rows() cols() at(%{{.*}}, %[[J]]) full(
// CHECK: %[[P:.*]] = tile.map tiles(%[[MASKED]] : {{.*}}) rows(%[[LSE2]] : vector<32xf32>) cols()
// CHECK: math.exp2
// CHECK: %[[DP:.*]] = tile.mma %[[DOT]], %[[VT]], %{{.*}} transposed
// CHECK: %[[DS:.*]] = tile.map tiles(%[[P]], %[[DP]] : {{.*}}) rows(%[[DELTA]] : vector<32xf32>) cols()
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK: %[[NEW:.*]] = tile.mma %[[DS]], %[[KT]], %[[ACC]] :
// CHECK: scf.yield %[[NEW]]
// The scale of the logits is that of their gradients.
// CHECK: %[[SCALED:.*]] = tile.map tiles(%[[SUM]]
// CHECK: tile.store %[[SCALED]], %[[DQ]]

// Queries are in columns here: their statistics are column vectors, and their positions those of the loop and the shift.
// CHECK-LABEL: tile.program @kernel_dkdv(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x4x16xbf16, {{.*}}>, %[[K:[a-z0-9]+]]: memref<?x?x2x16xbf16, {{.*}}>, %[[V:[a-z0-9]+]]: memref<?x?x2x24xbf16, {{.*}}>, %{{.*}}: memref<?x?x4x24xbf16, {{.*}}>, %{{.*}}: memref<?x4x?xf32, {{.*}}>, %[[DO:[a-z0-9]+]]: memref<?x?x4x24xbf16, {{.*}}>, %{{.*}}: memref<?x?x4x16xbf16, {{.*}}>, %[[DK:[a-z0-9]+]]: memref<?x?x2x16xbf16, {{.*}}>, %[[DV:[a-z0-9]+]]: memref<?x?x2x24xbf16, {{.*}}>, %[[SPACE:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]>>, %{{.*}}: index)
// CHECK-SAME: grid = #[[DKDV_GRID]], grid_sizes = array<i64: 1, 1, 0, 0, 0, 1, 0, 0>, panel = 16 : i64, rows = 32 : i64, workspaces = [#tile.workspace<"statistics", ()[s0, s1, s2, s3] -> (s3 * 8, s2)>]
// CHECK: %[[SHIFT:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[KT:.*]] = tile.load %[[K]]
// CHECK: %[[VT:.*]] = tile.load %[[V]]
// From the last queries on, and of each step both heads.
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[PLACE:[a-z0-9]+]] = %c0 to %{{.*}} step %c1 iter_args(%[[AK:[a-z0-9]+]] = %{{.*}}, %[[AV:[a-z0-9]+]] = %{{.*}}) -> (vector<32x16xf32>, vector<32x24xf32>) {
// CHECK: %[[HEAD:.*]] = arith.remui %[[PLACE]], %c2 : index
// CHECK: %[[H:.*]] = arith.addi %{{.*}}, %[[HEAD]] : index
// CHECK: %[[STEP:.*]] = arith.divui %[[PLACE]], %c2 : index
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1 : index
// CHECK: %[[NUMBER:.*]] = arith.subi %[[LAST]], %[[STEP]] : index
// CHECK: %[[I:.*]] = arith.muli %[[NUMBER]], %c16 : index
// CHECK: %[[QT:.*]] = tile.load %[[Q]][%{{.*}}, %[[I]], %[[H]], %c0]
// CHECK: %[[DOT:.*]] = tile.load %[[DO]][%{{.*}}, %[[I]], %[[H]], %c0]
// CHECK: %[[LSE2:.*]] = tile.load %[[SPACE]][%{{.*}}, %[[I]]] axes [1] {{.*}} -> vector<1x16xf32>
// CHECK: %[[DELTA:.*]] = tile.load %[[SPACE]][%{{.*}}, %[[I]]] axes [1] {{.*}} -> vector<1x16xf32>
// CHECK: %[[S:.*]] = tile.mma %[[KT]], %[[QT]], %{{.*}} transposed
// CHECK: %[[MASKED:.*]] = tile.mask tiles(%[[S]] : {{.*}}) rows() cols() at(%{{.*}}, %[[I]]) full(%{{.*}}, %{{.*}}) listed(%[[PLACE]])
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[R:[a-z0-9]+]]: index, %[[C:[a-z0-9]+]]: index):
// CHECK-NEXT: %[[POSITION:.*]] = arith.addi %[[C]], %[[SHIFT]] : index
// CHECK-NEXT: arith.cmpi sle, %[[R]], %[[POSITION]] : index
// CHECK: %[[P:.*]] = tile.map tiles(%[[MASKED]] : {{.*}}) rows() cols(%[[LSE2]] : vector<1x16xf32>)
// CHECK: %[[PT:.*]] = tile.map tiles(%[[P]]
// CHECK: arith.truncf
// CHECK: %[[NEWV:.*]] = tile.mma %[[PT]], %[[DOT]], %[[AV]] :
// CHECK: %[[DP:.*]] = tile.mma %[[VT]], %[[DOT]], %{{.*}} transposed
// CHECK: %[[DS:.*]] = tile.map tiles(%[[P]], %[[DP]] : {{.*}}) rows() cols(%[[DELTA]] : vector<1x16xf32>)
// CHECK: %[[NEWK:.*]] = tile.mma %[[DS]], %[[QT]], %[[AK]] :
// CHECK: scf.yield %[[NEWK]], %[[NEWV]]
// CHECK: tile.map tiles(%[[SUMS]]#0
// CHECK: tile.store %{{.*}}, %[[DK]]
// CHECK: tile.map tiles(%[[SUMS]]#1
// CHECK: tile.store %{{.*}}, %[[DV]]
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @kernel(%q: tensor<?x?x4x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x24xbf16>,
                  %o: tensor<?x?x4x24xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x24xbf16>)
    -> (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>, tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>,
       tensor<?x?x4x24xbf16>) -> (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>)
  return %dq, %dk, %dv : tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>
}
}
