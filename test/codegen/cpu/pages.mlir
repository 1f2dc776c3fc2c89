// Rows in pages: the table says where each lies, and is asked for rows below the limit alone.

// RUN: attnc-opt %s --tile-to-cpu --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @pages_entry(
// Keys, which are staged before: an entry a row, and none is asked for ahead.
// CHECK-NOT: memref.prefetch
// CHECK: %[[KEY:.*]] = arith.divui %[[POSITION:.*]], %c16 : index
// CHECK-NEXT: %[[PAGE:.*]] = memref.load %[[TABLE:[a-z0-9]+]][%[[SEQUENCE:.*]], %[[KEY]]] : memref<?x?xi32>
// CHECK-NEXT: %[[NUMBER:.*]] = arith.index_cast %[[PAGE]] : i32 to index
// CHECK-NEXT: %[[ROW:.*]] = arith.remui %[[POSITION]], %c16 : index
// CHECK: vector.load %[[VIEW:[a-z0-9]+]][%[[NUMBER]], %[[ROW]], %{{.*}}] : memref<?x16x?xf32>, vector<4xf32>
// Rows of the tile itself, of those of a panel that are live.
// CHECK: scf.for %[[LIVE:.*]] = %{{.*}} to %{{.*}} step %c4 {
// CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %[[LIVE]] : index
// CHECK: %[[ENTRY:.*]] = arith.divui %[[OWN]], %c16 : index
// CHECK-NEXT: %[[OTHER:.*]] = memref.load %[[TABLE]][%[[SEQUENCE]], %[[ENTRY]]] : memref<?x?xi32>
// CHECK-NEXT: %[[OF:.*]] = arith.index_cast %[[OTHER]] : i32 to index
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[OWN]], %c16 : index
// CHECK: vector.load %[[VIEW]][%[[OF]], %[[IN]], %{{.*}}] : memref<?x16x?xf32>, vector<4xf32>
// CHECK-NOT: memref.prefetch
// CHECK: vector.fma
// A tile without a table is where its indices say.
// CHECK-LABEL: llvm.func @no_pages_entry(
// CHECK-NOT: memref<?x?xi32>
// CHECK: memref.prefetch
// CHECK: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @pages(%v: memref<?x16x?xf32>, %table: memref<?x?xi32>, %o: memref<?x?xf32>, %b: index, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%b, %n, %c0] pages(%table : memref<?x?xi32>) axes [1, 2] below(%n, %c16) : memref<?x16x?xf32> -> vector<16x16xf32>
  %k = tile.load %v[%b, %c0, %c0] pages(%table : memref<?x?xi32>) axes [1, 2] below(%n, %c16) : memref<?x16x?xf32> -> vector<16x16xf32>
  %s = tile.mma %a, %k, %zero transposed : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x16xf32>, memref<?x?xf32>
  tile.return
}
tile.program @no_pages(%v: memref<?x16x?xf32>, %o: memref<?x?xf32>, %b: index, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%b, %n, %c0] axes [1, 2] below(%n, %c16) : memref<?x16x?xf32> -> vector<16x16xf32>
  %k = tile.load %v[%b, %c0, %c0] axes [1, 2] below(%n, %c16) : memref<?x16x?xf32> -> vector<16x16xf32>
  %s = tile.mma %a, %k, %zero transposed : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x16xf32>, memref<?x?xf32>
  tile.return
}
}
