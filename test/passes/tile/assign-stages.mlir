// Which operations of a step run in the next.
// RUN: attnc-opt %s --tile-assign-stages | FileCheck %s
// RUN: sed 's/arith.mulf %%x, %%y/arith.mulf %%y, %%x/' %s | attnc-opt --tile-assign-stages | FileCheck %s
// RUN: sed 's/ {tile.overlap = #tile.overlap<sums_late>}//' %s | attnc-opt --tile-assign-stages | FileCheck %s --check-prefix=IN-STEP

#pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
#late = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>

// A product that adds to what the loop carries, scaled, and its values; logits, weights and keys are of the step itself, and
// so is the scaling.

// CHECK-LABEL: tile.program @forward(
// CHECK: tile.load %{{.*}} axes [0, 1] below(%{{.*}}) :
// CHECK: tile.load %{{.*}} axes [0, 1] below(%{{.*}}) :
// CHECK: tile.mma %{{.*}} transposed :
// CHECK: tile.softmax
// CHECK: tile.load %{{.*}} axes [0, 1] below(%{{.*}}) {tile.stage = 1 : i64} :
// CHECK: tile.map
// CHECK: } -> vector<8x16xf32>
// CHECK: tile.mma %{{.*}} {tile.stage = 1 : i64} :
tile.program @forward(%K: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %max0 = arith.constant dense<0xFF800000> : vector<8xf32>
  %sum0 = arith.constant dense<0.0> : vector<8xf32>
  %q = tile.load %K[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0, %max = %max0, %sum = %sum0) -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %k = tile.load %K[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %m, %l, %p, %shrink = tile.softmax %s, %max, %sum at(%c0, %j) {octaves, scale = 0.25 : f32} : vector<8x4xf32>, vector<8xf32> -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%shrink : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %y : f32
      tile.yield %e : f32
    } {scales_rows} -> vector<8x16xf32>
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a, %m, %l : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// Five products, of which three accumulate; each of two loads feeds a fresh one and one that accumulates, and is of the
// step itself. One that only accumulating products read is not. Where nothing says how steps overlap, all are of theirs.

// IN-STEP-LABEL: tile.program @backward(
// IN-STEP-NOT: tile.stage
// IN-STEP-LABEL: tile.program @others(

// CHECK-LABEL: tile.program @backward(
// CHECK: scf.for
// CHECK: %[[Q:.*]] = tile.load %{{.*}} axes [0, 1] below(%{{.*}}) :
// CHECK: %[[DO:.*]] = tile.load %{{.*}} axes [0, 1] below(%{{.*}}) :
// CHECK: tile.mma %{{.*}}, %[[Q]], %{{.*}} transposed :
// CHECK: tile.mma %{{.*}}, %[[DO]], %{{.*}} transposed :
// CHECK: tile.load %{{.*}} axes [0, 1] below(%{{.*}}) {tile.stage = 1 : i64} :
// CHECK-COUNT-3: tile.mma %{{.*}} {tile.stage = 1 : i64} :
tile.program @backward(%Q: memref<?x?xbf16>, %D: memref<?x?xbf16>, %W: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #late} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %k = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %v = tile.load %D[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r:3 = scf.for %i = %c0 to %high step %c4 iter_args(%dk = %out0, %dv = %out0, %dw = %out0) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %q = tile.load %Q[%i, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %do = tile.load %D[%i, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %k, %q, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %dp = tile.mma %v, %do, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p:2 = tile.map tiles(%s, %dp : vector<8x4xf32>, vector<8x4xf32>) rows() cols() at(%c0, %i) {
    ^bb0(%x: f32, %y: f32, %row: index, %col: index):
      %e = math.exp2 %x : f32
      %d = arith.mulf %e, %y : f32
      %b = arith.truncf %e : f32 to bf16
      %c = arith.truncf %d : f32 to bf16
      tile.yield %b, %c : bf16, bf16
    } -> (vector<8x4xbf16>, vector<8x4xbf16>)
    %w = tile.load %W[%i, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %dv1 = tile.mma %p#0, %do, %dv : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %dk1 = tile.mma %p#1, %q, %dk : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %dw1 = tile.mma %p#1, %w, %dw : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %dk1, %dv1, %dw1 : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#1, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// Of no stage but the first: a product of tiles that are not computed in the step, one whose sum the step reads, one that
// does not begin with 0; and all of a loop that says nothing of overlap.

// CHECK-LABEL: tile.program @others(
// CHECK-NOT: tile.stage
tile.program @others(%Q: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %out1 = arith.constant dense<1.0> : vector<8x16xf32>
  %r:3 = scf.for %i = %c0 to %high step %c4 iter_args(%a = %out0, %b = %out0, %c = %out1) -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
    %p = tile.load %Q[%c0, %i] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x4xbf16>
    %v = tile.load %Q[%i, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %made = tile.map tiles(%p : vector<8x4xbf16>) rows() cols() at(%c0, %i) {
    ^bb0(%x: bf16, %row: index, %col: index):
      tile.yield %x : bf16
    } -> vector<8x4xbf16>
    %a1 = tile.mma %p, %v, %a : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    %b1 = tile.mma %made, %v, %b : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    tile.store %b1, %o[%c0, %i] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
    %c1 = tile.mma %made, %v, %c : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a1, %b1, %c1 : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r#0, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.store %r#2, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.program @unsaid(
// CHECK-NOT: tile.stage
tile.program @unsaid(%Q: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, pipeline = #pipeline} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %r = scf.for %i = %c0 to %high step %c4 iter_args(%a = %out0) -> (vector<8x16xf32>) {
    %p = tile.load %Q[%c0, %i] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x4xbf16>
    %v = tile.load %Q[%i, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %made = tile.map tiles(%p : vector<8x4xbf16>) rows() cols() at(%c0, %i) {
    ^bb0(%x: bf16, %row: index, %col: index):
      tile.yield %x : bf16
    } -> vector<8x4xbf16>
    %a1 = tile.mma %made, %v, %a : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a1 : vector<8x16xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}
