// Vectors with an element for each column: a thread computes those of its own columns, two of each eight.

// RUN: split-file %s %t
// RUN: attnc-opt %t/computed.mlir --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm)' | FileCheck %s --check-prefix=COMPUTED
// RUN: attnc-opt %t/carried.mlir --pass-pipeline='builtin.module(tile.program(tile-allocate-shared),tile-to-nvvm)' | FileCheck %s --check-prefix=CARRIED
// RUN: attnc-opt %t/carried.mlir --tile-simulate=args=64,64x64,5 -o %t.sim
// RUN: attnc compile %t/merged.mlir --target nvptx:sm_90a --emit tile -o - | FileCheck %s --check-prefix=TILE
// RUN: attnc compile %t/merged.mlir --target nvptx:sm_90a --emit ptx -o - | FileCheck %s --check-prefix=MERGED
// RUN: attnc verify %t/merged.mlir --target sim:sm_90a --shape B=1 | FileCheck %s --check-prefix=RIGHT

// A vector of 64 columns: sixteen elements a thread, each of which is multiplied, and added to the elements of both rows.
// COMPUTED-LABEL: llvm.func @computed_entry(
// COMPUTED-COUNT-16: arith.mulf %{{.*}} : f32
// COMPUTED-NOT: arith.mulf
// COMPUTED-COUNT-32: arith.addf %{{.*}} : f32
// COMPUTED-NOT: arith.addf
// COMPUTED: arith.cmpi slt, %{{.*}}, %c64_i32{{[_0-9]*}} : i32

// The constant that a loop starts from has one element for each of the thread's columns.
// CARRIED-LABEL: llvm.func @carried_entry(
// CARRIED: scf.for {{.*}} iter_args({{([^,]*, ){15}[^,]*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)

// Keys and queries are as many, and lie in one tile: they read the same numbers of one tensor, each in its own type.
// TILE-DAG: %[[ROWS:.*]] = tile.load %{{.*}} : memref<128xf32{{.*}} -> vector<128xf32>
// TILE-DAG: %[[COLS:.*]] = tile.load %{{.*}} : memref<128xf32{{.*}} -> vector<1x128xf32>
// TILE: tile.map tiles({{.*}}) rows(%[[ROWS]] : vector<128xf32>) cols(%[[COLS]] : vector<1x128xf32>)
// MERGED: .visible .entry kernel_tile
// RIGHT: out {{.*}} right

//--- computed.mlir
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
tile.program @computed(%v: memref<?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2.0> : vector<1x64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %l = tile.load %v[%c0] axes [0] below(%n) : memref<?xf32> -> vector<1x64xf32>
  %m = arith.mulf %l, %two : vector<1x64xf32>
  %r = tile.map tiles(%zero : vector<64x64xf32>) rows() cols(%m : vector<1x64xf32>) at(%c0, %c0) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %e = arith.addf %x, %y : f32
    tile.yield %e : f32
  } -> vector<64x64xf32>
  // Without roles, all rows are the program's.
  %first, %end = tile.part of 64
  tile.store %r, %o[%first, %c0] axes [0, 1] below(%end, %n) : vector<64x64xf32>, memref<?x?xf32>
  tile.return
}
}
//--- carried.mlir
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
tile.program @carried(%v: memref<?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant dense<0.0> : vector<1x64xf32>
  %ofRows = arith.constant dense<0.0> : vector<64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %all = vector.broadcast %n : index to vector<1x64xindex>
  %p32 = arith.index_cast %all : vector<1x64xindex> to vector<1x64xi32>
  %p = arith.sitofp %p32 : vector<1x64xi32> to vector<1x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %none) -> (vector<1x64xf32>) {
    %next = arith.addf %s, %p : vector<1x64xf32>
    scf.yield %next : vector<1x64xf32>
  }
  // Also a constant by itself.
  %r = tile.map tiles(%zero : vector<64x64xf32>) rows(%ofRows : vector<64xf32>) cols(%sum, %none : vector<1x64xf32>, vector<1x64xf32>) at(%c0, %c0) {
  ^bb0(%x: f32, %w: f32, %y: f32, %z: f32, %i: index, %j: index):
    %e = arith.addf %x, %y : f32
    %f = arith.addf %e, %z : f32
    %g = arith.addf %f, %w : f32
    tile.yield %g : f32
  } -> vector<64x64xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c64, %c64) : vector<64x64xf32>, memref<?x?xf32>
  tile.return
}
}
//--- merged.mlir
func.func @kernel(%q: tensor<?x128x1x64xbf16> {attn.name = "q"}, %k: tensor<?x128x1x64xbf16> {attn.name = "k"},
                  %v: tensor<?x128x1x64xbf16> {attn.name = "v"}, %t: tensor<128xf32> {attn.name = "t"})
    -> (tensor<?x128x1x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %t[%i] : tensor<128xf32>
      %y = attn.bias %x, %t[%j] : tensor<128xf32>
      attn.yield %y : f32
    }
    : (tensor<?x128x1x64xbf16>, tensor<?x128x1x64xbf16>, tensor<?x128x1x64xbf16>) -> tensor<?x128x1x64xbf16>
  return %o : tensor<?x128x1x64xbf16>
}
