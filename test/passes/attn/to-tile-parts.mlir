// RUN: attnc-opt %s --attn-infer-bounds --attn-to-tile --canonicalize --cse | FileCheck %s

// Tiles that go over parts of their keys, and the program that combines what these leave (S16).

// Three parts of each tile; 16 columns of the output take 20 numbers a row. The second program has no parts, but a tile for
// each 8 columns of the output.
// CHECK-DAG: #[[PARTS:.*]] = affine_map<()[s0, s1, s2, s3] -> (((s0 ceildiv 32) * s1) * 12)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0, s1, s2, s3] -> (((s0 ceildiv 32) * s1) * 8)>
// CHECK-DAG: #[[PACKED:.*]] = affine_map<()[s0, s1, s2, s3] -> (((s0 ceildiv 32 + s1 - 2) * (s0 ceildiv (s0 + 1))) * 12)>
// CHECK-LABEL: tile.program @fixed_tile(
// CHECK-SAME: %[[WORKSPACE:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]>>, %[[T:[a-z0-9]+]]: index) attributes {grid = #[[PARTS]]
// CHECK: arith.remui %[[T]], %[[COUNT:.*]] : index
// CHECK: %[[PART:.*]] = arith.divui %[[T]], %[[COUNT]] : index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[PART]], %c3 : index
// CHECK: arith.muli %[[LEAST]], %{{.*}} : index
// CHECK: scf.for
// CHECK: tile.softmax
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[PART]], %c3 : index
// CHECK: scf.if %[[EXISTS]] {
// CHECK: tile.store %{{.*}}, %[[WORKSPACE]][%{{.*}}, %c0] axes [0, 1] below(
// CHECK: tile.store %{{.*}}, %[[WORKSPACE]][%{{.*}}, %c16] axes [0] below(
// CHECK: tile.store %{{.*}}, %[[WORKSPACE]][%{{.*}}, %c17] axes [0] below(

// CHECK-LABEL: tile.program @fixed_combine(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x?x4x16xf32, strided<[?, ?, ?, 1]>>, %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32, strided<[?, ?, 1]>>, %[[WORKSPACE:[a-z0-9]+]]: memref<?x?xf32
// CHECK-SAME: grid = #[[TILES]]
// CHECK-NOT: tile.softmax{{ }}
// The three are one group, of which all loads come first.
// CHECK-NOT: scf.for
// CHECK-COUNT-2: tile.load %[[WORKSPACE]][%{{.*}}, %[[COLUMN:.*]]] axes [0, 1] below(
// CHECK-NOT: arith.maximumf
// CHECK: tile.load %[[WORKSPACE]][%{{.*}}, %[[COLUMN]]] axes [0, 1] below(
// CHECK-COUNT-2: arith.maximumf
// CHECK-NOT: tile.load
// CHECK: tile.store %{{.*}}, %[[OUT]][%{{.*}}, %{{.*}}, %{{.*}}, %[[COLUMN]]] axes [1, 3]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COLUMN]], %c0 : index
// CHECK: scf.if %[[FIRST]] {
// CHECK: tile.store %{{.*}}, %[[LSE]]
func.func @fixed(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 32, key_tile = 8, panel = 16, splits = 3>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x16xf32>, tensor<?x4x?xf32>
}

// Packed sequences: as many tiles a head as queries need, and for each sequence but one that begins inside of another's tile;
// parts by the mean of keys. The workspace has rows of all queries for each part.
// CHECK-LABEL: tile.program @packed_tile(
// CHECK-SAME: grid = #[[PACKED]]
// CHECK-LABEL: tile.program @packed_combine(
func.func @packed(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %v: tensor<?x4x16xf32>, %n: tensor<?xi32>)
    -> tensor<?x4x16xf32> {
  %o = attn.forward %q, %k, %v varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 32, key_tile = 8, panel = 16, splits = 3>)
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  return %o : tensor<?x4x16xf32>
}
