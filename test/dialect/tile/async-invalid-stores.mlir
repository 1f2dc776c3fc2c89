// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what GPUs add, one a chunk: stores through a buffer, and views in blocks.

func.func @via_rows(%t: vector<8x16xf16>, %b: !tile.shared<vector<4x16xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<4x16xf16>'}}
  tile.store %t via %b : !tile.shared<vector<4x16xf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_columns(%t: vector<8x16xf16>, %b: !tile.shared<vector<8x32xf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<8x32xf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x32xf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_element(%t: vector<8x16xf16>, %b: !tile.shared<vector<8x16xbf16>>, %v: memref<?x?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8x16xf16>', got 'vector<8x16xbf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x16xbf16>>, %v[%n, %n] axes [0, 1] below(%n, %n)
    : vector<8x16xf16>, memref<?x?xf16>
  return
}

// -----

func.func @via_of_rows(%t: vector<8xf16>, %b: !tile.shared<vector<8x16xf16>>, %v: memref<?xf16>, %n: index) {
  // expected-error@+1 {{op expected a buffer with the rows and some or all columns of 'vector<8xf16>', got 'vector<8x16xf16>'}}
  tile.store %t via %b : !tile.shared<vector<8x16xf16>>, %v[%n] axes [0] below(%n) : vector<8xf16>, memref<?xf16>
  return
}

// -----

func.func @accumulate_in_order(%t: vector<16x8xf32>, %v: memref<?x8xf32>, %n: index) {
  // expected-error@+1 {{op expected 'blocked' with 'accumulate'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) {accumulate} : vector<16x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @blocked_rows(%t: vector<24x8xf32>, %v: memref<?x8xf32>, %n: index) {
  // expected-error@+1 {{op expected f32 tiles of whole rows, in multiples of 16, of a view of two dimensions whose rows have a multiple of 8 columns, with 'blocked'; got 'vector<24x8xf32>'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) {blocked} : vector<24x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @blocked_columns(%v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{with 'blocked'; got 'vector<16x8xf32>'}}
  %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) {blocked} : memref<?x16xf32> -> vector<16x8xf32>
  return
}

// -----

// The copy engine adds what it brings in blocks.

func.func @blocked_via(%t: vector<64x16xf32>, %b: !tile.shared<vector<64x16xf32>>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected 'accumulate' with 'blocked' through a buffer}}
  tile.store %t via %b : !tile.shared<vector<64x16xf32>>, %v[%n, %n] axes [0, 1] below(%n, %n) {blocked} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @blocked_via_part(%t: vector<64x16xf32>, %b: !tile.shared<vector<64x8xf32>>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected a buffer of 'vector<64x16xf32>', all of it, got 'vector<64x8xf32>'}}
  tile.store %t via %b : !tile.shared<vector<64x8xf32>>, %v[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @deferred_alone(%t: vector<64x16xf32>, %b: !tile.shared<vector<64x16xf32>>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected 'accumulate' and a buffer with 'deferred'}}
  tile.store %t via %b : !tile.shared<vector<64x16xf32>>, %v[%n, %n] axes [0, 1] below(%n, %n) {deferred} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @deferred_without_buffer(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected 'accumulate' and a buffer with 'deferred'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked, deferred} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

// An order is of what adds.

func.func @turn_of_store(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %c: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected 'accumulate' with 'order'}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %c[%n] : memref<?xi32>) {blocked} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @counter_of_floats(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected a semaphore of i32, and an index for each dimension, got 'memref<?x16xf32>' and 2}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %v[%n, %n] : memref<?x16xf32>) {accumulate, blocked} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @counter_of_more(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %c: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected a semaphore of i32, and an index for each dimension, got 'memref<?xi32>' and 2}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %c[%n, %n] : memref<?xi32>) {accumulate, blocked} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @turn_without_counter(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected an order, the place before it and its semaphore, or none of them}}
  "tile.store"(%t, %v, %n, %n, %n, %n, %n) <{accumulate, axes = array<i64: 0, 1>, blocked, operandSegmentSizes = array<i32: 1, 0, 1, 2, 2, 1, 0, 0, 0>}> : (vector<64x16xf32>, memref<?x16xf32>, index, index, index, index, index) -> ()
  return
}

// -----

// Sums of which what lanes have stands side by side: in memory of bands, and where threads add.

func.func @interleaved_rows(%v: memref<?x8xf32>, %n: index) {
  // expected-error@+1 {{op expected 'blocked' with 'interleaved'}}
  %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) {interleaved} : memref<?x8xf32> -> vector<16x8xf32>
  return
}

// -----

func.func @interleaved_via(%t: vector<64x16xf32>, %b: !tile.shared<vector<64x16xf32>>, %v: memref<?x16xf32>, %n: index) {
  // expected-error@+1 {{op expected no buffer and no order with 'interleaved': they add what a lane has together}}
  tile.store %t via %b : !tile.shared<vector<64x16xf32>>, %v[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked, interleaved} : vector<64x16xf32>, memref<?x16xf32>
  return
}

// -----

func.func @interleaved_in_order(%t: vector<64x16xf32>, %v: memref<?x16xf32>, %c: memref<?xi32>, %n: index) {
  // expected-error@+1 {{op expected no buffer and no order with 'interleaved': they add what a lane has together}}
  tile.store %t, %v[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %c[%n] : memref<?xi32>) {accumulate, blocked, interleaved} : vector<64x16xf32>, memref<?x16xf32>
  return
}
