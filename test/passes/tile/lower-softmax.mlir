// The online softmax as arithmetic.
// RUN: attnc-opt %s --tile-lower-softmax --canonicalize | FileCheck %s

#map = affine_map<() -> (1)>
#pipeline = #attn.pipeline<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, rescale = after, epilogue = staged>

// CHECK-LABEL: tile.program @plain(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>, %[[L:[a-z0-9]+]]: vector<16xf32>
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-DAG: %[[SCALES:.*]] = arith.constant dense<2.500000e-01> : vector<16xf32>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[HEADROOM:.*]] = arith.constant 6.000000e+00 : f32
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[S]], %[[M]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MAX]], %[[INFINITY]]
// CHECK: %[[SAFE:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[MAX]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[M]], %[[SAFE]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[GROWTH]], %[[SCALES]]
// CHECK: %[[SHRINK:.*]] = math.exp2 %[[SCALED]]
// CHECK: %[[SHRUNK:.*]] = arith.mulf %[[L]], %[[SHRINK]]
// CHECK: %[[P:.*]]:2 = tile.map tiles(%[[S]] : vector<16x8xf32>) rows(%[[SAFE]] : vector<16xf32>) cols()
// CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: f32, %[[ROW:[a-z0-9]+]]: f32,
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[ROW]]
// CHECK-NEXT: %[[E:.*]] = arith.mulf %[[D]], %[[SCALE]]
// CHECK-NEXT: %[[LOW:.*]] = arith.subf %[[E]], %[[HEADROOM]]
// CHECK-NEXT: %[[W:.*]] = math.exp2 %[[LOW]] {tile.nonpositive, tile.weight}
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[W]] : f32 to bf16
// CHECK-NEXT: tile.yield %[[W]], %[[N]]
// Without a pipeline, the weights of a tile are added among themselves first.
// CHECK: %[[TILE:.*]] = tile.reduce <add> %[[P]]#0, %[[ZERO]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SHRUNK]], %[[TILE]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[SUM]], %[[ZERO]]
// CHECK: arith.divf
// CHECK: math.log %[[SUM]] :
tile.program @plain(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %o: memref<?xf32, strided<[?]>>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) {octaves, scale = 0.25 : f32, headroom = 6 : i64} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  %f, %lse = tile.softmax_end %n, %sum {octaves, scale = 0.25 : f32, headroom = 6 : i64} : vector<16xf32>
  tile.store %f, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.store %lse, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  %v = vector.extract %p[0, 0] : bf16 from vector<16x8xbf16>
  %w = arith.extf %v : bf16 to f32
  %x = vector.broadcast %w : f32 to vector<16xf32>
  %y = arith.mulf %x, %r : vector<16xf32>
  tile.store %y, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.return
}

// One that is fixed has no new maximum and nothing to shrink by; its region stands between the weight and its conversion,
// and the sum has the weight as it is.
// CHECK-LABEL: tile.program @fixed(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>, %[[L:[a-z0-9]+]]: vector<16xf32>
// CHECK-NOT: tile.reduce <max>
// CHECK: %[[P:.*]]:2 = tile.map tiles(%[[S]] : vector<16x8xf32>) rows(%[[M]] : vector<16xf32>) cols()
// CHECK: %[[W:.*]] = math.exp %{{.*}} {tile.weight}
// CHECK-NEXT: %[[K:.*]] = arith.mulf %[[W]], %{{.*}} : f32
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[K]] : f32 to bf16
// CHECK-NEXT: tile.yield %[[W]], %[[N]]
// CHECK: tile.reduce <add> %[[P]]#0, %[[L]]
tile.program @fixed(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %o: memref<?xf32, strided<[?]>>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %twice = arith.constant 2.0 : f32
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) kept {
  ^bb0(%weight: f32, %row: index, %col: index):
    %k = arith.mulf %weight, %twice : f32
    tile.yield %k : f32
  } {fixed, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  tile.store %sum, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  %v = vector.extract %p[0, 0] : bf16 from vector<16x8xbf16>
  %w = arith.extf %v : bf16 to f32
  %x = vector.broadcast %w : f32 to vector<16xf32>
  tile.store %x, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.return
}
