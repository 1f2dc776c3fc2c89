// Where shared tiles are: [rows][columns] in scratch memory, in as many places as tiles wait at most.

// RUN: attnc-opt %s --tile-to-cpu --canonicalize --cse | FileCheck %s

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {

// One place, which needs no count. Panels write their rows of it, in squares that are turned; then the product reads columns
// of the tile as its rows, a register of them beside each other for each step of the sum, and its result has other panels.
// CHECK-LABEL: llvm.func @one_entry(
// CHECK: %[[PLACE:.*]] = memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<32x16xf32>
// CHECK: scf.for %[[PANEL:.*]] = %c0 to %c2 step %c1 {
// CHECK: %[[FIRST:.*]] = arith.muli %[[PANEL]], %c16 : index
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c4 {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c16 step %c4 {
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[ROW]] : index
// CHECK: vector.store %{{.*}}, %[[PLACE]][%[[AT]], %[[COLUMN]]] : memref<32x16xf32>, vector<4xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c4
// CHECK: vector.load %[[PLACE]][%{{.*}}, %c0] : memref<32x16xf32>, vector<8xf32>
// CHECK: vector.load %[[PLACE]][%{{.*}}, %c8] : memref<32x16xf32>, vector<8xf32>
tile.program @one(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = 16} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x8xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<32x16xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<32x8xf32>
  tile.share %t : vector<32x16xf32>
  %s = tile.take : !tile.shared<vector<32x16xf32>>
  %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<32x16xf32>>, vector<32x8xf32>, vector<16x8xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}

// Two places in turns: a count of what was shared and one of what was taken.
// CHECK-LABEL: llvm.func @two_entry(
// CHECK-DAG: %[[PLACES:.*]] = memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<2x16x16xf32>
// CHECK-DAG: %[[COUNTS:.*]] = memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<2xi64>
// CHECK-DAG: memref.store %c0_i64, %[[COUNTS]][%c0] : memref<2xi64>
// CHECK-DAG: memref.store %c0_i64, %[[COUNTS]][%c1] : memref<2xi64>
// CHECK: scf.for
// CHECK: %[[SHARED:.*]] = memref.load %[[COUNTS]][%c0] : memref<2xi64>
// CHECK: %[[MORE:.*]] = arith.addi %[[SHARED]], %c1_i64 : i64
// CHECK: memref.store %[[MORE]], %[[COUNTS]][%c0] : memref<2xi64>
// CHECK: %[[TURN:.*]] = arith.remui %[[SHARED]], %c2_i64 : i64
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[TURN]] : i64 to index
// CHECK: memref.subview %[[PLACES]][%[[NUMBER]], 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32> to memref<16x16xf32, strided<[16, 1], offset: ?>>
// CHECK: memref.load %[[COUNTS]][%c1] : memref<2xi64>
tile.program @two(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  tile.share %t : vector<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (vector<16x16xf32>) {
    tile.share %x : vector<16x16xf32>
    %s = tile.take : !tile.shared<vector<16x16xf32>>
    %y = tile.mma %s, %k, %x left_transposed : !tile.shared<vector<16x16xf32>>, vector<16x16xf32>, vector<16x16xf32>
    scf.yield %y : vector<16x16xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x16xf32>, memref<?x?xf32>
  tile.return
}
}
