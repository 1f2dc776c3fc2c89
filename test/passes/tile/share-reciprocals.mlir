// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-share-reciprocals))" -split-input-file | FileCheck %s

// Where nothing is masked, whatever is NaN in a row makes all of it NaN: elements share reciprocals. Maxima may be taken
// from them too.

// CHECK-LABEL: tile.program @shared(
// CHECK: math.tanh %{{.*}} {attn.error_of_one = 5.000000e+01 : f64, tile.shared_reciprocal = 4 : i64} : f32
// Errors of one that reach the LSE too often.
// CHECK: math.tanh %{{[^ ]*}} {attn.error_of_one = 1.000000e+02 : f64} : f32
// Those that are as exact as can be, or approximated.
// CHECK: math.tanh %{{[^ ]*}} : f32
// CHECK: math.tanh %{{[^ ]*}} fastmath<afn> : f32
tile.program @shared(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.02 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x8xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %scores = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %c : f32
    %t = math.tanh %s {attn.error_of_one = 50.0 : f64} : f32
    %t100 = math.tanh %s {attn.error_of_one = 100.0 : f64} : f32
    %exact = math.tanh %s : f32
    %approximate = math.tanh %s fastmath<afn> : f32
    %a = arith.addf %t, %t100 : f32
    %b = arith.addf %exact, %approximate : f32
    %y = arith.subf %a, %b : f32
    tile.yield %y : f32
  } -> vector<8x8xf32>
  %max = tile.reduce <max> %scores, %before : vector<8x8xf32>, vector<8xf32>
  %weights = tile.map tiles(%scores : vector<8x8xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = math.fma %e, %c, %m : f32
    %w = math.exp2 %d {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<8x8xf32>
  %sum = tile.reduce <add> %weights, %before : vector<8x8xf32>, vector<8xf32>
  tile.store %sum, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// What a mask drops may be NaN, and so may what a score chooses not to take, or anything whose use is not known: others
// of its row must not be.

// CHECK-LABEL: tile.program @chosen(
// CHECK-NOT: shared_reciprocal
// CHECK: tile.return
tile.program @chosen(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.02 : f32
  %least = arith.constant -1.0e30 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x8xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %scores = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {attn.error_of_one = 50.0 : f64} : f32
    tile.yield %t : f32
  } -> vector<8x8xf32>
  %kept = tile.mask tiles(%scores : vector<8x8xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x8xf32>
  %chosen = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {attn.error_of_one = 50.0 : f64} : f32
    %past = arith.cmpi sle, %j, %i : index
    %y = arith.select %past, %t, %least : f32
    tile.yield %y : f32
  } -> vector<8x8xf32>
  %limited = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {attn.error_of_one = 50.0 : f64} : f32
    %y = arith.maxnumf %t, %c : f32
    tile.yield %y : f32
  } -> vector<8x8xf32>
  %stored = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {attn.error_of_one = 50.0 : f64} : f32
    tile.yield %t : f32
  } -> vector<8x8xf32>
  %weights = tile.map tiles(%kept, %chosen, %limited : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %f: f32, %g: f32, %i: index, %j: index):
    %a = arith.addf %e, %f : f32
    %d = arith.addf %a, %g : f32
    %w = math.exp2 %d {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<8x8xf32>
  %sum = tile.reduce <add> %weights, %before : vector<8x8xf32>, vector<8xf32>
  tile.store %stored, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x8xf32>, memref<?x?xf32>
  tile.store %sum, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Programs without a pipeline are for other machines.

// CHECK-LABEL: tile.program @others(
// CHECK-NOT: shared_reciprocal
// CHECK: tile.return
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x8xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %weights = tile.map tiles(%x : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {attn.error_of_one = 50.0 : f64} : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<8x8xf32>
  %sum = tile.reduce <add> %weights, %before : vector<8x8xf32>, vector<8xf32>
  tile.store %sum, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
