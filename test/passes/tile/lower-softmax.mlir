// The online softmax as arithmetic.
// RUN: attnc-opt %s --tile-lower-softmax --canonicalize | FileCheck %s

#map = affine_map<() -> (1)>
#pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = staged>

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

// One that is fixed has no new maximum and nothing to shrink by. Of what is dropped the product takes 0, and the sum has
// the weight as it is.
// CHECK-LABEL: tile.program @fixed(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>, %[[L:[a-z0-9]+]]: vector<16xf32>
// CHECK-NOT: tile.reduce <max>
// CHECK: %[[N:.*]] = tile.philox
// CHECK: %[[P:.*]]:2 = tile.map tiles(%[[S]], %[[N]] : vector<16x8xf32>, vector<16x8xi16>) rows(%[[M]] : vector<16xf32>) cols()
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %[[NUMBER:[a-z0-9]+]]: i16
// CHECK: %[[W:.*]] = math.exp %{{.*}} {tile.weight}
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[NUMBER]] : i16 to i32
// CHECK-NEXT: %[[KEEP:.*]] = arith.cmpi uge, %[[WIDE]], %{{.*}} : i32
// CHECK: %[[OR_0:.*]] = arith.select %[[KEEP]], %[[W]], %{{.*}} : f32
// CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[OR_0]] : f32 to bf16
// CHECK-NEXT: tile.yield %[[W]], %[[NARROW]]
// CHECK: tile.reduce <add> %[[P]]#0, %[[L]]
tile.program @fixed(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %o: memref<?xf32, strided<[?]>>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %seed = arith.constant 1 : i64
  %least = arith.constant 6554 : i32
  %numbers = tile.philox %seed at(%c0, %c0, %c0, %c0) : vector<16x8xi16>
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) numbers %numbers : vector<16x8xi16> dropped below %least {fixed, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  tile.store %sum, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  %v = vector.extract %p[0, 0] : bf16 from vector<16x8xbf16>
  %w = arith.extf %v : bf16 to f32
  %x = vector.broadcast %w : f32 to vector<16xf32>
  tile.store %x, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.return
}

// Fused exponents: x c + b, and row factors come from the same rounded b = -m c - h. Where m is so large that b would be
// off by more than a power holds, c is a power of two.

// CHECK-LABEL: tile.program @fused(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<16xf32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<6.250000e-02> : vector<16xf32>
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<1.71798692E+10> : vector<16xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-4.000000e+01> : vector<16xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[S]], %[[M]]
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[MAX]]
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK: %[[FACTORS:.*]] = arith.select %[[LARGE]], %[[P]], %[[C]]
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[FACTORS]]
// CHECK: %[[OFFSETS:.*]] = math.fma %[[SAFE]], %[[NEGATIVE]], %[[LOW]]
// CHECK: %[[NEGATIVE2:.*]] = arith.negf %[[FACTORS]]
// CHECK: %[[OLD:.*]] = math.fma %[[M]], %[[NEGATIVE2]], %[[LOW]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[OFFSETS]], %[[OLD]]
// CHECK: math.exp2 %[[GROWTH]]
// CHECK: tile.map tiles(%[[S]] : vector<16x8xf32>) rows(%[[OFFSETS]], %[[FACTORS]] : vector<16xf32>, vector<16xf32>) cols()
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32, %[[F:.*]]: f32,
// CHECK-NEXT: %[[X:.*]] = math.fma %[[E]], %[[F]], %[[O]] : f32
// CHECK-NEXT: math.exp2 %[[X]] {tile.weight}
// The divisor takes in what the weight of the maximum is rounded by: 1 / (sum + (w~ - w)) with w = 2^r,
// r = fma(m, c, b) and w~ the rounded w, in rows of which w is half or more. The logarithm of the sums stays as it is.
// CHECK: %[[SUM:.*]] = tile.reduce <add>
// CHECK: %[[OFFSETS2:.*]] = math.fma %[[SAFE2:.*]], %{{.*}}, %[[LOW]]
// CHECK: %[[REST:.*]] = math.fma %[[SAFE2]], %{{.*}}, %[[OFFSETS2]]
// CHECK: %[[WEIGHT:.*]] = math.exp2 %[[REST]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[WEIGHT]] : vector<16xf32> to vector<16xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]]
// CHECK: %[[BY:.*]] = arith.subf %[[WIDE]], %[[WEIGHT]]
// CHECK: %[[TWICE:.*]] = arith.addf %[[WEIGHT]], %[[WEIGHT]]
// CHECK: %[[MOST:.*]] = arith.cmpf oge, %[[TWICE]], %[[SUM]]
// CHECK: %[[CHANGE:.*]] = arith.select %[[MOST]], %[[BY]], %{{.*}}
// CHECK: %[[DIVISOR:.*]] = arith.addf %[[SUM]], %[[CHANGE]]
// CHECK: arith.divf %{{.*}}, %[[DIVISOR]]
// CHECK: math.log %[[SUM]] :
tile.program @fused(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %o: memref<?xf32, strided<[?]>>, %w: memref<?x?xbf16>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) {exponent = #tile.exponent<fused>, octaves, scale = 0.125 : f32, headroom = 40 : i64} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  %f, %lse = tile.softmax_end %n, %sum {exponent = #tile.exponent<fused>, octaves, rounded = bf16, scale = 0.125 : f32, headroom = 40 : i64} : vector<16xf32>
  tile.store %r, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<16x8xbf16>, memref<?x?xbf16>
  tile.store %f, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.store %lse, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.return
}

// Split exponents have the same scale, and the difference as well: (x - m) c + t with t = m c + b, or -h for a row whose
// m c is so large that its rounded offset b would be off by more than an octave.

// CHECK-LABEL: tile.program @split(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<16xf32>
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-1.250000e-01> : vector<16xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-6.000000e+00> : vector<16xf32>
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<0x4D000000> : vector<16xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[S]], %[[M]]
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
// CHECK: %[[OFFSETS:.*]] = math.fma %[[SAFE]], %[[MINUS]], %[[LOW]]
// CHECK: %[[SMALL:.*]] = math.fma %[[SAFE]], %[[C]], %[[OFFSETS]]
// CHECK: %[[MAGNITUDE:.*]] = math.absf %[[MAX]]
// CHECK: %[[LARGE:.*]] = arith.cmpf uge, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK: %[[REST:.*]] = arith.select %[[LARGE]], %[[LOW]], %[[SMALL]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[M]], %[[SAFE]]
// CHECK: %[[REST0:.*]] = arith.select %{{.*}}, %[[LOW]], %{{.*}}
// CHECK: %[[CHANGE:.*]] = arith.subf %[[REST0]], %[[REST]]
// CHECK: math.fma %[[GROWTH]], %[[C]], %[[CHANGE]]
// CHECK: tile.map tiles(%{{.*}} : vector<16x8xf32>) rows(%[[SAFE]], %[[REST]] : vector<16xf32>, vector<16xf32>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[M:.*]]: f32, %[[T:.*]]: f32,
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[E]], %[[M]] : f32
// CHECK-NEXT: %[[F:.*]] = math.fma %[[D]], %{{.*}}, %[[T]] : f32
// CHECK-NEXT: math.exp2 %[[F]]
tile.program @split(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %o: memref<?xf32, strided<[?]>>, %w: memref<?x?xf16>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) {exponent = #tile.exponent<split>, octaves, scale = 0.125 : f32, headroom = 6 : i64} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xf16>
  tile.store %r, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.store %p, %w[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<16x8xf16>, memref<?x?xf16>
  tile.return
}

// With a fixed number, which is near all scores, both are one operation with rounded offsets, and look at no magnitudes.

// CHECK-LABEL: tile.program @fixed_offsets(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>
// CHECK-NOT: math.absf
// CHECK: %[[OFFSETS:.*]] = math.fma %[[M]], %{{.*}}, %{{.*}}
// CHECK: tile.map tiles(%[[S]] : vector<16x8xf32>) rows(%[[OFFSETS]], %{{.*}} : vector<16xf32>, vector<16xf32>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32, %[[F:.*]]: f32,
// CHECK-NEXT: math.fma %[[E]], %[[F]], %[[O]] : f32
// CHECK: %[[OFFSETS2:.*]] = math.fma %[[M]], %{{.*}}, %{{.*}}
// CHECK: tile.map tiles(%[[S]] : vector<16x8xf32>) rows(%[[OFFSETS2]] : vector<16xf32>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[O:.*]]: f32,
// CHECK-NEXT: math.fma %[[E]], %{{.*}}, %[[O]] : f32
// CHECK-NOT: math.absf
tile.program @fixed_offsets(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %w: memref<?x?xbf16>, %h: memref<?x?xf16>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n0, %sum0, %p0, %r0 = tile.softmax %s, %m, %l at(%c0, %c0) {exponent = #tile.exponent<fused>, fixed, octaves, scale = 0.125 : f32, headroom = 40 : i64} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  %n1, %sum1, %p1, %r1 = tile.softmax %s, %m, %l at(%c0, %c0) {exponent = #tile.exponent<split>, fixed, octaves, scale = 0.125 : f32, headroom = 6 : i64} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xf16>
  tile.store %p0, %w[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<16x8xbf16>, memref<?x?xbf16>
  tile.store %p1, %h[%c0, %c0] axes [0, 1] below(%c16, %c16) : vector<16x8xf16>, memref<?x?xf16>
  tile.return
}

// The maximum of rows that are not renewed grows by whole octaves; maxima of the tile's own are looked for nowhere else; and the divisor
// takes the greater of two weights.

// CHECK-LABEL: tile.program @renewed(
// CHECK-SAME: %[[S:[a-z0-9]+]]: vector<16x8xf32>, %[[M:[a-z0-9]+]]: vector<16xf32>, %[[L:[a-z0-9]+]]: vector<16xf32>, %[[OWN:[a-z0-9]+]]: vector<16xf32>, %[[SOME:[a-z0-9]+]]: vector<16xi1>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<1.250000e-01> : vector<16xf32>
// CHECK-DAG: %[[OCTAVE:.*]] = arith.constant dense<8.000000e+00> : vector<16xf32>
// CHECK-NOT: tile.reduce <max>
// CHECK: %[[NOW:.*]] = arith.maxnumf %[[M]], %[[OWN]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[NOW]], %[[M]]
// CHECK: %[[OCTAVES:.*]] = arith.mulf %[[GROWTH]], %[[SCALE]]
// CHECK: %[[WHOLE:.*]] = math.ceil %[[OCTAVES]]
// CHECK: %[[RAISED:.*]] = math.fma %[[WHOLE]], %[[OCTAVE]], %[[M]]
// CHECK: %[[MAX:.*]] = arith.select %[[SOME]], %[[NOW]], %[[RAISED]]
// CHECK: arith.cmpf oeq, %[[MAX]],
// CHECK: tile.reduce <add>
// CHECK: %[[WEIGHT:.*]] = math.exp2 %{{.*}} : vector<16xf32>
// CHECK: %[[GREATEST:.*]] = arith.maxnumf %[[L]], %[[WEIGHT]]
// CHECK: arith.truncf %[[GREATEST]] : vector<16xf32> to vector<16xbf16>
tile.program @renewed(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %own: vector<16xf32>, %some: vector<16xi1>, %o: memref<?xf32, strided<[?]>>, %t: index) attributes {grid = #map, grid_sizes = array<i64>, panel = 16 : i64, rows = 16 : i64, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n, %sum, %p, %r = tile.softmax %s, %m, %l at(%c0, %c0) own %own : vector<16xf32> renewed %some : vector<16xi1> {octaves, scale = 0.125 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  %f, %lse = tile.softmax_end %n, %sum max_weight %l : vector<16xf32> {exponent = #tile.exponent<fused>, octaves, rounded = bf16, scale = 0.125 : f32} : vector<16xf32>
  tile.store %f, %o[%c0] axes [0] below(%c16) : vector<16xf32>, memref<?xf32, strided<[?]>>
  tile.return
}
