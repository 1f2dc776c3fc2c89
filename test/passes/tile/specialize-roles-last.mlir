// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles,canonicalize))" \
// RUN:   | FileCheck %s

// Rows that consumers read again after the steps are released last. The producer has to wait for their only buffer, so it first
// loads what else the first step begins with. Where there are no steps, it loads the rows alone.

// CHECK-LABEL: tile.program @last(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?xbf16>, %[[K:[a-z0-9]+]]: memref<?x?xbf16>,
// CHECK: %[[QR:.*]] = tile.ring : <1 x vector<128x64xbf16>>
// CHECK: %[[KR:.*]] = tile.ring : <3 x vector<64x64xbf16>>
// CHECK: tile.role <producer>
// CHECK-NOT: tile.put
// CHECK: scf.if
// CHECK-NEXT: tile.put %[[KR]], %[[K]][%c0, %c0]
// CHECK-NEXT: tile.put %[[QR]], %[[Q]][%c0, %c0]
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.put %[[KR]], %[[K]]
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.put %[[QR]], %[[Q]][%c0, %c0]
// CHECK-NEXT: }
// CHECK-NEXT: tile.put %[[KR]], %[[K]][%c0, %c0]
// CHECK-NEXT: }
// CHECK: tile.role <consumer>
tile.program @last(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %O: memref<?x64xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c64) : memref<?x?xbf16> -> vector<128x64xbf16>
  %any = arith.cmpi sgt, %high, %c0 : index
  %r = scf.if %any -> (vector<128x64xf32>) {
    %k0 = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c64) : memref<?x?xbf16> -> vector<64x64xbf16>
    %s0 = tile.mma %q, %k0, %zero transposed : vector<128x64xbf16>, vector<64x64xbf16>, vector<128x64xf32>
    %s = scf.for %j = %c64 to %high step %c64 iter_args(%o = %s0) -> (vector<128x64xf32>) {
      %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c64) : memref<?x?xbf16> -> vector<64x64xbf16>
      %next = tile.mma %q, %k, %o transposed : vector<128x64xbf16>, vector<64x64xbf16>, vector<128x64xf32>
      scf.yield %next : vector<128x64xf32>
    }
    scf.yield %s : vector<128x64xf32>
  } else {
    scf.yield %zero : vector<128x64xf32>
  }
  %p = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c64) : memref<?x?xbf16> -> vector<64x64xbf16>
  %l = tile.mma %q, %p, %r transposed : vector<128x64xbf16>, vector<64x64xbf16>, vector<128x64xf32>
  tile.store %l, %O[%c0, %c0] axes [0, 1] below(%high, %c64) : vector<128x64xf32>, memref<?x64xf32>
  tile.return
}
