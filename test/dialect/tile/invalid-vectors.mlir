// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// A vector has an element for each row, or for each column, as its type says. Operations take those that they are about.

tile.program @sums_by_columns(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %sums = tile.reduce <add> %zeros, %none : vector<16x16xf32>, vector<16xf32>
  // expected-error@+1 {{op operand #1 must be variadic of column vector, but got 'vector<16xf32>'}}
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows() cols(%sums : vector<16xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<16x16xf32>
  tile.return
}

// -----

tile.program @columns_by_rows(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<1x16xf32>
  // expected-error@+1 {{op operand #1 must be variadic of row vector, but got 'vector<1x16xf32>'}}
  %m = tile.mask tiles(%zeros : vector<16x16xf32>) rows(%a : vector<1x16xf32>) cols() at(%n, %n) full(%n, %n) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %keep = arith.cmpf olt, %x, %y : f32
    tile.yield %keep : i1
  } -> vector<16x16xf32>
  tile.return
}

// -----

// What has the columns of one row is no tile.

tile.program @columns_as_tile(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<1x16xf32>
  // expected-error@+1 {{op operand #0 must be variadic of tile, but got 'vector<1x16xf32>'}}
  %r = tile.map tiles(%a : vector<1x16xf32>) rows() cols() at(%n, %n) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<1x16xf32>
  tile.return
}

// -----

tile.program @stored_columns(%v: memref<?xf32>, %o: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<1x16xf32>
  // expected-error@+1 {{op operand #0 must be tile or row vector, but got 'vector<1x16xf32>'}}
  tile.store %a, %o[%n] axes [0] below(%n) : vector<1x16xf32>, memref<?xf32>
  tile.return
}

// -----

tile.program @sums_from_columns(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %none = arith.constant dense<0.0> : vector<1x16xf32>
  // expected-error@+1 {{op operand #1 must be row vector of 32-bit float, but got 'vector<1x16xf32>'}}
  %sums = tile.reduce <add> %zeros, %none : vector<16x16xf32>, vector<1x16xf32>
  tile.return
}

// -----

// A row that a ring brought is along columns.

tile.program @row_by_rows(%t: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %t[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<2x16xf32>
  // expected-error@+1 {{op result #0 must be column vector, but got 'vector<16xf32>'}}
  %row = tile.row 1 of %a : vector<2x16xf32> -> vector<16xf32>
  tile.return
}

// -----

// Elements that rows share come for rows alone.

tile.program @group_by_columns(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  // expected-error@+1 {{op expected no group of columns, got one with 'vector<1x16xf32>'}}
  %a = tile.load %v[%n] axes [0] group [4] below(%n) : memref<?xf32> -> vector<1x16xf32>
  tile.return
}

// -----

// Columns have one axis.

tile.program @columns_of_two_axes(%t: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  // expected-error@+1 {{op expected one axis and one limit for each of the 1 dimensions of the tile, got 2 and 2}}
  %a = tile.load %t[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<1x16xf32>
  tile.return
}

// -----

// No vector of one kind becomes one of the other.

tile.program @spread_rows(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<16xf32>
  // expected-error@+1 {{'vector.broadcast' op expected scalars, not the elements of another vector, got 'vector<16xf32>'}}
  %b = vector.broadcast %a : vector<16xf32> to vector<1x16xf32>
  tile.return
}

// -----

tile.program @turned_columns(%v: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<1x16xf32>
  // expected-error@+1 {{'vector.shape_cast' op expected scalars, not the elements of another vector, got 'vector<1x16xf32>'}}
  %b = vector.shape_cast %a : vector<1x16xf32> to vector<16xf32>
  tile.return
}

// -----

// The same numbers for both, in a type each.

tile.program @loaded_for_both(%v: memref<?xf32>, %f: f32, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %zeros = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<16xf32>
  %b = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<1x16xf32>
  %every = vector.broadcast %f : f32 to vector<16xf32>
  %each = vector.broadcast %f : f32 to vector<1x16xf32>
  %rows = arith.addf %a, %every : vector<16xf32>
  %columns = arith.mulf %b, %each : vector<1x16xf32>
  %r = tile.map tiles(%zeros : vector<16x16xf32>) rows(%rows : vector<16xf32>) cols(%columns : vector<1x16xf32>) at(%n, %n) {
  ^bb0(%x: f32, %y: f32, %z: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<16x16xf32>
  tile.return
}
