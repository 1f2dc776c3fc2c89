// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-split-ranges),canonicalize,cse)" -split-input-file \
// RUN:   | FileCheck %s

// Loops that go down, as tile-reverse-loops leaves them: columns are `last` minus the induction variable.

// Without a mask, all keys are kept below the last one, and the loop's steps come after the one that holds it: nothing
// is left to mask.

// CHECK-LABEL: tile.program @descending(
// CHECK: scf.for %[[I:.*]] = %c4 to %{{.*}} step %c4
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @descending(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %steps = arith.ceildivui %high, %c4 : index
  %length = arith.muli %steps, %c4 : index
  %last = arith.subi %length, %c4 : index
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A causal mask: the masked stretch comes first now, and there is no second one, since all is kept down to the first
// key.

// CHECK-LABEL: tile.program @descending_causal(
// CHECK-SAME: %[[DIAGONAL:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: %[[STEPS:.*]] = arith.ceildivui %[[HIGH]], %c4 : index
// CHECK: %[[LENGTH:.*]] = arith.muli %[[STEPS]], %c4 : index
// CHECK: %[[LAST:.*]] = arith.subi %[[LENGTH]], %c4 : index
// The first full tile ends at the diagonal at the latest.
// CHECK: %[[FULL:.*]] = arith.subi %[[LENGTH]], %[[DIAGONAL]] : index
// CHECK: %[[D:.*]] = arith.subi %[[FULL]], %c4 : index
// CHECK: %[[DP:.*]] = arith.maxsi %[[D]], %c0 : index
// CHECK: %[[UP:.*]] = arith.ceildivui %[[DP]], %c4 : index
// CHECK: %[[SKIP:.*]] = arith.muli %[[UP]], %c4 : index
// CHECK-DAG: %[[ON:.*]] = arith.addi %[[SKIP]], %c4 : index
// CHECK-DAG: %[[MOST:.*]] = arith.maxsi %[[LENGTH]], %c4 : index
// CHECK: %[[FIRST:.*]] = arith.minsi %[[ON]], %[[MOST]] : index
// CHECK: %[[A:.*]] = scf.for %[[I:.*]] = %c4 to %[[FIRST]] step %c4
// CHECK: %[[J:.*]] = arith.subi %[[LAST]], %[[I]] : index
// CHECK: tile.mask {{.*}} at(%c0, %[[J]]) full(%c0, %[[DIAGONAL]])
// CHECK: scf.yield
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LENGTH]] step %c4 iter_args(%{{.*}} = %[[A]])
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.store %[[B]],
tile.program @descending_causal(%v: memref<?x?xf32>, %o: memref<?xf32>, %diagonal: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %steps = arith.ceildivui %high, %c4 : index
  %length = arith.muli %steps, %c4 : index
  %last = arith.subi %length, %c4 : index
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %diagonal) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A window: masked at both ends.

// CHECK-LABEL: tile.program @descending_window(
// CHECK-SAME: %[[FL:[a-z0-9]+]]: index, %[[FH:[a-z0-9]+]]: index, %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: %[[END:.*]] = arith.addi %[[LOW]], %[[LENGTH:.*]] : index
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c4 : index
// CHECK: arith.subi %[[END]], %[[FH]] : index
// CHECK: %[[FIRST:.*]] = arith.minsi
// CHECK: %[[FE:.*]] = arith.minsi %{{.*}}, %[[LENGTH]] : index
// CHECK: %[[REST:.*]] = arith.subi %[[FE]], %[[FIRST]] : index
// CHECK: %[[RP:.*]] = arith.maxsi %[[REST]], %c0 : index
// CHECK: %[[DOWN:.*]] = arith.divui %[[RP]], %c4 : index
// CHECK: %[[STRETCH:.*]] = arith.muli %[[DOWN]], %c4 : index
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[STRETCH]] : index
// CHECK: %[[A:.*]] = scf.for %{{.*}} = %c4 to %[[FIRST]] step %c4
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[SECOND]] step %c4 iter_args(%{{.*}} = %[[A]])
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK: %[[C:.*]] = scf.for %{{.*}} = %[[SECOND]] to %[[LENGTH]] step %c4 iter_args(%{{.*}} = %[[B]])
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK: tile.store %[[C]],
tile.program @descending_window(%v: memref<?x?xf32>, %o: memref<?xf32>, %fl: index, %fh: index, %low: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %distance = arith.subi %high, %low : index
  %steps = arith.ceildivui %distance, %c4 : index
  %length = arith.muli %steps, %c4 : index
  %end = arith.addi %low, %length : index
  %last = arith.subi %end, %c4 : index
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%fl, %fh) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// From the first key of a window to the last one that exists, all kept: the stretch ends where the loop's steps do, at
// the window's first key, which is not known to be a key where all is kept.

// CHECK-LABEL: tile.program @descending_from(
// CHECK-SAME: %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: scf.for %{{.*}} = %c4 to %[[END:.*]] step %c4
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[END]] to %{{.*}} step %c4
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @descending_from(%v: memref<?x?xf32>, %o: memref<?xf32>, %low: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %distance = arith.subi %high, %low : index
  %steps = arith.ceildivui %distance, %c4 : index
  %length = arith.muli %steps, %c4 : index
  %end = arith.addi %low, %length : index
  %last = arith.subi %end, %c4 : index
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%low, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Where `last` is any number, nothing is known of the step before the first.

// CHECK-LABEL: tile.program @descending_from_elsewhere(
// CHECK: scf.for
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @descending_from_elsewhere(%v: memref<?x?xf32>, %o: memref<?xf32>, %last: index, %length: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A stretch that is empty from the start is no reason to cut.

// CHECK-LABEL: tile.program @descending_never_full(
// CHECK: scf.for
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @descending_never_full(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %steps = arith.ceildivui %high, %c4 : index
  %length = arith.muli %steps, %c4 : index
  %last = arith.subi %length, %c4 : index
  %r = scf.for %v0 = %c4 to %length step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %j = arith.subi %last, %v0 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Where steps come from a list, backwards, the stretch is one of places: the first `full` of the list keep everything.

// CHECK-LABEL: tile.program @listed(
// CHECK-SAME: %[[LIST:[a-z0-9]+]]: memref<?x?xi32>, %[[FULL:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: scf.for %[[P:.*]] = %c1 to %[[CUT:[^ ]*]] step %c1
// CHECK: tile.mask {{.*}} listed(
// CHECK: scf.for %{{.*}} = %[[CUT]] to %[[COUNT]] step %c1
// CHECK-NOT: tile.mask
// CHECK: tile.store
tile.program @listed(%v: memref<?x?xf32>, %o: memref<?xf32>, %list: memref<?x?xi32>, %full: index, %count: index,
                     %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %last = arith.subi %count, %c1 : index
  %r = scf.for %v0 = %c1 to %count step %c1 iter_args(%s = %zero) -> (vector<8xf32>) {
    %place = arith.subi %last, %v0 : index
    %start = memref.load %list[%tile, %place] : memref<?x?xi32>
    %j = arith.index_cast %start : i32 to index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%count, %count) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %full) listed(%place) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi sle, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%count) : vector<8xf32>, memref<?xf32>
  tile.return
}
