// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-allocate-shared))" -split-input-file \
// RUN:   -verify-diagnostics | FileCheck %s

// Tiles lie in panels of 128 bytes a row, one ring after another, then buffers, then barriers: two a stage. Numbers of
// tiles lie behind the barriers of their ring.

// CHECK-LABEL: tile.program @layout(
// CHECK-SAME: shared_bytes = 132240 : i64
// 2 stages of 2 panels of 128 rows.
// CHECK: tile.ring {barriers = 132096 : i64, offset = 0 : i64} : <2 x vector<128x128xbf16>>
// 96 columns take a second panel as large as the first; 3 stages of 2 panels of 64 rows.
// CHECK: tile.ring {barriers = 132128 : i64, offset = 65536 : i64} : <3 x vector<64x96xbf16>>
// 128 bytes are 128 columns of 8 bits.
// CHECK: tile.ring {barriers = 132176 : i64, offset = 114688 : i64} : <1 x vector<8x128xi8>>
// CHECK: tile.ring {barriers = 132192 : i64, offset = 132224 : i64} : <2 x index>
// CHECK: tile.buffer {offset = 115712 : i64} : <vector<128x64xbf16>>
tile.program @layout(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %q = tile.ring : !tile.ring<2 x vector<128x128xbf16>>
  %k = tile.ring : !tile.ring<3 x vector<64x96xbf16>>
  %s = tile.ring : !tile.ring<1 x vector<8x128xi8>>
  %n = tile.ring : !tile.ring<2 x index>
  %o = tile.buffer : !tile.shared<vector<128x64xbf16>>
  tile.return
}

// -----

// Where a put may have to clear rows, the ring has one more barrier: on it, the producer waits for its own copy.

// CHECK-LABEL: tile.program @clears(
// CHECK-SAME: %[[V:[a-z0-9]+]]: memref<?x64xbf16>
// CHECK-SAME: shared_bytes = 49240 : i64
// CHECK: tile.ring {barriers = 49152 : i64, offset = 0 : i64} : <2 x vector<64x64xbf16>>
// CHECK: tile.ring {barriers = 49192 : i64, offset = 16384 : i64} : <2 x vector<64x64xbf16>>
// CHECK: tile.ring {barriers = 49224 : i64, offset = 32768 : i64} : <1 x vector<128x64xbf16>>
tile.program @clears(%V: memref<?x64xbf16>, %end: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %inside = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  %whole = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  %q = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent {
    ^bb0(%n: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %rows = memref.dim %V, %c0 : memref<?x64xbf16>
      tile.put %inside, %V[%n, %c0] axes [0, 1] below(%end, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16>
      tile.put %whole, %V[%n, %c0] axes [0, 1] below(%rows, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16>
    }
  }
  tile.return
}

// -----

// A program without rings needs nothing.

// CHECK-LABEL: tile.program @nothing(
// CHECK-SAME: shared_bytes = 0 : i64
tile.program @nothing(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  tile.return
}

// -----

// One for a CPU has no shared memory.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: shared_bytes
// CHECK: tile.return
tile.program @no_pipeline(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// Exactly as much as the target has is fine;

// CHECK-LABEL: tile.program @just_enough(
// CHECK-SAME: shared_bytes = 65568 : i64
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 65568, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  tile.program @just_enough(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                  pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                            consumer_registers = 240, epilogue = direct>} {
    %q = tile.ring : !tile.ring<2 x vector<128x128xbf16>>
    tile.return
  }
}

// -----

// more is an error that names what takes it.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  // expected-error@+1 {{needs 245856 bytes of shared memory (65536 + 2 * 32768 + 3 * 32768 + 16384 and barriers), but sm_90a has 232448: choose smaller tiles or fewer stages}}
  tile.program @too_much(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                  pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                            consumer_registers = 240, epilogue = direct>} {
    %q = tile.ring : !tile.ring<1 x vector<128x256xbf16>>
    %k = tile.ring : !tile.ring<2 x vector<64x256xbf16>>
    %v = tile.ring : !tile.ring<3 x vector<64x256xbf16>>
    %o = tile.buffer : !tile.shared<vector<128x64xbf16>>
    tile.return
  }
}

// -----

// So is any where the machine has no such memory.

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  // expected-error@+1 {{needs 16384 bytes of shared memory (16384), but znver3 has none: choose a schedule without a pipeline}}
  tile.program @none(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                  pipeline = #attn.warps<consumers = 1, stages = 1>} {
    %k = tile.ring : !tile.ring<1 x vector<64x128xbf16>>
    tile.return
  }
}
