// Random numbers of dropout: of sixteen rows and columns a thread has eight elements, for which it calls Philox once: seven
// rounds of two products. Where rows are keys, two lanes exchange halves of what they call for.

// RUN: attnc-opt %s --tile-allocate-shared --tile-to-nvvm -split-input-file | FileCheck %s

// CHECK-LABEL: func @queries
// CHECK-NOT: nvvm.prmt
// CHECK-COUNT-28: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK-NOT: nvvm.prmt
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  tile.program @queries(%o: memref<?x?xf32>, %seed: i64, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                  pipeline = #attn.warps<consumers = 1, stages = 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %n = tile.philox %seed at(%c0, %c0, %c0, %c0) : vector<64x32xi16>
    %x = tile.map tiles(%n : vector<64x32xi16>) rows() cols() at(%c0, %c0) {
    ^bb0(%number: i16, %i: index, %j: index):
      %f = arith.uitofp %number : i16 to f32
      tile.yield %f : f32
    } -> vector<64x32xf32>
    tile.store %x, %o[%c0, %c0] axes [0, 1] below(%c64, %c32) : vector<64x32xf32>, memref<?x?xf32>
    tile.return
  }
}

// -----

// CHECK-LABEL: func @keys
// CHECK-COUNT-14: arith.mului_extended
// CHECK: nvvm.prmt
// CHECK: nvvm.shfl.sync  bfly
// CHECK-COUNT-3: nvvm.prmt
// CHECK: nvvm.shfl.sync  bfly
// CHECK-COUNT-2: nvvm.prmt
// CHECK-COUNT-14: arith.mului_extended
// CHECK-NOT: arith.mului_extended
module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  tile.program @keys(%o: memref<?x?xf32>, %seed: i64, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                  pipeline = #attn.warps<consumers = 1, stages = 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %n = tile.philox %seed at(%c0, %c0, %c0, %c0) transposed : vector<64x32xi16>
    %x = tile.map tiles(%n : vector<64x32xi16>) rows() cols() at(%c0, %c0) {
    ^bb0(%number: i16, %i: index, %j: index):
      %f = arith.uitofp %number : i16 to f32
      tile.yield %f : f32
    } -> vector<64x32xf32>
    tile.store %x, %o[%c0, %c0] axes [0, 1] below(%c64, %c32) : vector<64x32xf32>, memref<?x?xf32>
    tile.return
  }
}
