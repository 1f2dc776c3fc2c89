// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// A vector has an element for each row, or for each column: the operations that make it or read it say which, also those
// of what it is computed from, and of what loops and branches make of it. It cannot be both.

tile.program @sums_by_columns(%o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %none = arith.constant dense<0.0> : vector<16xf32>
  // expected-note@+1 {{here it is a vector of rows}}
  %sums = tile.reduce <add> %zeros, %none : vector<16x16xf32>, vector<16xf32>
  // expected-error@+1 {{op has an element for each column of a vector that elsewhere has one for each row}}
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows() cols(%sums : vector<16xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %e = arith.addf %x, %y : f32
    tile.yield %e : f32
  } -> vector<16x16xf32>
  tile.return
}

// -----

// Through arithmetic, from what is made of a vector to what another is made from.

tile.program @product_of_both(%v: memref<?xf32>, %o: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<16xf32>
  %twice = arith.addf %a, %a : vector<16xf32>
  %root = math.sqrt %twice : vector<16xf32>
  %square = arith.mulf %twice, %twice : vector<16xf32>
  // expected-error@+1 {{op has an element for each column of a vector that elsewhere has one for each row}}
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows() cols(%root : vector<16xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %e = arith.addf %x, %y : f32
    tile.yield %e : f32
  } -> vector<16x16xf32>
  // expected-note@+1 {{here it is a vector of rows}}
  tile.store %square, %o[%n] axes [0] below(%n) : vector<16xf32>, memref<?xf32>
  tile.return
}

// -----

// Around the edges of a loop and out of a branch.

tile.program @carried(%v: memref<?xf32>, %o: memref<?xf32>, %c: i1, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<16xf32>
  %last = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (vector<16xf32>) {
    %y = scf.if %c -> vector<16xf32> {
      %more = arith.addf %x, %x : vector<16xf32>
      scf.yield %more : vector<16xf32>
    } else {
      scf.yield %a : vector<16xf32>
    }
    // expected-error@+1 {{op has an element for each column of a vector that elsewhere has one for each row}}
    %m = tile.mask tiles(%zeros : vector<16x16xf32>) rows() cols(%y : vector<16xf32>) at(%n, %n) full(%n, %n) {
    ^bb0(%e: f32, %f: f32, %p: index, %q: index):
      %keep = arith.cmpf olt, %e, %f : f32
      tile.yield %keep : i1
    } -> vector<16x16xf32>
    scf.yield %y : vector<16xf32>
  }
  // expected-note@+1 {{here it is a vector of rows}}
  tile.store %last, %o[%n] axes [0] below(%n) : vector<16xf32>, memref<?xf32>
  tile.return
}

// -----

// A row that a ring brought is along columns.

tile.program @row_by_rows(%t: memref<?x?xf32>, %o: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %t[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<2x16xf32>
  // expected-error@+1 {{op has an element for each column of a vector that elsewhere has one for each row}}
  %row = tile.row 1 of %a : vector<2x16xf32> -> vector<16xf32>
  // expected-note@+1 {{here it is a vector of rows}}
  tile.store %row, %o[%n] axes [0] below(%n) : vector<16xf32>, memref<?xf32>
  tile.return
}

// -----

// Elements that rows share come for rows alone.

tile.program @group_by_columns(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  // expected-note@+1 {{here it is a vector of rows}}
  %a = tile.load %v[%n] axes [0] group [4] below(%n) : memref<?xf32> -> vector<16xf32>
  // expected-error@+1 {{op has an element for each column of a vector that elsewhere has one for each row}}
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows() cols(%a : vector<16xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %e = arith.addf %x, %y : f32
    tile.yield %e : f32
  } -> vector<16x16xf32>
  tile.return
}

// -----

// What comes of no other vector may be both: each use has its own.

tile.program @loaded_for_both(%v: memref<?xf32>, %f: f32, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %two = arith.constant dense<2.0> : vector<16xf32>
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<16xf32>
  %all = vector.broadcast %f : f32 to vector<16xf32>
  %places = vector.step : vector<16xindex>
  %sum = arith.addf %a, %two : vector<16xf32>
  %rows = arith.addf %sum, %all : vector<16xf32>
  %product = arith.mulf %a, %two : vector<16xf32>
  %columns = arith.mulf %product, %all : vector<16xf32>
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows(%rows, %a, %two, %places : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xindex>)
      cols(%columns, %a, %two, %places : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xindex>) at(%n, %n) {
  ^bb0(%x: f32, %r0: f32, %r1: f32, %r2: f32, %r3: index, %c0: f32, %c1: f32, %c2: f32, %c3: index, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<16x16xf32>
  tile.return
}
