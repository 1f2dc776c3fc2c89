// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-balance-exponentials))" | FileCheck %s

// Of eight exponentials of short keys one is left to multiply-add units, of four where products take longer.

// CHECK-LABEL: tile.program @short(
// CHECK: math.exp2 %{{.*}} {tile.multiply_add_share = 8 : i64, tile.weight} : f32
tile.program @short(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @long(
// CHECK: math.exp2 %{{.*}} {tile.multiply_add_share = 4 : i64, tile.weight} : f32
tile.program @long(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x128xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Products take long enough, with shared reciprocals sooner.

// CHECK-LABEL: tile.program @longer(
// CHECK-NOT: tile.multiply_add_share
tile.program @longer(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x192xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x192xbf16>> -> !tile.shared<vector<64x192xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x192xbf16>>, !tile.shared<vector<64x192xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @shared(
// CHECK-NOT: tile.multiply_add_share
tile.program @shared(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x128xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e {tile.shared_reciprocal = 4 : i64} : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Weights that are looked at for overflow may be too large; the powers of a score, anything.

// CHECK-LABEL: tile.program @looked_at(
// CHECK-NOT: tile.multiply_add_share
tile.program @looked_at(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  %infinity = arith.constant dense<0x7F800000> : vector<64xf32>
  %over = arith.cmpf oeq, %max, %infinity : vector<64xf32>
  %any = tile.any %over : vector<64xi1>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @of_score(
// CHECK-NOT: tile.multiply_add_share
tile.program @of_score(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// Without a tanh the unit has time.

// CHECK-LABEL: tile.program @plain(
// CHECK-NOT: tile.multiply_add_share
tile.program @plain(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, tile.approximate_math,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = arith.negf %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @exact(
// CHECK-NOT: tile.multiply_add_share
tile.program @exact(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %slope: f32, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<64x64xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<64xf32>
  %ring = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %k = tile.get %ring : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
  %f = tile.start %k, %k, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %g = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  %weights = tile.map tiles(%g : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %w = math.exp2 %t {tile.weight} : f32
    tile.yield %w : f32
  } -> vector<64x64xf32>
  %max = tile.reduce <add> %weights, %before : vector<64x64xf32>, vector<64xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<64xf32>, memref<?xf32>
  tile.return
}
