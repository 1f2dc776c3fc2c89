// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-widen-loads))" | FileCheck %s

// Rows that are only summed, as those of delta, may be read in any order of columns: 16 bytes at a time.

// CHECK-LABEL: tile.program @sums(
// CHECK: tile.load %{{.*}} {tile.adjacent} : memref<?x128xbf16>
// CHECK: tile.load %{{.*}} {tile.adjacent} : memref<?x128xbf16>
// Who asks for columns, or hands elements on, has them where they belong, and so do those that are read together with them.
// CHECK-NOT: tile.adjacent
// CHECK: tile.return
tile.program @sums(%O: memref<?x128xbf16>, %G: memref<?x128xbf16>, %S: memref<?xf32>, %E: memref<?x128xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %o = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %g = tile.load %G[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %p = tile.map tiles(%o, %g : vector<64x128xbf16>, vector<64x128xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %y: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    %b = arith.extf %y : bf16 to f32
    %c = arith.mulf %a, %b : f32
    tile.yield %c : f32
  } -> vector<64x128xf32>
  %sum = tile.reduce <add> %p, %zero : vector<64x128xf32>, vector<64xf32>
  tile.store %sum, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  // Its column.
  %o1 = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %p1 = tile.map tiles(%o1 : vector<64x128xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %c = arith.mulf %a, %f : f32
    tile.yield %c : f32
  } -> vector<64x128xf32>
  %sum1 = tile.reduce <add> %p1, %zero : vector<64x128xf32>, vector<64xf32>
  tile.store %sum1, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  // Its elements leave, and those of a second tile with them.
  %o2 = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %g2 = tile.load %G[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %p2 = tile.map tiles(%o2, %g2 : vector<64x128xbf16>, vector<64x128xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %y: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    %b = arith.extf %y : bf16 to f32
    %c = arith.mulf %a, %b : f32
    tile.yield %c : f32
  } -> vector<64x128xf32>
  tile.store %p2, %E[%c0, %c0] axes [0, 1] below(%n, %c128) : vector<64x128xf32>, memref<?x128xf32>
  // Rows of no whole runs of 16 bytes a lane, and elements of 32 bits.
  %o3 = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x48xbf16>
  %p3 = tile.map tiles(%o3 : vector<64x48xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    tile.yield %a : f32
  } -> vector<64x48xf32>
  %sum3 = tile.reduce <add> %p3, %zero : vector<64x48xf32>, vector<64xf32>
  tile.store %sum3, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  %o4 = tile.load %E[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xf32> -> vector<64x128xf32>
  %p4 = tile.map tiles(%o4 : vector<64x128xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %a = arith.addf %x, %x : f32
    tile.yield %a : f32
  } -> vector<64x128xf32>
  %sum4 = tile.reduce <add> %p4, %zero : vector<64x128xf32>, vector<64xf32>
  tile.store %sum4, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  // One reader more.
  %o5 = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %p5 = tile.map tiles(%o5 : vector<64x128xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    tile.yield %a : f32
  } -> vector<64x128xf32>
  %sum5 = tile.reduce <add> %p5, %zero : vector<64x128xf32>, vector<64xf32>
  tile.store %sum5, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  tile.store %o5, %G[%c0, %c0] axes [0, 1] below(%n, %c128) : vector<64x128xbf16>, memref<?x128xbf16>
  tile.return
}

// Warps that have the same rows have some of the columns each.

// CHECK-LABEL: tile.program @parts_of_rows(
// CHECK-NOT: tile.adjacent
// CHECK: tile.return
tile.program @parts_of_rows(%O: memref<?x128xbf16>, %S: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %o = tile.load %O[%c0, %c0] axes [0, 1] below(%n, %c128) : memref<?x128xbf16> -> vector<64x128xbf16>
  %p = tile.map tiles(%o : vector<64x128xbf16>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: bf16, %i: index, %j: index):
    %a = arith.extf %x : bf16 to f32
    tile.yield %a : f32
  } -> vector<64x128xf32>
  %sum = tile.reduce <add> %p, %zero partial : vector<64x128xf32>, vector<64xf32>
  tile.store %sum, %S[%c0] axes [0] below(%n) : vector<64xf32>, memref<?xf32>
  tile.return
}
