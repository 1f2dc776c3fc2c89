// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-bound-launch))" | FileCheck %s
// RUN: attnc compile %examples/llama3.mlir --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=LLAMA

// A multiprocessor has one block at a time where registers move between roles, of products of f32, and of products by the
// largest blocks: not of smaller ones, of the largest without products, or on other machines.

// CHECK: tile.program @roles({{.*}} tile.min_blocks = 1 : i64
// CHECK: tile.program @floats({{.*}} tile.min_blocks = 1 : i64
// CHECK: tile.program @largest({{.*}} tile.min_blocks = 1 : i64
// CHECK-NOT: tile.min_blocks

// LLAMA: tile.program @{{.*}} tile.min_blocks = 1 : i64

tile.program @roles(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                       consumer_registers = 240, epilogue = direct>} {
  tile.return
}
tile.program @floats(%a: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<64x64xf32>
  %p = tile.mma %x, %x, %zero : vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>
  tile.return
}
tile.program @largest(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 512, panel = 64,
                pipeline = #attn.warps<consumers = 8, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<512x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<512x64xbf16>
  %y = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  %p = tile.mma %x, %y, %zero : vector<512x64xbf16>, vector<64x64xbf16>, vector<512x64xf32>
  tile.return
}
tile.program @smaller(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 256, panel = 64,
                pipeline = #attn.warps<consumers = 4, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<256x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<256x64xbf16>
  %y = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  %p = tile.mma %x, %y, %zero : vector<256x64xbf16>, vector<64x64xbf16>, vector<256x64xf32>
  tile.return
}
tile.program @without_products(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 512, panel = 64,
                pipeline = #attn.warps<consumers = 8, stages = 1>} {
  tile.return
}
tile.program @others(%a: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<64x64xf32>
  %p = tile.mma %x, %x, %zero : vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>
  tile.return
}
