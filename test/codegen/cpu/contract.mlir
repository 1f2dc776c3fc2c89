// RUN: attnc-opt %s --tile-to-cpu -split-input-file | FileCheck %s

// What a product adds to is scaled in one operation with the addition where the IR allows it, and else by itself.

// CHECK-LABEL: llvm.func @contracted_entry(
// The last of the sums, and what they are added to.
// CHECK: scf.yield
// CHECK: vector.fma
// CHECK-NOT: arith.mulf {{.*}} vector<8xf32>
// CHECK-NOT: arith.addf {{.*}} vector<8xf32>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @contracted(%q: memref<?x?xf32>, %f: memref<?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %a = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %b = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %x = tile.load %o[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%n) : memref<?xf32> -> vector<8xf32>
  %u = tile.map tiles(%x : vector<8x8xf32>) rows(%factor : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %g: f32, %i: index, %j: index):
    %p = arith.mulf %e, %g fastmath<contract> : f32
    tile.yield %p : f32
  } {scales_rows} -> vector<8x8xf32>
  %s = tile.mma %a, %b, %u transposed : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// CHECK-LABEL: llvm.func @rounded_entry(
// CHECK: scf.yield
// CHECK: %[[SCALED:.*]] = arith.mulf {{.*}} : vector<8xf32>
// CHECK: arith.addf %[[SCALED]], {{.*}} : vector<8xf32>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @rounded(%q: memref<?x?xf32>, %f: memref<?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %a = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %b = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %x = tile.load %o[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%n) : memref<?xf32> -> vector<8xf32>
  %u = tile.map tiles(%x : vector<8x8xf32>) rows(%factor : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %g: f32, %i: index, %j: index):
    %p = arith.mulf %e, %g : f32
    tile.yield %p : f32
  } {scales_rows} -> vector<8x8xf32>
  %s = tile.mma %a, %b, %u transposed : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
}
