// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-fuse-exponent),canonicalize)" -split-input-file \
// RUN:   | FileCheck %s

// (x - m) * c in a map becomes fma(x, c, -m * c), and row factors come from the same rounded -m * c.

// Where m is so large that -m * c would be off by more than a power holds, c is a power of two.

// CHECK-LABEL: tile.program @bf16(
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<6.250000e-02> : vector<8xf32>
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<1.71798692E+10> : vector<8xf32>
// CHECK: %[[BEFORE:.*]] = tile.load {{.*}} -> vector<8xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[X:.*]], %[[BEFORE]]
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[MAX]]
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK: %[[FACTORS:.*]] = arith.select %[[LARGE]], %[[P]], %[[C]]
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[FACTORS]]
// CHECK: %[[OFFSETS:.*]] = arith.mulf %[[MAX]], %[[NEGATIVE]] : vector<8xf32>
// CHECK: %[[NEGATIVE2:.*]] = arith.negf %[[FACTORS]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[BEFORE]], %[[NEGATIVE2]] : vector<8xf32>
// CHECK: %[[GROWTH:.*]] = arith.subf %[[OFFSETS]], %[[SCALED]] : vector<8xf32>
// CHECK: %[[SHRINK:.*]] = math.exp2 %[[GROWTH]]
// CHECK: tile.map tiles(%[[X]] : vector<8x4xf32>) rows(%[[OFFSETS]], %[[FACTORS]] : vector<8xf32>, vector<8xf32>) cols()
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32, %[[S:.*]]: f32,
// CHECK-NEXT: %[[F:.*]] = math.fma %[[E]], %[[S]], %[[O]] : f32
// CHECK-NEXT: math.exp2 %[[F]]
// What else reads the maximum reads the maximum.
// CHECK: tile.store %[[MAX]],
tile.program @bf16(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %shrink = math.exp2 %scaled : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %y = math.exp2 %s : f32
    %n = arith.truncf %y : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %shrink, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Row factors of another constant are none of ours: they keep their difference.

// CHECK-LABEL: tile.program @other_factor(
// CHECK: %[[MAX:.*]] = tile.reduce <max>
// CHECK: arith.mulf %[[MAX]], %{{.*}} : vector<8xf32>
// CHECK: %[[GROWTH:.*]] = arith.subf %{{.*}}, %[[MAX]] : vector<8xf32>
// CHECK: arith.mulf %[[GROWTH]],
// CHECK: math.fma
tile.program @other_factor(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %cs = arith.constant dense<0.25> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %scaled, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Weights in f16 could overflow where the rounding of a large maximum is off by much: they keep the difference,

// CHECK-LABEL: tile.program @f16(
// CHECK-NOT: math.fma
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: arith.mulf
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @f16(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %p:2 = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to f16
    tile.yield %s, %n : f32, f16
  } -> (vector<8x4xf32>, vector<8x4xf16>)
  tile.store %p#1, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf16>, memref<?x?xf16>
  tile.store %p#0, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A headroom goes into the offsets.

// CHECK-LABEL: tile.program @headroom(
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-4.000000e+01> : vector<8xf32>
// CHECK: %[[BEFORE:.*]] = tile.load {{.*}} -> vector<8xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %{{.*}}, %[[BEFORE]]
// CHECK: %[[NEGATIVE:.*]] = arith.negf
// CHECK: %[[OFFSETS:.*]] = math.fma %[[MAX]], %[[NEGATIVE]], %[[LOW]] : vector<8xf32>
// CHECK: %[[OLD:.*]] = math.fma %[[BEFORE]], %{{.*}}, %[[LOW]] : vector<8xf32>
// CHECK: %[[GROWTH:.*]] = arith.subf %[[OFFSETS]], %[[OLD]] : vector<8xf32>
// CHECK: tile.map tiles(%{{.*}} : vector<8x4xf32>) rows(%[[OFFSETS]],
// CHECK: %[[E:.*]] = math.fma
// CHECK-NEXT: math.exp2 %[[E]]
tile.program @headroom(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %h = arith.constant 40.0 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %t = arith.subf %s, %h : f32
    %y = math.exp2 %t : f32
    %n = arith.truncf %y : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %scaled, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Where steps trust the maxima before, f16 has the same scale, and the difference as well: (x - m) c + t with
// t = m c + b, or -h for a row whose m c is so large that its rounded offset b would be off by more than an octave.

// CHECK-LABEL: tile.program @optimistic_f16(
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-6.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<0x4D000000> : vector<8xf32>
// CHECK: %[[BEFORE:.*]] = tile.load {{.*}} -> vector<8xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %{{.*}}, %[[BEFORE]]
// CHECK: %[[OFFSETS:.*]] = math.fma %[[MAX]], %[[MINUS]], %[[LOW]]
// CHECK: %[[SMALL:.*]] = math.fma %[[MAX]], %[[C]], %[[OFFSETS]]
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[MAX]]
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK: %[[REST:.*]] = arith.select %[[LARGE]], %[[LOW]], %[[SMALL]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[BEFORE]], %[[MAX]]
// CHECK: %[[REST0:.*]] = arith.select %{{.*}}, %[[LOW]], %{{.*}}
// CHECK: %[[CHANGE:.*]] = arith.subf %[[REST0]], %[[REST]]
// CHECK: math.fma %[[GROWTH]], %[[C]], %[[CHANGE]]
// CHECK: tile.map tiles(%{{.*}} : vector<8x4xf32>) rows(%[[MAX]], %[[REST]] : vector<8xf32>, vector<8xf32>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[M:.*]]: f32, %[[T:.*]]: f32,
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[E]], %[[M]] : f32
// CHECK-NEXT: %[[F:.*]] = math.fma %[[D]], %{{.*}}, %[[T]] : f32
// CHECK-NEXT: math.exp2 %[[F]]
tile.program @optimistic_f16(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, optimistic = true,
                                          epilogue = direct, headroom = 6>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c = arith.constant 0.125 : f32
  %h = arith.constant 6.0 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %max = tile.reduce <max> %x, %before : vector<8x4xf32>, vector<8xf32>
  %growth = arith.subf %before, %max : vector<8xf32>
  %scaled = arith.mulf %growth, %cs : vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %t = arith.subf %s, %h : f32
    %y = math.exp2 %t : f32
    %n = arith.truncf %y : f32 to f16
    tile.yield %n : f16
  } -> vector<8x4xf16>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf16>, memref<?x?xf16>
  tile.store %scaled, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// as do weights in f32, which would show it.

// CHECK-LABEL: tile.program @f32(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @f32(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %p = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  tile.store %p, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A map that needs the maximum for something else, a factor that is no constant, and a difference with two readers.

// CHECK-LABEL: tile.program @others(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %c: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %k = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %t = arith.addf %s, %m : f32
    %n = arith.truncf %t : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  %b = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %c : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  %f = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %t = arith.addf %s, %d : f32
    %n = arith.truncf %t : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %a, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %b, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.store %f, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @no_pipeline(%v: memref<?x?xf32>, %o: memref<?xf32>, %w: memref<?x?xbf16>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %k = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } -> vector<8x4xbf16>
  tile.store %a, %w[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// After the loop, the divisor takes in what the weight of the maximum is rounded by: 1 / (sum + (w~ - w)) with w = 2^r,
// r = fma(m, c, -m * c) and w~ the rounded w, in rows of which w is most. The logarithm of the sums stays as it is, and the loop has nothing more.

// CHECK-LABEL: tile.program @corrected(
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK-COUNT-1: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[LOOP]]#2, %[[ZERO]]
// CHECK: %[[ALL:.*]] = arith.cmpf oeq, %[[LOOP]]#1, %[[NONE]]
// CHECK: %[[MAX:.*]] = arith.select %[[ALL]], %[[ZERO]], %[[LOOP]]#1
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[LOOP]]#1
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]],
// CHECK: %[[F:.*]] = arith.select %[[LARGE]], %{{.*}}, %[[C]]
// CHECK: %[[N:.*]] = arith.negf %[[F]]
// CHECK: %[[OFFSETS:.*]] = arith.mulf %[[MAX]], %[[N]] : vector<8xf32>
// CHECK: %[[REST:.*]] = math.fma %[[MAX]], %[[F]], %[[OFFSETS]] : vector<8xf32>
// CHECK: %[[WEIGHT:.*]] = math.exp2 %[[REST]] : vector<8xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[WEIGHT]] : vector<8xf32> to vector<8xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : vector<8xbf16> to vector<8xf32>
// CHECK: %[[BY:.*]] = arith.subf %[[WIDE]], %[[WEIGHT]] : vector<8xf32>
// CHECK: %[[TWICE:.*]] = arith.addf %[[WEIGHT]], %[[WEIGHT]]
// CHECK: %[[MOST:.*]] = arith.cmpf oge, %[[TWICE]], %[[LOOP]]#2
// CHECK: %[[CHANGE:.*]] = arith.select %[[MOST]], %[[BY]], %[[ZERO]]
// CHECK: %[[SUM:.*]] = arith.addf %[[LOOP]]#2, %[[CHANGE]] : vector<8xf32>
// CHECK: %[[RECIPROCAL:.*]] = arith.divf %[[ONE]], %[[SUM]] : vector<8xf32>
// CHECK: %[[FACTORS:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[RECIPROCAL]]
// CHECK: math.log %[[LOOP]]#2
// CHECK: tile.map tiles(%[[LOOP]]#0 : vector<8x16xf32>) rows(%[[FACTORS]] : vector<8xf32>)

// Weights that are multiplied before they are rounded (dropout) are rounded in any case.

// CHECK-LABEL: tile.program @multiplied(
// CHECK: math.fma
// CHECK: scf.yield
// CHECK-NOT: math.fma
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @corrected(%q: memref<?x?xbf16>, %v: memref<?x?xbf16>, %o: memref<?x?xf32>, %l: memref<?xf32>, %high: index,
                      %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c = arith.constant 0.125 : f32
  %two = arith.constant 2.0 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %empty = arith.constant dense<0.0> : vector<8x16xf32>
  %query = tile.load %q[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
  %out, %max, %sum = scf.for %j = %c0 to %high step %c16 iter_args(%o0 = %empty, %m0 = %none, %s0 = %zero)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %key = tile.load %v[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %x = tile.mma %query, %key, %empty transposed : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m1 = tile.reduce <max> %x, %m0 : vector<8x16xf32>, vector<8xf32>
    %nothing = arith.cmpf oeq, %m1, %none : vector<8xf32>
    %largest = arith.select %nothing, %zero, %m1 : vector<8xi1>, vector<8xf32>
    %growth = arith.subf %m0, %largest : vector<8xf32>
    %scaled = arith.mulf %growth, %cs : vector<8xf32>
    %shrink = math.exp2 %scaled : vector<8xf32>
    %before = arith.mulf %s0, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%x : vector<8x16xf32>) rows(%largest : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%e: f32, %m: f32, %i: index, %k: index):
      %d = arith.subf %e, %m : f32
      %s = arith.mulf %d, %c : f32
      %w = math.exp2 %s : f32
      %n = arith.truncf %w : f32 to bf16
      tile.yield %w, %n : f32, bf16
    } -> (vector<8x16xf32>, vector<8x16xbf16>)
    %s1 = tile.reduce <add> %p#0, %before : vector<8x16xf32>, vector<8xf32>
    %rescaled = tile.map tiles(%o0 : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%e: f32, %f: f32, %i: index, %k: index):
      %y = arith.mulf %e, %f : f32
      tile.yield %y : f32
    } -> vector<8x16xf32>
    %o1 = tile.mma %p#1, %key, %rescaled : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %o1, %m1, %s1 : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %none_kept = arith.cmpf oeq, %sum, %zero : vector<8xf32>
  %reciprocal = arith.divf %one, %sum : vector<8xf32>
  %factors = arith.select %none_kept, %zero, %reciprocal : vector<8xi1>, vector<8xf32>
  %log = math.log %sum : vector<8xf32>
  %result = tile.map tiles(%out : vector<8x16xf32>) rows(%factors : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %f: f32, %i: index, %k: index):
    %y = arith.mulf %e, %f : f32
    tile.yield %y : f32
  } -> vector<8x16xf32>
  tile.store %result, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %log, %l[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

tile.program @multiplied(%q: memref<?x?xbf16>, %v: memref<?x?xbf16>, %o: memref<?x?xf32>, %l: memref<?xf32>, %high: index,
                      %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c = arith.constant 0.125 : f32
  %two = arith.constant 2.0 : f32
  %cs = arith.constant dense<0.125> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %empty = arith.constant dense<0.0> : vector<8x16xf32>
  %query = tile.load %q[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x16xbf16>
  %out, %max, %sum = scf.for %j = %c0 to %high step %c16 iter_args(%o0 = %empty, %m0 = %none, %s0 = %zero)
      -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %key = tile.load %v[%j, %c0] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<16x16xbf16>
    %x = tile.mma %query, %key, %empty transposed : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    %m1 = tile.reduce <max> %x, %m0 : vector<8x16xf32>, vector<8xf32>
    %nothing = arith.cmpf oeq, %m1, %none : vector<8xf32>
    %largest = arith.select %nothing, %zero, %m1 : vector<8xi1>, vector<8xf32>
    %growth = arith.subf %m0, %largest : vector<8xf32>
    %scaled = arith.mulf %growth, %cs : vector<8xf32>
    %shrink = math.exp2 %scaled : vector<8xf32>
    %before = arith.mulf %s0, %shrink : vector<8xf32>
    %p:2 = tile.map tiles(%x : vector<8x16xf32>) rows(%largest : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%e: f32, %m: f32, %i: index, %k: index):
      %d = arith.subf %e, %m : f32
      %s = arith.mulf %d, %c : f32
      %w = math.exp2 %s : f32
      %t = arith.mulf %w, %two : f32
      %n = arith.truncf %t : f32 to bf16
      tile.yield %w, %n : f32, bf16
    } -> (vector<8x16xf32>, vector<8x16xbf16>)
    %s1 = tile.reduce <add> %p#0, %before : vector<8x16xf32>, vector<8xf32>
    %rescaled = tile.map tiles(%o0 : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%e: f32, %f: f32, %i: index, %k: index):
      %y = arith.mulf %e, %f : f32
      tile.yield %y : f32
    } -> vector<8x16xf32>
    %o1 = tile.mma %p#1, %key, %rescaled : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32>
    scf.yield %o1, %m1, %s1 : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %none_kept = arith.cmpf oeq, %sum, %zero : vector<8xf32>
  %reciprocal = arith.divf %one, %sum : vector<8xf32>
  %factors = arith.select %none_kept, %zero, %reciprocal : vector<8xi1>, vector<8xf32>
  %log = math.log %sum : vector<8xf32>
  %result = tile.map tiles(%out : vector<8x16xf32>) rows(%factors : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %f: f32, %i: index, %k: index):
    %y = arith.mulf %e, %f : f32
    tile.yield %y : f32
  } -> vector<8x16xf32>
  tile.store %result, %o[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %log, %l[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Narrow weights that nothing reads: a walk that only takes sums, for a second one with exact maxima.

// CHECK-LABEL: tile.program @sums(
// CHECK-NOT: math.fma
// CHECK: tile.return
tile.program @sums(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescale = after, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %k = arith.constant 0.125 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %max = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %p:2 = tile.map tiles(%x : vector<8x4xf32>) rows(%max : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
    %d = arith.subf %e, %m : f32
    %s = arith.mulf %d, %k : f32
    %w = math.exp2 %s : f32
    %n = arith.truncf %w : f32 to bf16
    tile.yield %w, %n : f32, bf16
  } -> (vector<8x4xf32>, vector<8x4xbf16>)
  %sum = tile.reduce <add> %p#0, %zero : vector<8x4xf32>, vector<8xf32>
  tile.store %sum, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
