// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles,canonicalize))" -split-input-file \
// RUN:   | FileCheck %s

// Loads of operands go to a producer and through rings, the rest to the consumers.

// Of a skewed program: the producer brings the first keys before the queries (their buffers are free sooner), and in a
// step the keys before the values of the step before, since consumers read them in that order.

// CHECK-LABEL: tile.program @skewed(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?xbf16>, %[[K:[a-z0-9]+]]: memref<?x?xbf16>, %[[V:[a-z0-9]+]]: memref<?x?xbf16>, %[[O:[a-z0-9]+]]: memref<?x128xbf16>, %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index,
// CHECK-DAG: %[[BUFFER:.*]] = tile.buffer : <vector<128x128xbf16>>
// CHECK-DAG: %[[QR:.*]] = tile.ring : <1 x vector<128x128xbf16>>
// CHECK: %[[KR:.*]] = tile.ring : <3 x vector<64x128xbf16>>
// CHECK: %[[VR:.*]] = tile.ring : <3 x vector<64x128xbf16>>
// CHECK-NOT: tile.ring
//
// CHECK: tile.role <producer> warpgroups 1 registers 24 {
// CHECK-NEXT: tile.persistent {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index):
// CHECK: %[[ROW:.*]] = arith.muli %[[N]], %c128 : index
// CHECK: scf.if
// CHECK: %[[LAST:.*]] = arith.subi %[[HIGH]], %c64 : index
// CHECK-NEXT: tile.put %[[KR]], %[[K]][%[[LAST]], %c0]
// CHECK-NEXT: tile.put %[[QR]], %[[Q]][%[[ROW]], %c0]
// The loop carries the number, and no tile.
// CHECK-NEXT: %[[F:.*]] = scf.for %[[T:.*]] = %c64 to %[[HIGH]] step %c64 iter_args(%[[KEY:.*]] = %[[LAST]]) -> (index) {
// CHECK-NEXT: %[[J:.*]] = arith.subi %[[LAST]], %[[T]] : index
// CHECK-NEXT: tile.put %[[KR]], %[[K]][%[[J]], %c0]
// CHECK-NEXT: tile.put %[[VR]], %[[V]][%[[KEY]], %c0]
// CHECK-NEXT: scf.yield %[[J]] : index
// CHECK: tile.put %[[VR]], %[[V]][%[[F]], %c0]
// CHECK-NOT: {{tile.(map|store|live_rows|mma)}}
//
// CHECK: tile.role <consumer> warpgroups 2 registers 240 {
// CHECK-NEXT: tile.persistent {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index):
// CHECK-NOT: tile.live_rows
// CHECK: scf.if
// CHECK: %[[KS:.*]] = tile.get %[[KR]]
// CHECK-NEXT: %[[QS:.*]] = tile.get %[[QR]]
// CHECK-NEXT: tile.mma %[[QS]], %[[KS]], %{{.*}} transposed
// CHECK: %[[G:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}})
// CHECK: %[[KS:.*]] = tile.get %[[KR]]
// CHECK-NEXT: tile.mma %[[QS]], %[[KS]], %{{.*}} transposed
// CHECK-NEXT: %[[VS:.*]] = tile.get %[[VR]]
// CHECK-NEXT: tile.mma %[[W]], %[[VS]], %[[A]] :
// CHECK: scf.yield
// CHECK: %[[VS:.*]] = tile.get %[[VR]]
// CHECK-NEXT: tile.mma %[[G]]#1, %[[VS]], %[[G]]#0
// CHECK: tile.store %{{.*}} via %[[BUFFER]] : !tile.shared<vector<128x128xbf16>>, %[[O]]
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.program @skewed(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x128xbf16>,
                     %low: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x128xf32>
  %row = arith.muli %tile, %c128 : index
  %queries = memref.dim %Q, %c0 : memref<?x?xbf16>
  tile.live_rows %queries
  %q = tile.load %Q[%row, %c0] axes [0, 1] below(%queries, %c128) : memref<?x?xbf16> -> vector<128x128xbf16>
  %any = arith.cmpi slt, %low, %high : index
  %r = scf.if %any -> (vector<128x128xf32>) {
    %last = arith.subi %high, %c64 : index
    %k0 = tile.load %K[%last, %c0] axes [0, 1] below(%high, %c128) : memref<?x?xbf16> -> vector<64x128xbf16>
    %s0 = tile.mma %q, %k0, %zero transposed : vector<128x128xbf16>, vector<64x128xbf16>, vector<128x64xf32>
    %p0 = tile.map tiles(%s0 : vector<128x64xf32>) rows() cols() at(%c0, %last) {
    ^bb0(%x: f32, %i: index, %j: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %f:3 = scf.for %t = %c64 to %high step %c64 iter_args(%o = %out0, %w = %p0, %key = %last)
        -> (vector<128x128xf32>, vector<128x64xbf16>, index) {
      %j = arith.subi %last, %t : index
      %v = tile.load %V[%key, %c0] axes [0, 1] below(%high, %c128) : memref<?x?xbf16> -> vector<64x128xbf16>
      %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c128) : memref<?x?xbf16> -> vector<64x128xbf16>
      %s = tile.mma %q, %k, %zero transposed : vector<128x128xbf16>, vector<64x128xbf16>, vector<128x64xf32>
      %a = tile.mma %w, %v, %o : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
      %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
      ^bb0(%x: f32, %i: index, %l: index):
        %n = arith.truncf %x : f32 to bf16
        tile.yield %n : bf16
      } -> vector<128x64xbf16>
      scf.yield %a, %p, %j : vector<128x128xf32>, vector<128x64xbf16>, index
    }
    %v1 = tile.load %V[%f#2, %c0] axes [0, 1] below(%high, %c128) : memref<?x?xbf16> -> vector<64x128xbf16>
    %a1 = tile.mma %f#1, %v1, %f#0 : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %a1 : vector<128x128xf32>
  } else {
    scf.yield %out0 : vector<128x128xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x128xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x128xbf16>
  %rows = memref.dim %O, %c0 : memref<?x128xbf16>
  tile.store %narrow, %O[%row, %c0] axes [0, 1] below(%rows, %c128) : vector<128x128xbf16>, memref<?x128xbf16>
  tile.return
}

// -----

// What a map reads is loaded by the consumers that read it.

// CHECK-LABEL: tile.program @bias(
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x?xbf16>, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index)
// CHECK-COUNT-3: tile.ring
// CHECK-NOT: tile.ring
// CHECK: tile.role <producer>
// CHECK-NOT: %[[B]]
// CHECK: tile.role <consumer>
// CHECK: scf.for
// CHECK: tile.load %[[B]]
// CHECK: tile.return
tile.program @bias(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x?xbf16>,
                     %B: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
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
    %bias = tile.load %B[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<128x64xbf16>
    %both = tile.map tiles(%p, %bias : vector<128x64xbf16>, vector<128x64xbf16>) rows() cols() at(%c0, %j) {
    ^bb0(%x: bf16, %y: bf16, %i: index, %l: index):
      %n = arith.addf %x, %y : bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %a = tile.mma %both, %v, %o : vector<128x64xbf16>, vector<64x96xbf16>, vector<128x96xf32>
    scf.yield %a : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  %rows = memref.dim %O, %c0 : memref<?x?xbf16>
  %cols = memref.dim %O, %c1 : memref<?x?xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%rows, %cols) : vector<128x96xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// Steps that are skipped are skipped by both.

// CHECK-LABEL: tile.program @skips(
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<?xi1>
// CHECK: tile.role <producer>
// CHECK: scf.for
// CHECK: %[[SOME:.*]] = memref.load %[[S]]
// CHECK: scf.if %[[SOME]] {
// CHECK-NEXT: tile.put
// CHECK-NEXT: tile.put
// CHECK-NEXT: }
// CHECK: tile.role <consumer>
// CHECK: scf.for
// CHECK: %[[SOME:.*]] = memref.load %[[S]]
// CHECK: scf.if %[[SOME]]
// CHECK: tile.get
// CHECK: tile.get
// CHECK: } else {
tile.program @skips(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x?xbf16>,
                     %S: memref<?xi1>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %out0 = arith.constant dense<0.0> : vector<128x96xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c96) : memref<?x?xbf16> -> vector<128x96xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %out0) -> (vector<128x96xf32>) {
    %some = memref.load %S[%j] : memref<?xi1>
    %b = scf.if %some -> (vector<128x96xf32>) {
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
    } else {
      scf.yield %o : vector<128x96xf32>
    }
    scf.yield %b : vector<128x96xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x96xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x96xbf16>
  %rows = memref.dim %O, %c0 : memref<?x?xbf16>
  %cols = memref.dim %O, %c1 : memref<?x?xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%rows, %cols) : vector<128x96xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// Keys and values in pages: a warp of the producer's warpgroup brings keys, another one values. The first brings the queries
// as well, and takes the tiles; both have the loop, whose steps they run through for themselves.

// CHECK-LABEL: tile.program @pages(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?xbf16>, %[[K:[a-z0-9]+]]: memref<?x16x64xbf16>, %[[V:[a-z0-9]+]]: memref<?x16x64xbf16>, %[[TABLE:[a-z0-9]+]]: memref<?x?xi32>
// CHECK: %[[NUMBERS:.*]] = tile.ring : <2 x index>
// CHECK: tile.role <producer> warpgroups 1 registers 40 warp 0 {
// CHECK-NEXT: tile.persistent from %[[NUMBERS]]
// CHECK: tile.put %{{.*}}, %[[Q]][
// CHECK: scf.for
// CHECK-NEXT: tile.put %{{.*}}, %[[K]][{{.*}} pages(%[[TABLE]] :
// CHECK-NEXT: }
// CHECK: tile.role <producer> warpgroups 1 registers 40 warp 1 {
// CHECK-NEXT: tile.persistent from %[[NUMBERS]]
// CHECK-NOT: tile.put
// CHECK: scf.for
// CHECK-NEXT: tile.put %{{.*}}, %[[V]][{{.*}} pages(%[[TABLE]] :
// CHECK-NEXT: }
// CHECK: tile.role <consumer> warpgroups 2 registers 232 {
// CHECK-NEXT: tile.persistent from %[[NUMBERS]]
tile.program @pages(%Q: memref<?x?xbf16>, %K: memref<?x16x64xbf16>, %V: memref<?x16x64xbf16>, %table: memref<?x?xi32>,
                    %O: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 40,
                                          consumer_registers = 232, epilogue = direct, dynamic = true>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c64) : memref<?x?xbf16> -> vector<128x64xbf16>
  %r = scf.for %j = %c0 to %high step %c64 iter_args(%o = %zero) -> (vector<128x64xf32>) {
    %k = tile.load %K[%tile, %j, %c0] pages(%table : memref<?x?xi32>) axes [1, 2] below(%high, %c64)
      : memref<?x16x64xbf16> -> vector<64x64xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<128x64xbf16>, vector<64x64xbf16>, vector<128x64xf32>
    %p = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<128x64xbf16>
    %v = tile.load %V[%tile, %j, %c0] pages(%table : memref<?x?xi32>) axes [1, 2] below(%high, %c64)
      : memref<?x16x64xbf16> -> vector<64x64xbf16>
    %a = tile.mma %p, %v, %o : vector<128x64xbf16>, vector<64x64xbf16>, vector<128x64xf32>
    scf.yield %a : vector<128x64xf32>
  }
  %narrow = tile.map tiles(%r : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<128x64xbf16>
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%high, %c64) : vector<128x64xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// A program for a CPU stays.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: tile.role
// CHECK: tile.return
tile.program @no_pipeline(%Q: memref<?x?xbf16>, %K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %O: memref<?x?xbf16>,
                     %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64} {
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
  tile.store %narrow, %O[%c0, %c0] axes [0, 1] below(%rows, %cols) : vector<128x96xbf16>, memref<?x?xbf16>
  tile.return
}
