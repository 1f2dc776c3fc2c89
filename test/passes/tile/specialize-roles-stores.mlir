// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles,canonicalize))" -split-input-file \
// RUN:   | FileCheck %s

// How consumers store the output: through a buffer of shared memory, whole or in slabs, or without one.

// With `slabs`, the buffer holds 64 columns. Blocks that take tiles from a counter have a ring for their numbers. Keys
// and values go through rings of their own, also where they are one tensor: they are not released in one order.

// CHECK-LABEL: tile.program @slabs(
// CHECK: %[[BUFFER:.*]] = tile.buffer : <vector<128x64xbf16>>
// CHECK: %[[Q:.*]] = tile.ring : <2 x vector<128x96xbf16>>
// CHECK: %[[K:.*]] = tile.ring : <2 x vector<64x96xbf16>>
// CHECK-NEXT: %[[V:.*]] = tile.ring : <2 x vector<64x96xbf16>>
// CHECK: %[[NUMBERS:.*]] = tile.ring : <2 x index>
// CHECK: tile.role <producer>
// CHECK-NEXT: tile.persistent from %[[NUMBERS]] : !tile.ring<2 x index> {
// CHECK: tile.put %[[Q]],
// CHECK: scf.for
// CHECK-NEXT: tile.put %[[K]],
// CHECK-NEXT: tile.put %[[V]],
// CHECK: tile.role <consumer>
// CHECK-NEXT: tile.persistent from %[[NUMBERS]] : !tile.ring<2 x index> {
// CHECK: tile.get %[[Q]]
// CHECK: tile.get %[[K]]
// CHECK: tile.get %[[V]]
// CHECK: tile.store %{{.*}} via %[[BUFFER]] :
tile.program @slabs(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x96xbf16>,
                     %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = slabs, dynamic = true>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x96xbf16>, vector<64x96xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  %rows = memref.dim %O, %c0 : memref<?x96xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%rows, %c96) : vector<128x96xbf16>, memref<?x96xbf16>
  tile.return
}

// -----

// A store that must end before the view does has one too: only the warpgroups whose rows the limit cuts go without it.

// CHECK-LABEL: tile.program @ends_early(
// CHECK-SAME: %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: %[[BUFFER:.*]] = tile.buffer : <vector<128x96xbf16>>
// CHECK: tile.store %{{.*}} via %[[BUFFER]] : {{.*}} below(%[[HIGH]], %c96)
tile.program @ends_early(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x96xbf16>,
                     %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x96xbf16>, vector<64x96xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%high, %c96) : vector<128x96xbf16>, memref<?x96xbf16>
  tile.return
}

// -----

// With `direct` there is no buffer;

// CHECK-LABEL: tile.program @direct(
// CHECK-NOT: tile.buffer
// CHECK-NOT: via
// CHECK: tile.return
tile.program @direct(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x96xbf16>,
                     %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x96xbf16>, vector<64x96xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  %rows = memref.dim %O, %c0 : memref<?x96xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%rows, %c96) : vector<128x96xbf16>, memref<?x96xbf16>
  tile.return
}

// -----

// nor for rows whose size is not known: they need not be whole 16 bytes,

// CHECK-LABEL: tile.program @unknown_columns(
// CHECK-NOT: tile.buffer
// CHECK-NOT: via
// CHECK: tile.return
tile.program @unknown_columns(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x?xbf16>,
                     %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x96xbf16>, vector<64x96xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  %rows = memref.dim %O, %c0 : memref<?x?xbf16>
  %cols = memref.dim %O, %c1 : memref<?x?xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%high, %cols) : vector<128x96xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// for tiles of f32, and for rows.

// CHECK-LABEL: tile.program @wide(
// CHECK-NOT: tile.buffer
// CHECK-NOT: via
// CHECK: tile.return
tile.program @wide(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x?xbf16>,
                     %F: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x96xbf16>, vector<64x96xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<64x96xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %sum0 = arith.constant dense<0.0> : vector<128xf32>
  %sum = tile.reduce <add> %r, %sum0 : vector<128x96xf32>, vector<128xf32>
  %rows = memref.dim %F, %c0 : memref<?x?xf32>
  %cols = memref.dim %F, %c1 : memref<?x?xf32>
  tile.store %r, %F[%c0, %c0] axes [0, 1] below(%rows, %cols) : vector<128x96xf32>, memref<?x?xf32>
  tile.store %sum, %F[%c0, %c0] axes [0] below(%rows) : vector<128xf32>, memref<?x?xf32>
  tile.return
}
