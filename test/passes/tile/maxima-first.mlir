// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-maxima-first))" -split-input-file -verify-diagnostics | FileCheck %s

// Where scores are a rising function of products, the greatest product has the greatest score: row maxima are taken of
// products, masked as the scores are, before the function.

// CHECK-LABEL: tile.program @softcap(
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> vector<8x4xf32>
// CHECK: %[[BEFORE:.*]] = tile.load %{{.*}} -> vector<8xf32>
// CHECK: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK-NEXT: %[[MASKED:.*]] = tile.mask tiles(%[[X]] : vector<8x4xf32>)
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[MASKED]], %[[LEAST]]
// CHECK-NEXT: %[[SCORES:.*]] = tile.map tiles(%[[X]] :
// CHECK: math.tanh
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MAX]], %[[LEAST]]
// CHECK: %[[C:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[MAX]], %[[C]] : vector<8xf32>
// CHECK-NEXT: %[[RISEN:.*]] = math.tanh %[[SCALED]] : vector<8xf32>
// A row that has kept nothing stays at -inf, whatever the function makes of that.
// CHECK-NEXT: %[[OR_LEAST:.*]] = arith.select %[[NONE]], %[[LEAST]], %[[RISEN]]
// CHECK-NEXT: %[[KEPT:.*]] = tile.mask tiles(%[[SCORES]] :
// CHECK: %[[NEW:.*]], %{{.*}}, %{{.*}}, %{{.*}} = tile.softmax %[[KEPT]], %[[BEFORE]], %[[BEFORE]] at(%{{.*}}, %{{.*}}) own %[[OR_LEAST]] : vector<8xf32> {scale
// CHECK: tile.store %[[KEPT]],
// CHECK: tile.store %[[NEW]],
tile.program @softcap(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %before = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %scores = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %c : f32
    %t = math.tanh %s : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %kept = tile.mask tiles(%scores : vector<8x4xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  %max, %l_max, %p_max, %r_max = tile.softmax %kept, %before, %before at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %kept, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.store %max, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A factor that may be negative, a row's own term, and a map that is no slower than the maximum stay as they are. Where
// something slow is waited for, a remark says why, unless it is a number that only the launch knows.

// CHECK-LABEL: tile.program @others(
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// CHECK: arith.mulf
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {
// One that is fixed has no maxima of its own.
// CHECK: math.tanh
// CHECK: tile.softmax %{{.*}} at(%{{.*}}, %{{.*}}) {fixed,
// CHECK: tile.return
tile.program @others(%v: memref<?x?xf32>, %o: memref<?xf32>, %scale: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m0 = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %a = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %half = arith.mulf %scale, %c : f32
    %s = arith.mulf %e, %half : f32
    %t = math.tanh %s : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m1, %l_m1, %p_m1, %r_m1 = tile.softmax %a, %m0, %m0 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %b = tile.map tiles(%x : vector<8x4xf32>) rows(%m0 : vector<8xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %r: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    // expected-remark @+1 {{row maxima wait for a function of products: 'arith.addf' is not known to rise or fall with them}}
    %s = arith.addf %t, %r : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  %m2, %l_m2, %p_m2, %r_m2 = tile.softmax %b, %m1, %m1 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %d = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %s = arith.mulf %e, %c : f32
    tile.yield %s : f32
  } -> vector<8x4xf32>
  %m3, %l_m3, %p_m3, %r_m3 = tile.softmax %d, %m2, %m2 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %f = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m4, %l4, %p4, %r4 = tile.softmax %f, %m0, %m0 at(%c0, %c0) {fixed, scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %p4, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  tile.store %m3, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Other spellings of functions that rise: factors on the left, quotients, shifts, and two that fall one after the other.

// CHECK-LABEL: tile.program @spellings(
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> vector<8x4xf32>
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[X]]
// CHECK-NEXT: tile.map
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[MAX]] : vector<8xf32>
// CHECK: %[[TANH:.*]] = math.tanh %[[SCALED]] : vector<8xf32>
// CHECK: arith.divf %[[TANH]], %{{.*}} : vector<8xf32>
// CHECK: tile.softmax {{.*}} own %{{.*}}
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[X]]
// CHECK: %[[LESS:.*]] = arith.subf %[[MAX]], %{{.*}} : vector<8xf32>
// CHECK: %[[TANH:.*]] = math.tanh %[[LESS]] : vector<8xf32>
// CHECK: %[[MORE:.*]] = arith.addf %{{.*}}, %[[TANH]] : vector<8xf32>
// CHECK: arith.maximumf %{{.*}}, %[[MORE]] : vector<8xf32>
// CHECK: tile.softmax {{.*}} own %{{.*}}
// CHECK: %[[MAX:.*]] = tile.reduce <max> %[[X]]
// CHECK: %[[DOWN:.*]] = arith.mulf %{{.*}}, %[[MAX]] : vector<8xf32>
// CHECK: %[[TANH:.*]] = math.tanh %[[DOWN]] : vector<8xf32>
// CHECK: %[[SHIFTED:.*]] = arith.subf %{{.*}}, %[[TANH]] : vector<8xf32>
// CHECK: %[[NEGATED:.*]] = arith.negf %[[SHIFTED]] : vector<8xf32>
// CHECK: arith.divf %[[NEGATED]], %{{.*}} : vector<8xf32>
// CHECK: tile.softmax {{.*}} own %{{.*}}
tile.program @spellings(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %d = arith.constant -3.0 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m0 = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %s1 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %a = arith.mulf %c, %e : f32
    %t = math.tanh %a : f32
    %b = arith.divf %t, %c : f32
    tile.yield %b : f32
  } -> vector<8x4xf32>
  %m1, %l1, %p1, %r1 = tile.softmax %s1, %m0, %m0 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s2 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %a = arith.subf %e, %d : f32
    %t = math.tanh %a : f32
    %b = arith.addf %d, %t : f32
    %f = arith.maximumf %d, %b : f32
    tile.yield %f : f32
  } -> vector<8x4xf32>
  %m2, %l2, %p2, %r2 = tile.softmax %s2, %m1, %m1 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s3 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %a = arith.mulf %d, %e : f32
    %t = math.tanh %a : f32
    %unread = arith.mulf %t, %t : f32
    %b = arith.subf %c, %t : f32
    %n = arith.negf %b : f32
    %f = arith.divf %n, %d : f32
    tile.yield %f : f32
  } -> vector<8x4xf32>
  %m3, %l3, %p3, %r3 = tile.softmax %s3, %m2, %m2 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %m3, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// What falls, and what is not known to rise, each with its reason. Nothing is said of what is no function of products alone.

// CHECK-LABEL: tile.program @refused(
// CHECK-NOT: own
// CHECK: tile.return
tile.program @refused(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %d = arith.constant -3.0 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m0 = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  // expected-remark @+1 {{row maxima wait for a function of products: it falls where they rise}}
  %s1 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    %n = arith.negf %t : f32
    tile.yield %n : f32
  } -> vector<8x4xf32>
  %m1, %l1, %p1, %r1 = tile.softmax %s1, %m0, %m0 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s2 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    // expected-remark @+1 {{row maxima wait for a function of products: 'arith.divf' is not known to rise or fall with them}}
    %a = arith.divf %c, %e : f32
    %t = math.tanh %a : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m2, %l2, %p2, %r2 = tile.softmax %s2, %m1, %m1 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s3 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    // expected-remark @+1 {{row maxima wait for a function of products: they are read twice}}
    %a = arith.addf %t, %e : f32
    tile.yield %a : f32
  } -> vector<8x4xf32>
  %m3, %l3, %p3, %r3 = tile.softmax %s3, %m2, %m2 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s4 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %k = arith.index_cast %j : index to i32
    %p = arith.sitofp %k : i32 to f32
    %t = math.tanh %e : f32
    %a = arith.subf %t, %p : f32
    tile.yield %a : f32
  } -> vector<8x4xf32>
  %m4, %l4, %p4, %r4 = tile.softmax %s4, %m3, %m3 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  %s5 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    // expected-remark @+1 {{row maxima wait for a function of products: 'arith.mulf' is not known to rise or fall with them}}
    %a = arith.mulf %t, %t : f32
    tile.yield %a : f32
  } -> vector<8x4xf32>
  %m5, %l5, %p5, %r5 = tile.softmax %s5, %m4, %m4 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %m5, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A slow function of something else than products is not waited for: it is there.

// CHECK-LABEL: tile.program @other_tiles(
// CHECK-NOT: own
// CHECK: tile.return
tile.program @other_tiles(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.125 : f32
  %d = arith.constant -3.0 : f32
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x16xf32>
  %y = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<4x16xf32>
  %b = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %products = tile.mma %x, %y, %zero transposed : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  %s = tile.map tiles(%b, %products : vector<8x4xf32>, vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%f: f32, %e: f32, %i: index, %j: index):
    %t = math.tanh %f : f32
    %a = arith.addf %e, %t : f32
    tile.yield %a : f32
  } -> vector<8x4xf32>
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  tile.store %n, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Maps that something comes between or after: another map, other results, and the loop, whose step has what it reads.

// CHECK-LABEL: tile.program @apart(
// CHECK-NOT: own
// CHECK: tile.return
tile.program @apart(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c = arith.constant 0.125 : f32
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
  %m0 = tile.load %o[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  // expected-remark @+1 {{row maxima wait for a function of products: more than a mask comes between it and the softmax}}
  %t1 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %s1 = tile.map tiles(%t1 : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %a = arith.mulf %e, %c : f32
    tile.yield %a : f32
  } -> vector<8x4xf32>
  %m1, %l1, %p1, %r1 = tile.softmax %s1, %m0, %m0 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  // expected-remark @+1 {{row maxima wait for a function of products: more than a mask comes between it and the softmax}}
  %t2 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %s2 = tile.mask tiles(%t2 : vector<8x4xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  %k2 = tile.mask tiles(%s2 : vector<8x4xf32>) rows() cols() at(%c0, %c0) full(%c0, %high) {
  ^bb0(%e: f32, %i: index, %j: index):
    %keep = arith.cmpi slt, %j, %high : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  %m2, %l2, %p2, %r2 = tile.softmax %k2, %m1, %m1 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  // expected-remark @+1 {{row maxima wait for a function of products: it has other results}}
  %s3:2 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t, %e : f32, f32
  } -> (vector<8x4xf32>, vector<8x4xf32>)
  %m3, %l3, %p3, %r3 = tile.softmax %s3#0, %m2, %m2 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
  // expected-remark @+1 {{row maxima wait for a function of products: it is computed outside of the step}}
  %s4 = tile.map tiles(%x : vector<8x4xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %i: index, %j: index):
    %t = math.tanh %e : f32
    tile.yield %t : f32
  } -> vector<8x4xf32>
  %m5 = scf.for %j = %c0 to %high step %c4 iter_args(%m4 = %m3) -> (vector<8xf32>) {
    %n4, %l4, %p4, %r4 = tile.softmax %s4, %m4, %m4 at(%c0, %c0) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xf32>
    scf.yield %n4 : vector<8xf32>
  }
  tile.store %m5, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
