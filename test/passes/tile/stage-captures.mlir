// RUN: attnc-opt %s --tile-stage-captures --split-input-file | FileCheck %s

// A captured tile of 16 bits that scores read comes by the copy engine: limits are the ends of its tensor, and where one
// element may stand for all batch entries it is at 0. One whose rows lie along its last dimension is read transposed. Tiles of
// f32 and those of a mask come as before.

// CHECK-LABEL: tile.program @captured(
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x?x?xbf16>, %[[T:[a-z0-9]+]]: memref<?x?xbf16>, %[[F:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-SAME: boxes = array<i64: 0, 1, 1, 0>
// CHECK: scf.for %[[J:.*]] =
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[B]], %c1
// CHECK-DAG: %[[COLUMNS:.*]] = memref.dim %[[B]], %c2
// CHECK-DAG: %[[SIZE:.*]] = memref.dim %[[B]], %c0
// CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]], %c1
// CHECK-NEXT: %[[BATCH:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK-NEXT: %[[TILE:.*]] = tile.load %[[B]][%[[BATCH]], %c0, %[[J]]] axes [1, 2] below(%[[ROWS]], %[[COLUMNS]])
// CHECK-NEXT: %[[READ:.*]] = tile.read %[[TILE]] : vector<8x16xbf16> -> vector<8x16xbf16>
// CHECK: %[[BOX:.*]] = tile.load %[[T]][%[[J]], %c0] axes [0, 1] below(%{{.*}}, %{{.*}}) : {{.*}} -> vector<16x8xbf16>
// CHECK-NEXT: %[[TURNED:.*]] = tile.read %[[BOX]] transposed : vector<16x8xbf16> -> vector<8x16xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = tile.load %[[F]]
// CHECK-NEXT: tile.map tiles(%{{.*}}, %[[READ]], %[[TURNED]], %[[WIDE]] :
// CHECK: %[[MASK:.*]] = tile.load %[[B]]
// CHECK-NEXT: tile.mask tiles(%{{.*}}, %[[MASK]] :

// The program for other tensors is as it was.
// CHECK-LABEL: tile.program @other(
// CHECK-SAME: boxes = array<i64: 0, 1, 1, 0>
// CHECK-SAME: without_boxes
// CHECK-NOT: tile.read
// CHECK: tile.return

tile.program @captured(%B: memref<?x?x?xbf16>, %T: memref<?x?xbf16>, %F: memref<?x?xf32>, %n: index, %b: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, capture_stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  scf.for %j = %c0 to %n step %c16 {
    %t = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %u = tile.load %T[%j, %c0] axes [1, 0] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
    %f = tile.load %F[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
    %x = tile.map tiles(%zero, %t, %u, %f : vector<8x16xf32>, vector<8x16xbf16>, vector<8x16xbf16>, vector<8x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %k: bf16, %l: bf16, %m: f32, %i: index, %c: index):
      %z = arith.addf %e, %m : f32
      tile.yield %z : f32
    } -> vector<8x16xf32>
    %m = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %y = tile.mask tiles(%x, %m : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
      %zero16 = arith.constant 0.0 : bf16
      %keep = arith.cmpf ogt, %k, %zero16 : bf16
      tile.yield %keep : i1
    } -> vector<8x16xf32>
  }
  tile.return
}

tile.program @other(%B: memref<?x?x?xbf16>, %T: memref<?x?xbf16>, %F: memref<?x?xf32>, %n: index, %b: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4, without_boxes,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  scf.for %j = %c0 to %n step %c16 {
    %t = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %u = tile.load %T[%j, %c0] axes [1, 0] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
    %f = tile.load %F[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
    %x = tile.map tiles(%zero, %t, %u, %f : vector<8x16xf32>, vector<8x16xbf16>, vector<8x16xbf16>, vector<8x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %k: bf16, %l: bf16, %m: f32, %i: index, %c: index):
      %z = arith.addf %e, %m : f32
      tile.yield %z : f32
    } -> vector<8x16xf32>
    %m = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %y = tile.mask tiles(%x, %m : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
      %zero16 = arith.constant 0.0 : bf16
      %keep = arith.cmpf ogt, %k, %zero16 : bf16
      tile.yield %keep : i1
    } -> vector<8x16xf32>
  }
  tile.return
}

// -----

// Where no tile can come so, the program for other tensors is the one for all.
// CHECK-NOT: @captured
// CHECK-LABEL: tile.program @other(
// CHECK-NOT: boxes
// CHECK-SAME: {

tile.program @captured(%B: memref<?x?x?xbf16>, %T: memref<?x?xbf16>, %F: memref<?x?xf32>, %n: index, %b: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, capture_stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  scf.for %j = %c0 to %n step %c16 {
    %t = tile.load %B[%j, %b, %c0] axes [1, 0] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %u = arith.constant dense<0.0> : vector<8x16xbf16>
    %f = tile.load %F[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
    %x = tile.map tiles(%zero, %t, %u, %f : vector<8x16xf32>, vector<8x16xbf16>, vector<8x16xbf16>, vector<8x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %k: bf16, %l: bf16, %m: f32, %i: index, %c: index):
      %z = arith.addf %e, %m : f32
      tile.yield %z : f32
    } -> vector<8x16xf32>
    %m = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %y = tile.mask tiles(%x, %m : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
      %zero16 = arith.constant 0.0 : bf16
      %keep = arith.cmpf ogt, %k, %zero16 : bf16
      tile.yield %keep : i1
    } -> vector<8x16xf32>
  }
  tile.return
}

tile.program @other(%B: memref<?x?x?xbf16>, %T: memref<?x?xbf16>, %F: memref<?x?xf32>, %n: index, %b: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4, without_boxes,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  scf.for %j = %c0 to %n step %c16 {
    %t = tile.load %B[%j, %b, %c0] axes [1, 0] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %u = arith.constant dense<0.0> : vector<8x16xbf16>
    %f = tile.load %F[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
    %x = tile.map tiles(%zero, %t, %u, %f : vector<8x16xf32>, vector<8x16xbf16>, vector<8x16xbf16>, vector<8x16xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %k: bf16, %l: bf16, %m: f32, %i: index, %c: index):
      %z = arith.addf %e, %m : f32
      tile.yield %z : f32
    } -> vector<8x16xf32>
    %m = tile.load %B[%b, %c0, %j] axes [1, 2] below(%n, %n) : memref<?x?x?xbf16> -> vector<8x16xbf16>
    %y = tile.mask tiles(%x, %m : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) full(%c0, %c0) {
    ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
      %zero16 = arith.constant 0.0 : bf16
      %keep = arith.cmpf ogt, %k, %zero16 : bf16
      tile.yield %keep : i1
    } -> vector<8x16xf32>
  }
  tile.return
}

// -----

// The copy engine's boxes begin with whole units of 16 bytes along the last dimension of a tensor. Packed sequences begin at any
// row, so that a tile whose columns are theirs does not come so; one that has only its rows there does.
// CHECK-LABEL: tile.program @packed(
// CHECK-SAME: boxes = array<i64: 1, 0>
// CHECK: scf.for
// CHECK: tile.load %{{.*}} axes [0, 1] below({{.*}} -> vector<8x16xbf16>
// CHECK-NEXT: tile.read
// CHECK-NEXT: tile.load %{{.*}} axes [0, 1] below({{.*}} -> vector<8x16xbf16>
// CHECK-NEXT: tile.map

tile.program @packed(%B: memref<?x?xbf16>, %T: memref<?x?xbf16>, %offsets: memref<?xi32>, %n: index, %b: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, capture_stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  %offset = memref.load %offsets[%b] : memref<?xi32>
  %base = arith.index_cast %offset : i32 to index
  scf.for %j = %c0 to %n step %c16 {
    %row = arith.addi %base, %j : index
    %t = tile.load %T[%row, %j] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
    %u = tile.load %B[%c0, %row] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
    %x = tile.map tiles(%zero, %t, %u : vector<8x16xf32>, vector<8x16xbf16>, vector<8x16xbf16>) rows() cols() at(%c0, %j) {
    ^bb0(%e: f32, %k: bf16, %l: bf16, %i: index, %c: index):
      %z = arith.addf %e, %e : f32
      tile.yield %z : f32
    } -> vector<8x16xf32>
  }
  tile.return
}

// -----

// A tile that all iterations of a loop read is brought before it, once for both branches of a step, and read in each.
// CHECK-LABEL: tile.program @shared(
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x?xbf16>
// CHECK-SAME: boxes = array<i64: 0, 0>
// CHECK: %[[BOX:.*]] = tile.load %[[B]][%c0, %{{.*}}] axes [0, 1]
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: %[[READ:.*]] = tile.read %[[BOX]]
// CHECK-NEXT: tile.map tiles(%{{.*}}, %[[READ]] :
// CHECK: } else {
// CHECK-NEXT: %[[OTHER:.*]] = tile.read %[[BOX]]
// CHECK-NEXT: tile.map tiles(%{{.*}}, %[[OTHER]] :

// For other tensors threads load it where it is read.
// CHECK-LABEL: tile.program @shared_otherwise(
// CHECK-SAME: boxes = array<i64: 0, 0>
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: tile.load

tile.program @shared(%B: memref<?x?xbf16>, %n: index, %all: i1, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4, 
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct, capture_stages = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  %j = arith.muli %tile, %c16 : index
  %sum = scf.for %b = %c0 to %n step %c1 iter_args(%s = %zero) -> (vector<8x16xf32>) {
    %x = scf.if %all -> (vector<8x16xf32>) {
      %t = tile.load %B[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
      %y = tile.map tiles(%s, %t : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) {
      ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
        %f = arith.extf %k : bf16 to f32
        %z = arith.addf %e, %f : f32
        tile.yield %z : f32
      } -> vector<8x16xf32>
      scf.yield %y : vector<8x16xf32>
    } else {
      %t = tile.load %B[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
      %y = tile.map tiles(%s, %t : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) {
      ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
        %f = arith.extf %k : bf16 to f32
        %z = arith.subf %e, %f : f32
        tile.yield %z : f32
      } -> vector<8x16xf32>
      scf.yield %y : vector<8x16xf32>
    }
    scf.yield %x : vector<8x16xf32>
  }
  tile.return
}

tile.program @shared_otherwise(%B: memref<?x?xbf16>, %n: index, %all: i1, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4, without_boxes,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  %j = arith.muli %tile, %c16 : index
  %sum = scf.for %b = %c0 to %n step %c1 iter_args(%s = %zero) -> (vector<8x16xf32>) {
    %x = scf.if %all -> (vector<8x16xf32>) {
      %t = tile.load %B[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
      %y = tile.map tiles(%s, %t : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) {
      ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
        %f = arith.extf %k : bf16 to f32
        %z = arith.addf %e, %f : f32
        tile.yield %z : f32
      } -> vector<8x16xf32>
      scf.yield %y : vector<8x16xf32>
    } else {
      %t = tile.load %B[%c0, %j] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
      %y = tile.map tiles(%s, %t : vector<8x16xf32>, vector<8x16xbf16>) rows() cols() at(%c0, %j) {
      ^bb0(%e: f32, %k: bf16, %i: index, %c: index):
        %f = arith.extf %k : bf16 to f32
        %z = arith.subf %e, %f : f32
        tile.yield %z : f32
      } -> vector<8x16xf32>
      scf.yield %y : vector<8x16xf32>
    }
    scf.yield %x : vector<8x16xf32>
  }
  tile.return
}
