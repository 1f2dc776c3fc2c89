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
