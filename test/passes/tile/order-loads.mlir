// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-order-loads))" | FileCheck %s

// Products of f32 by warps have their loads one ahead: of parts two at a time where a warp has sixteen rows, and of
// numbers for wide accumulators those of one product. Products of 16 bits are left to the assembler. Lists have four
// steps on their way, with all of a row that is known to be short.

// CHECK-LABEL: tile.program @sixteen_rows(
// CHECK: tile.mma %{{.*}} transposed {tile.load_ahead, tile.loads_together = 2 : i64} : {{.*}}3x16x64xbf16
// CHECK: tile.mma %{{.*}} transposed {tile.load_ahead} : {{.*}}<16x64xf32>>
// CHECK: tile.mma %{{.*}} {tile.load_ahead, tile.load_columns = 8 : i64} : {{.*}}<16x232xf32>>
// CHECK: tile.mma %{{.*}} transposed : {{.*}}<16x64xbf16>>
// CHECK: tile.min_max %{{.*}} {most = 160 : i64, tile.loads_together = 5 : i64}
// CHECK: tile.min_max %{{.*}} {most = 288 : i64, tile.loads_together = 4 : i64}
// CHECK: tile.min_max %{{.*}} {most = 16 : i64, tile.loads_together = 4 : i64}
// CHECK: } {tile.loads_together = 4 : i64} : memref<?x?xi32
tile.program @sixteen_rows(%ids: memref<?x?xi32>, %n: index, %list: memref<?x?xi32, strided<[?, 1]>>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 64, panel = 64,
                workspaces = [#tile.workspace<"steps", ()[s0] -> (s0, s0 * 2 + 3)>],
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %parts = tile.ring : !tile.ring<1 x vector<3x16x64xbf16>>
  %numbers = tile.ring : !tile.ring<1 x vector<16x64xf32>>
  %wide = tile.ring : !tile.ring<1 x vector<16x232xf32>>
  %halves = tile.ring : !tile.ring<1 x vector<16x64xbf16>>
  %p = tile.get %parts : <1 x vector<3x16x64xbf16>> -> <vector<3x16x64xbf16>>
  %k = tile.get %numbers : <1 x vector<16x64xf32>> -> <vector<16x64xf32>>
  %v = tile.get %wide : <1 x vector<16x232xf32>> -> <vector<16x232xf32>>
  %h = tile.get %halves : <1 x vector<16x64xbf16>> -> <vector<16x64xbf16>>
  %q = arith.constant dense<1.0> : vector<64x64xf32>
  %qh = arith.constant dense<1.0> : vector<64x64xbf16>
  %none = arith.constant dense<0.0> : vector<64x16xf32>
  %zero = arith.constant dense<0.0> : vector<64x232xf32>
  %s0 = tile.mma %q, %p, %none transposed : vector<64x64xf32>, !tile.shared<vector<3x16x64xbf16>>, vector<64x16xf32>
  %s1 = tile.mma %q, %k, %s0 transposed : vector<64x64xf32>, !tile.shared<vector<16x64xf32>>, vector<64x16xf32>
  %o = tile.mma %s1, %v, %zero : vector<64x16xf32>, !tile.shared<vector<16x232xf32>>, vector<64x232xf32>
  %s2 = tile.mma %qh, %h, %s1 transposed : vector<64x64xbf16>, !tile.shared<vector<16x64xbf16>>, vector<64x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.block_mask %list[%tile] from %c0 to %n step %c64 {
  ^bb0(%j: index):
    %a, %b = tile.min_max %ids[%c0, %j] to [%c0, %n] {most = 160 : i64} : memref<?x?xi32> -> i32, i32
    %c, %d = tile.min_max %ids[%c0, %j] to [%c0, %n] {most = 288 : i64} : memref<?x?xi32> -> i32, i32
    %e, %f = tile.min_max %ids[%c0, %j] to [%c1, %n] {most = 16 : i64} : memref<?x?xi32> -> i32, i32
    %some = arith.cmpi sge, %b, %c : i32
    %all = arith.cmpi eq, %d, %e : i32
    tile.yield %some, %all : i1, i1
  } : memref<?x?xi32, strided<[?, 1]>>
  tile.return
}

// Where a warp has thirty-two, one load has two products for each of its columns.
// CHECK-LABEL: tile.program @thirty_two_rows(
// CHECK: tile.mma %{{.*}} transposed {tile.load_ahead} : {{.*}}3x16x64xbf16
tile.program @thirty_two_rows(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 128,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %parts = tile.ring : !tile.ring<1 x vector<3x16x64xbf16>>
  %p = tile.get %parts : <1 x vector<3x16x64xbf16>> -> <vector<3x16x64xbf16>>
  %q = arith.constant dense<1.0> : vector<128x64xf32>
  %none = arith.constant dense<0.0> : vector<128x16xf32>
  %s = tile.mma %q, %p, %none transposed : vector<128x64xf32>, !tile.shared<vector<3x16x64xbf16>>, vector<128x16xf32>
  tile.return
}
