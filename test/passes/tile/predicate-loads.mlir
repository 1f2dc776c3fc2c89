// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-predicate-loads))" | FileCheck %s

// Where consumers share tiles, captured tiles and vectors along columns are read by predicates. A vector along rows has
// one element a row, and blocks of a workspace are whole; other programs branch.

// CHECK-LABEL: tile.program @shares(
// CHECK: tile.load {{.*}} below(%{{.*}}, %{{.*}}) {tile.predicated} : memref<?x?xbf16> -> vector<64x64xbf16>
// CHECK: tile.load {{.*}} below(%{{.*}}) {tile.predicated} : memref<?x?xbf16> -> vector<1x64xbf16>
// CHECK: tile.load {{.*}} below(%{{.*}}) : memref<?x?xbf16> -> vector<64xbf16>
// CHECK: tile.load {{.*}} {blocked} : memref<?x64xf32> -> vector<64x64xf32>
tile.program @shares(%a: memref<?x?xbf16>, %w: memref<?x64xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                       consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  %y = tile.load %a[%c0, %c0] axes [1] below(%n) : memref<?x?xbf16> -> vector<1x64xbf16>
  %z = tile.load %a[%c0, %c0] axes [0] below(%n) : memref<?x?xbf16> -> vector<64xbf16>
  %b = tile.load %w[%c0, %c0] axes [0, 1] below(%n, %n) {blocked} : memref<?x64xf32> -> vector<64x64xf32>
  tile.share %x : vector<64x64xbf16>
  tile.return
}

// CHECK-LABEL: tile.program @shares_nothing(
// CHECK-NOT: tile.predicated
tile.program @shares_nothing(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                       consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<64x64xbf16>
  tile.return
}

// By warps, those of gradients do whose warps have the same rows, but neither where each has rows of its own, nor where
// they join their rows, as in forward.

// CHECK-LABEL: tile.program @same_rows(
// CHECK: tile.load {{.*}} {tile.predicated} : memref<?x?xbf16> -> vector<1x64xbf16>
tile.program @same_rows(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %x = arith.constant dense<0.0> : vector<64x64xbf16>
  %y = tile.load %a[%c0, %c0] axes [1] below(%n) : memref<?x?xbf16> -> vector<1x64xbf16>
  tile.share %x to %ring : !tile.ring<1 x vector<64x64xbf16>> : vector<64x64xbf16>
  tile.return
}

// CHECK-LABEL: tile.program @own_rows(
// CHECK-NOT: tile.predicated
tile.program @own_rows(%a: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %ring = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  %x = arith.constant dense<0.0> : vector<128x64xbf16>
  %y = tile.load %a[%c0, %c0] axes [1] below(%n) : memref<?x?xbf16> -> vector<1x64xbf16>
  tile.share %x to %ring : !tile.ring<1 x vector<128x64xbf16>> : vector<128x64xbf16>
  tile.return
}

// CHECK-LABEL: tile.program @joined_rows(
// CHECK-NOT: tile.predicated
tile.program @joined_rows(%a: memref<?x?xbf16>, %o: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %ring = tile.ring : !tile.ring<1 x vector<2x64xf32>>
  %rows = arith.constant dense<0.0> : vector<64xf32>
  %y = tile.load %a[%c0, %c0] axes [1] below(%n) : memref<?x?xbf16> -> vector<1x64xbf16>
  tile.share %rows to %ring : !tile.ring<1 x vector<2x64xf32>> : vector<64xf32>
  %parts = tile.get %ring : !tile.ring<1 x vector<2x64xf32>> -> !tile.shared<vector<2x64xf32>>
  %max = tile.block_reduce %parts max : !tile.shared<vector<2x64xf32>> -> vector<64xf32>
  tile.release %ring : !tile.ring<1 x vector<2x64xf32>>
  tile.store %max, %o[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  tile.return
}
