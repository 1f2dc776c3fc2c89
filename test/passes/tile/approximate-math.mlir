// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-approximate-math))" -split-input-file | FileCheck %s

// Results of 16 bits do not show what approximations of f32 lose; those of f32 do, and other machines have none.

// CHECK: tile.program @narrow({{.*}} tile.approximate_math
// CHECK: tile.program @started({{.*}} tile.approximate_math
// CHECK-NOT: tile.approximate_math

#pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                           epilogue = direct>
tile.program @narrow(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  %p = tile.mma %x, %x, %zero : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
  tile.return
}
tile.program @started(%x: memref<?x?xf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %ring = tile.ring : !tile.ring<1 x vector<64x64xf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %b = tile.get %ring : !tile.ring<1 x vector<64x64xf16>> -> !tile.shared<vector<64x64xf16>>
  %f = tile.start %b, %b, %zero transposed : !tile.shared<vector<64x64xf16>>, !tile.shared<vector<64x64xf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  tile.return
}
tile.program @wide(%a: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<64x64xf32>
  %p = tile.mma %x, %x, %zero : vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>
  tile.return
}
tile.program @others(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  %p = tile.mma %x, %x, %zero : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
  tile.return
}
