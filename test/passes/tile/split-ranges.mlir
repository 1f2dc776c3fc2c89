// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-split-ranges),canonicalize,cse)" -split-input-file \
// RUN:   -verify-diagnostics | FileCheck %s

// A loop whose mask says where it keeps everything becomes masked, full and masked stretches over one state.

// From 0: there is no first stretch, as with a causal mask.

// CHECK-LABEL: tile.program @from_the_start(
// CHECK-SAME: %[[FULL:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: %[[END:.*]] = arith.minsi %[[FULL]], %[[HIGH]] : index
// CHECK: %[[LIVE:.*]] = arith.maxsi %[[END]], %c0 : index
// CHECK: %[[STEPS:.*]] = arith.divui %[[LIVE]], %c4 : index
// CHECK: %[[LAST:.*]] = arith.muli %[[STEPS]], %c4 : index
// CHECK: %[[A:.*]] = scf.for %[[J:.*]] = %c0 to %[[LAST]] step %c4 iter_args(%[[S:.*]] = %{{.*}}) -> (vector<8xf32>) {
// CHECK-NOT: tile.mask
// CHECK: tile.reduce <add> %{{.*}}, %[[S]]
// CHECK: scf.yield
// CHECK: %[[B:.*]] = scf.for %[[J:.*]] = %[[LAST]] to %[[HIGH]] step %c4 iter_args(%[[S:.*]] = %[[A]]) -> (vector<8xf32>) {
// CHECK: %[[M:.*]] = tile.mask tiles(%{{.*}} : vector<8x4xf32>) rows() cols() at(%c0, %[[J]]) full(%c0, %[[FULL]])
// CHECK: tile.reduce <add> %[[M]], %[[S]]
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.store %[[B]],
tile.program @from_the_start(%v: memref<?x?xf32>, %o: memref<?xf32>, %full: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %full) {
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

// From anywhere to anywhere, as with a window. The first full tile starts where a tile of the loop starts.

// CHECK-LABEL: tile.program @window(
// CHECK-SAME: %[[LOW:[a-z0-9]+]]: index, %[[FL:[a-z0-9]+]]: index, %[[FH:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index)
// CHECK: %[[D:.*]] = arith.subi %[[FL]], %[[LOW]] : index
// CHECK: %[[DP:.*]] = arith.maxsi %[[D]], %c0 : index
// CHECK: %[[UP:.*]] = arith.ceildivui %[[DP]], %c4 : index
// CHECK: %[[SKIP:.*]] = arith.muli %[[UP]], %c4 : index
// CHECK-DAG: %[[ON:.*]] = arith.addi %[[LOW]], %[[SKIP]] : index
// CHECK-DAG: %[[MOST:.*]] = arith.maxsi %[[LOW]], %[[HIGH]] : index
// CHECK: %[[FIRST:.*]] = arith.minsi %[[ON]], %[[MOST]] : index
// CHECK: %[[END:.*]] = arith.minsi %[[FH]], %[[HIGH]] : index
// CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[FIRST]] : index
// CHECK: %[[LP:.*]] = arith.maxsi %[[LENGTH]], %c0 : index
// CHECK: %[[DOWN:.*]] = arith.divui %[[LP]], %c4 : index
// CHECK: %[[STRETCH:.*]] = arith.muli %[[DOWN]], %c4 : index
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %[[STRETCH]] : index
// CHECK: %[[A:.*]] = scf.for %{{.*}} = %[[LOW]] to %[[FIRST]] step %c4
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c4 iter_args(%{{.*}} = %[[A]])
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK: %[[C:.*]] = scf.for %{{.*}} = %[[LAST]] to %[[HIGH]] step %c4 iter_args(%{{.*}} = %[[B]])
// CHECK: tile.mask
// CHECK: scf.yield
// CHECK: tile.store %[[C]],
tile.program @window(%v: memref<?x?xf32>, %o: memref<?xf32>, %low: index, %fl: index, %fh: index, %high: index,
                     %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %low to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
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

// Static lengths that are whole tiles: nothing is left to mask.

// CHECK-LABEL: tile.program @whole(
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @whole(%v: memref<8x16xf32>, %o: memref<8xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %c16 step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%c8, %c16) : memref<8x16xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %c16) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %c16 : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%c8) : vector<8xf32>, memref<8xf32>
  tile.return
}

// -----

// Static lengths that end in part of a tile: that one alone is masked.

// CHECK-LABEL: tile.program @part(
// CHECK: %[[A:.*]] = scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.mask {{.*}} at(%c0, %c16)
// CHECK: tile.reduce <add> %{{.*}}, %[[A]]
// CHECK: tile.store
tile.program @part(%v: memref<8x18xf32>, %o: memref<8xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c18 = arith.constant 18 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %c18 step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%c8, %c18) : memref<8x18xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %c18) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %c18 : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%c8) : vector<8xf32>, memref<8xf32>
  tile.return
}

// -----

// full(0, 0) says that nothing is known; so does a loop without masks. Neither is cut.

// CHECK-LABEL: tile.program @unknown(
// CHECK: scf.for
// CHECK: tile.mask {{.*}} full(%c0, %c0)
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-NOT: tile.mask
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @unknown(%v: memref<?x?xf32>, %o: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %high : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  %p = scf.for %j = %c0 to %high step %c4 iter_args(%s = %r) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %n = tile.reduce <max> %t, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %p, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Two masks that do not agree are left alone, and a remark says so.

// CHECK-LABEL: tile.program @disagreement(
// CHECK: scf.for
// CHECK-COUNT-2: tile.mask
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @disagreement(%v: memref<?x?xf32>, %o: memref<?xf32>, %full: index, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-note @+1 {{another mask is here}}
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %full) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    // expected-remark @+1 {{the loop is not cut into masked and full stretches: its masks keep all in different steps}}
    %l = tile.mask tiles(%m : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %high : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %l, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// Nor is a loop cut whose columns do not follow its steps,

// CHECK-LABEL: tile.program @elsewhere(
// CHECK: scf.for
// CHECK: tile.mask
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @elsewhere(%v: memref<?x?xf32>, %o: memref<?xf32>, %list: memref<?xi32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %at = arith.muli %j, %c2 : index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{the loop is not cut into masked and full stretches: the columns of its mask do not follow its steps}}
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %at) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// or where only a step tells what is full in it.

// CHECK-LABEL: tile.program @told_by_steps(
// CHECK: scf.for
// CHECK: tile.mask
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @told_by_steps(%v: memref<?x?xf32>, %o: memref<?xf32>, %list: memref<?xi32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %e = memref.load %list[%j] : memref<?xi32>
    %end = arith.index_cast %e : i32 to index
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    // expected-remark @+1 {{the loop is not cut into masked and full stretches: where its mask keeps all is not known before it}}
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %j) full(%c0, %end) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}

// -----

// A mask of the same columns in all steps has no stretches, which is no news.

// CHECK-LABEL: tile.program @same_columns(
// CHECK: scf.for
// CHECK: tile.mask
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.program @same_columns(%v: memref<?x?xf32>, %o: memref<?xf32>, %list: memref<?xi32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %r = scf.for %j = %c0 to %high step %c4 iter_args(%s = %zero) -> (vector<8xf32>) {
    %t = tile.load %v[%c0, %j] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x4xf32>
    %m = tile.mask tiles(%t : vector<8x4xf32>) rows() cols() at(%c0, %c4) full(%c0, %high) {
    ^bb0(%x: f32, %i: index, %k: index):
      %keep = arith.cmpi slt, %k, %i : index
      tile.yield %keep : i1
    } -> vector<8x4xf32>
    %n = tile.reduce <add> %m, %s : vector<8x4xf32>, vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  tile.store %r, %o[%c0] axes [0] below(%high) : vector<8xf32>, memref<?xf32>
  tile.return
}
