// RUN: attnc-opt %s --tile-assign-stages -split-input-file -verify-diagnostics | FileCheck %s

// Loops whose steps are not overlapped, though a product starts them: remarks say why.

// A sum that the step stores.

// CHECK-LABEL: tile.program @read(
// CHECK-NOT: tile.stage
tile.program @read(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-remark @+1 {{the loop's steps are not overlapped: the step reads the product that accumulates over it}}
    %a = tile.mma %p, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    tile.store %a, %o[%j, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// One that something is added to between steps.

// CHECK-LABEL: tile.program @shifted(
// CHECK-NOT: tile.stage
tile.program @shifted(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out, %out : vector<8x16xf32>, vector<8x16xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.addf %x, %y : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    // expected-remark @+1 {{the loop's steps are not overlapped: something else than a scaling of rows comes between the product and the sum that it adds to}}
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// One to whose rows something is added, in the place of a factor.

// CHECK-LABEL: tile.program @added_rows(
// CHECK-NOT: tile.stage
tile.program @added_rows(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %rows = arith.constant dense<2.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%rows : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.addf %x, %y : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    // expected-remark @+1 {{the loop's steps are not overlapped: something else than a scaling of rows comes between the product and the sum that it adds to}}
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// One whose elements are squared: a row vector that is there need not be its factor.

// CHECK-LABEL: tile.program @squared(
// CHECK-NOT: tile.stage
tile.program @squared(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %rows = arith.constant dense<2.0> : vector<8xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %u = tile.map tiles(%out : vector<8x16xf32>) rows(%rows : vector<8xf32>) cols() at(%c0, %c0) {
    ^bb0(%x: f32, %y: f32, %i: index, %n: index):
      %e = arith.mulf %x, %x : f32
      tile.yield %e : f32
    } -> vector<8x16xf32>
    // expected-remark @+1 {{the loop's steps are not overlapped: something else than a scaling of rows comes between the product and the sum that it adds to}}
    %a = tile.mma %p, %v, %u : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A product of what is loaded.

// CHECK-LABEL: tile.program @loaded(
// CHECK-NOT: tile.stage
tile.program @loaded(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %w = tile.load %Q[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xbf16> -> vector<8x4xbf16>
    tile.store %p, %V[%c0, %j] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
    // expected-remark @+1 {{the loop's steps are not overlapped: the step does not compute what the product that accumulates over it multiplies}}
    %a = tile.mma %w, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A sum that does not begin with 0.

// CHECK-LABEL: tile.program @begun(
// CHECK-NOT: tile.stage
tile.program @begun(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<1.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%out = %out0) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    // expected-remark @+1 {{the loop's steps are not overlapped: the product that accumulates over it does not begin with 0}}
    %a = tile.mma %p, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
  } {tile.overlap = #tile.overlap<weights_ahead>}
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A loop in a loop goes on with the sum of that, which is no news.

// CHECK-LABEL: tile.program @inner(
// CHECK-NOT: tile.stage
tile.program @inner(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %r = scf.for %low = %c0 to %high step %c16 iter_args(%before = %out0) -> (vector<8x16xf32>) {
    %end = arith.addi %low, %c16 : index
  %r1 = scf.for %j = %low to %end step %c4 iter_args(%out = %before) -> (vector<8x16xf32>) {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %a = tile.mma %p, %v, %out : vector<8x4xbf16>, vector<4x16xbf16>, vector<8x16xf32>
    scf.yield %a : vector<8x16xf32>
    } {tile.overlap = #tile.overlap<weights_ahead>}
    scf.yield %r1 : vector<8x16xf32>
  }
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%high, %c16) : vector<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Sums that are to run late, where there are none.

// CHECK-LABEL: tile.program @no_sums(
// CHECK-NOT: tile.stage
tile.program @no_sums(%Q: memref<?x?xbf16>, %V: memref<?x?xbf16>, %o: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %out0 = arith.constant dense<0.0> : vector<8x16xf32>
  %q = tile.load %Q[%c0, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  // expected-remark @+1 {{the loop's steps are not overlapped: none of its products accumulates over it}}
  scf.for %j = %c0 to %high step %c4 {
    %k = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %s = tile.mma %q, %k, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    %p = tile.map tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %n: index):
      %b = arith.truncf %x : f32 to bf16
      tile.yield %b : bf16
    } -> vector<8x4xbf16>
    %v = tile.load %V[%j, %c0] axes [0, 1] below(%high, %c16) : memref<?x?xbf16> -> vector<4x16xbf16>
    %t = tile.mma %q, %v, %zero transposed : vector<8x16xbf16>, vector<4x16xbf16>, vector<8x4xf32>
    tile.store %p, %V[%c0, %j] axes [0, 1] below(%high, %high) : vector<8x4xbf16>, memref<?x?xbf16>
    tile.store %t, %o[%c0, %j] axes [0, 1] below(%high, %high) : vector<8x4xf32>, memref<?x?xf32>
  } {tile.overlap = #tile.overlap<sums_late>}
  tile.return
}
