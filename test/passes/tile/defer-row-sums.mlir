// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-defer-row-sums))" -split-input-file -verify-diagnostics | FileCheck %s

// Row sums that a loop only adds to stay parts, one a lane, until the loop is done.

// CHECK-LABEL: tile.program @sums(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[PARTS:.*]] = tile.lane_partial %[[ZERO]] : vector<8xf32>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %[[PARTS]])
// Maxima are no sums.
// CHECK: %[[M:.*]] = tile.reduce <max> %{{.*}}, %[[MAX]] : vector<8x4xf32>
// CHECK: %[[ONCE:.*]] = tile.reduce <add> %{{.*}}, %[[SUM]] partial :
// CHECK: %[[T:.*]] = tile.reduce <add> %{{.*}}, %[[ONCE]] partial :
// CHECK: scf.yield %[[M]], %[[T]]
// CHECK: %[[TOTAL:.*]] = tile.warp_reduce %[[R]]#1 : vector<8xf32>
// Behind the loop the sum has two readers; both read the total.
// CHECK: %[[LOG:.*]] = math.log %[[TOTAL]]
// CHECK: tile.store %[[TOTAL]],
// CHECK: tile.store %[[LOG]],
// CHECK: tile.store %[[R]]#0,
tile.program @sums(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r:2 = scf.for %j = %c0 to %high step %c4 iter_args(%max = %zero, %sum = %zero) -> (vector<8xf32>, vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.reduce <max> %t, %max : vector<8x4xf32>, vector<8xf32>
    %once = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
    %n = tile.reduce <add> %t, %once : vector<8x4xf32>, vector<8xf32>
    scf.yield %m, %n : vector<8xf32>, vector<8xf32>
  }
  %log = math.log %r#1 : vector<8xf32>
  tile.store %r#1, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %log, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %r#0, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Steps that may be skipped: on each way the sum is one, on the last it is as it was.

// CHECK-LABEL: tile.program @branches(
// CHECK: %[[PARTS:.*]] = tile.lane_partial
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[PARTS]])
// CHECK: scf.if
// CHECK: tile.reduce <add> %{{.*}}, %[[SUM]] partial :
// CHECK: } else {
// CHECK: scf.if
// CHECK: tile.reduce <add> %{{.*}}, %{{.*}} partial :
// CHECK: } else {
// CHECK: scf.yield %[[SUM]]
// CHECK: tile.warp_reduce
tile.program @branches(%v: memref<?x?xf32>, %o: memref<?xf32>, %a: i1, %b: i1, %high: index,
                       %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %x = scf.if %a -> (vector<8xf32>) {
      %n = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
      scf.yield %n : vector<8xf32>
    } else {
      %y = scf.if %b -> (vector<8xf32>) {
        %n = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
        scf.yield %n : vector<8xf32>
      } else {
        scf.yield %sum : vector<8xf32>
      }
      scf.yield %y : vector<8xf32>
    }
    scf.yield %x : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// The sums of the online softmax.

// CHECK-LABEL: tile.program @softmax(
// CHECK: %[[PARTS:.*]] = tile.lane_partial
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %[[PARTS]])
// CHECK: tile.softmax %{{.*}}, %[[MAX]], %[[SUM]] at(%{{.*}}, %{{.*}}) {partial, scale =
// CHECK: %[[TOTAL:.*]] = tile.warp_reduce %[[R]]#1
// CHECK: tile.softmax_end %[[R]]#0, %[[TOTAL]]
tile.program @softmax(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0xFF800000> : vector<8xf32>
  %r:2 = scf.for %j = %c0 to %high step %c4 iter_args(%max = %none, %sum = %zero) -> (vector<8xf32>, vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m, %l, %p, %s = tile.softmax %t, %max, %sum at(%c0, %j) {scale = 1.0 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    scf.yield %m, %l : vector<8xf32>, vector<8xf32>
  }
  %f, %lse = tile.softmax_end %r#0, %r#1 {scale = 1.0 : f32} : vector<8xf32>
  tile.store %f, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %lse, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A sum that row factors scale is another in each step; that of an online softmax is a `tile.softmax` until every
// decision about it has been made.

// CHECK-LABEL: tile.program @scaled(
// CHECK-NOT: tile.lane_partial
// CHECK-NOT: partial
// CHECK: tile.return
tile.program @scaled(%v: memref<?x?xf32>, %o: memref<?xf32>, %f: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step: 'arith.mulf' is no sum over rows, nor does it add one}}
    %scaled = arith.mulf %factor, %sum : vector<8xf32>
    %n = tile.reduce <add> %t, %scaled : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A step's sum may be added to it, on either side.

// CHECK-LABEL: tile.program @summands(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = tile.reduce <add> %{{.*}}, %{{.*}} partial :
// CHECK: %[[Y:.*]] = tile.reduce <add> %{{.*}}, %{{.*}} partial :
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]], %[[X]]
// CHECK: %[[MOST:.*]] = arith.addf %[[Y]], %[[MORE]]
// CHECK: scf.yield %[[MOST]]
// CHECK: tile.warp_reduce
tile.program @summands(%v: memref<?x?xf32>, %o: memref<?xf32>, %f: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %x = tile.reduce <add> %t, %zero : vector<8x4xf32>, vector<8xf32>
    %y = tile.reduce <add> %t, %zero : vector<8x4xf32>, vector<8xf32>
    %more = arith.addf %sum, %x : vector<8xf32>
    %most = arith.addf %y, %more : vector<8xf32>
    scf.yield %most : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A sum that is a factor of itself, and one that another number carries on, are read whole.

// CHECK-LABEL: tile.program @squared(
// CHECK-NOT: tile.lane_partial
// CHECK-NOT: partial
// CHECK: tile.return
tile.program @squared(%v: memref<?x?xf32>, %o: memref<?xf32>, %f: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = tile.load %f[%c0] axes [0] below(%high) : memref<?xf32> -> vector<8xf32>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero, %other = %zero, %last = %zero) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step: 'arith.mulf' is no sum over rows, nor does it add one}}
    %square = arith.mulf %sum, %sum : vector<8xf32>
    %n = tile.reduce <add> %t, %square : vector<8x4xf32>, vector<8xf32>
    %m = tile.reduce <add> %t, %other : vector<8x4xf32>, vector<8xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step, which reads them here}}
    scf.yield %n, %m, %other : vector<8xf32>, vector<8xf32>, vector<8xf32>
  }
  tile.store %r#0, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %r#1, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.store %r#2, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A sum that the step itself reads is needed whole in every step, which a remark says,

// CHECK-LABEL: tile.program @read_inside(
// CHECK-NOT: tile.lane_partial
// CHECK: tile.reduce <add> %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-NOT: tile.warp_reduce
// CHECK: tile.return
tile.program @read_inside(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %n = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step, which reads them here}}
    tile.store %n, %o[%j] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// also where what it reads is the sum of the steps before;

// CHECK-LABEL: tile.program @state_read_inside(
// CHECK-NOT: tile.lane_partial
// CHECK: tile.reduce <add> %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-NOT: tile.warp_reduce
// CHECK: tile.return
tile.program @state_read_inside(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step, which reads them here}}
    tile.store %sum, %o[%j] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
    %n = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// and one that something else than rows is added to is none.

// CHECK-LABEL: tile.program @added_to(
// CHECK-NOT: tile.lane_partial
// CHECK: tile.reduce <add> %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-NOT: tile.warp_reduce
// CHECK: tile.return
tile.program @added_to(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{row sums are added over lanes in each step: 'arith.addf' is no sum over rows, nor does it add one}}
    %more = arith.addf %sum, %one : vector<8xf32>
    %n = tile.reduce <add> %t, %more : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A program for a CPU stays.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: tile.lane_partial
// CHECK: tile.reduce <add> %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-NOT: tile.warp_reduce
// CHECK: tile.return
tile.program @no_pipeline(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%sum = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %n = tile.reduce <add> %t, %sum : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
