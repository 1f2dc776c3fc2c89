// RUN: attnc-opt %s --tile-to-cpu --canonicalize --cse -split-input-file | FileCheck %s

// Two panels of 8 rows, 8 columns. A map with one use has no buffer of its own: there are two buffers of 8 x 8 f32, for
// what is loaded and what is stored, and the four columns of a block go through both maps in registers. What is loaded and
// stored is turned in square blocks.

// CHECK-LABEL: llvm.func @deferred_entry(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}) attributes {attn.scratch_bytes = 512 : i64}
// CHECK-COUNT-2: memref.view {{.*}} to memref<8x8xf32>
// CHECK-NOT: memref.view
// Panels without queries are not computed.
// CHECK: %[[PANELS:.*]] = arith.ceildivui %[[LIVE:.*]], %c8 : index
// CHECK: scf.for %[[PANEL:.*]] = %c0 to %[[PANELS]] step %c1 {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c8 step %c4 {
// CHECK: %[[X:.*]] = vector.load %[[IN:[a-z0-9_]+]][%[[COLUMN]], %c0] : memref<8x8xf32>, vector<8xf32>
// CHECK-COUNT-3: vector.load %[[IN]]
// CHECK-NOT: vector.store
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]] : vector<8xf32>
// CHECK-NOT: vector.store
// CHECK: %[[Z:.*]] = arith.mulf %[[Y]], %[[Y]] : vector<8xf32>
// CHECK: vector.store %[[Z]], %[[OUT:[a-z0-9_]+]][%[[COLUMN]], %c0]
// CHECK-COUNT-3: vector.store %{{.*}}, %[[OUT]]
// CHECK-NOT: vector.store {{.*}}vector<8xf32>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @deferred(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x8xf32>
  %a = tile.map tiles(%t : vector<16x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.addf %x, %x : f32
    tile.yield %y : f32
  } -> vector<16x8xf32>
  %b = tile.map tiles(%a : vector<16x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.mulf %x, %x : f32
    tile.yield %y : f32
  } -> vector<16x8xf32>
  tile.store %b, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// The same on a machine with 32 registers of 16 lanes: eight columns a block.

// CHECK-LABEL: llvm.func @wide_entry(
// CHECK-SAME: attn.scratch_bytes = 1024 : i64
// CHECK: vector.load %{{.*}} : memref<8x16xf32>, vector<16xf32>
// CHECK-COUNT-8: arith.addf %{{.*}} : vector<16xf32>
// CHECK-NOT: arith.addf
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver4", features = "+avx512f", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576>} {
tile.program @wide(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %c0 = arith.constant 0 : index
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x8xf32>
  %a = tile.map tiles(%t : vector<16x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.addf %x, %x : f32
    tile.yield %y : f32
  } -> vector<16x8xf32>
  tile.store %a, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// A reduction goes along with the map that it reads, in its loop; the map's tile is never stored.

// CHECK-LABEL: llvm.func @fused_entry(
// CHECK: %[[R:.*]] = scf.for %{{.*}} = %c0 to %c8 step %c4 iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<8xf32>) {
// CHECK-COUNT-4: arith.mulf %{{.*}} : vector<8xf32>
// CHECK-NOT: vector.store
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<8xf32>
// CHECK-NOT: vector.store
// CHECK: scf.yield %{{.*}} : vector<8xf32>
// CHECK: vector.store %[[R]],
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @fused(%v: memref<?x?xf32>, %o: memref<?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %a = tile.map tiles(%t : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.mulf %x, %x : f32
    tile.yield %y : f32
  } -> vector<8x8xf32>
  %s = tile.reduce <add> %a, %zero : vector<8x8xf32>, vector<8xf32>
  tile.store %s, %o[%c0] axes [0] below(%n) : vector<8xf32>, memref<?xf32>
  tile.return
}
}

// -----

// An index has 32 bits in a lane; what needs more is i64 by then.

// CHECK-LABEL: llvm.func @narrow_entry(
// CHECK: arith.cmpi sle, %{{.*}} : vector<8xi32>
// CHECK-NOT: vector<8xi64>
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @not_narrow_entry(
// CHECK: arith.muli %{{.*}} : vector<8xi64>
// CHECK: arith.cmpi sle, %{{.*}} : vector<8xi64>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @narrow(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %a = tile.mask tiles(%t : vector<8x8xf32>) rows() cols() at(%n, %c0) full(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.cmpi sle, %k, %i : index
    tile.yield %y : i1
  } -> vector<8x8xf32>
  tile.store %a, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
tile.program @not_narrow(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : i64
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %a = tile.mask tiles(%t : vector<8x8xf32>) rows() cols() at(%n, %c0) full(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %i64 = arith.index_cast %i : index to i64
    %k64 = arith.index_cast %k : index to i64
    %m = arith.muli %i64, %c9 : i64
    %y = arith.cmpi sle, %k64, %m : i64
    tile.yield %y : i1
  } -> vector<8x8xf32>
  tile.store %a, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// Where there are several panels, keys are staged in f32, four side by side as a product takes them, and each four a cache
// line from the next: bf16 is widened on the way, in square blocks, and the first line of rows a tile further on is asked for. Products are fused, on
// the sums of four columns.

// CHECK-LABEL: llvm.func @staged_entry(
// CHECK: memref.view {{.*}} to memref<2x20x4xf32>
// CHECK-COUNT-4: memref.prefetch %{{.*}}, read, locality<2>
// CHECK-COUNT-4: vector.load %{{.*}} : memref<?x?xbf16>, vector<4xbf16>
// CHECK-COUNT-8: vector.shuffle
// CHECK-COUNT-4: vector.store %{{.*}} : memref<2x20x4xf32>, vector<4xf32>
// What is left of the last rows goes element by element, and rows past it are 0.
// CHECK: memref.store %{{.*}} : memref<2x20x4xf32>
// CHECK: memref.store %cst{{.*}} : memref<2x20x4xf32>
// CHECK: memref.load %{{.*}} : memref<2x20x4xf32>
// CHECK: vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @staged(%q: memref<?x?xbf16>, %k: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16x8xf32>
  tile.live_rows %n
  %a = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  %b = tile.load %k[%c0, %c0] axes [0, 1] below(%n, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %s = tile.mma %a, %b, %zero transposed : vector<16x16xbf16>, vector<8x16xbf16>, vector<16x8xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// One register of rows takes keys as they lie, which a product reads down their rows: packing would take longer than it.

// CHECK-LABEL: llvm.func @rows_entry(
// CHECK: memref.view {{.*}} to memref<8x16xf32>
// CHECK: memref.prefetch
// CHECK-NOT: vector.shuffle
// CHECK: vector.load %{{.*}} : memref<?x?xbf16>, vector<16xbf16>
// CHECK: vector.store %{{.*}} : memref<8x16xf32>, vector<16xf32>
// CHECK: memref.load %{{.*}}[%[[KEY:.*]], %[[STEP:.*]]] : memref<8x16xf32>
// CHECK: vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @rows(%q: memref<?x?xbf16>, %k: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  tile.live_rows %n
  %a = tile.load %q[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<8x16xbf16>
  %b = tile.load %k[%c0, %c0] axes [0, 1] below(%n, %c16) : memref<?x?xbf16> -> vector<8x16xbf16>
  %s = tile.mma %a, %b, %zero transposed : vector<8x16xbf16>, vector<8x16xbf16>, vector<8x8xf32>
  tile.store %s, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// That exponents are not positive is known of vectors as it is of elements.

// CHECK-LABEL: llvm.func @softmax_entry(
// CHECK: math.exp %{{.*}} {tile.nonpositive} : vector<8xf32>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @softmax(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %c0 = arith.constant 0 : index
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x8xf32>
  %p = tile.map tiles(%t : vector<8x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %f = math.exp %x {tile.nonpositive} : f32
    tile.yield %f : f32
  } -> vector<8x8xf32>
  tile.store %p, %o[%c0, %c0] axes [0, 1] below(%n, %n) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}
}

// -----

// Elements that are added at places of their own: one by one, atomically, but for those that are 0.

// CHECK-LABEL: llvm.func @scatter_entry(
// CHECK: arith.fptosi
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c8 step %c1 {
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c8 step %c1 {
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[COLUMN]], %[[ROW]]] : memref<8x8xf32>
// CHECK: %[[ADDS:.*]] = arith.cmpf une, %[[X]], %{{.*}} : f32
// CHECK: scf.if %[[ADDS]] {
// CHECK: %[[WORD:.*]] = memref.load %{{.*}}[%[[COLUMN]], %[[ROW]]] : memref<8x8xi32>
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[WORD]] : i32 to index
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[PLACE]] : index
// CHECK: memref.atomic_rmw addf %[[X]], %{{.*}}[%{{.*}}, %[[AT]]] : (f32, memref<?x?xf32>) -> f32
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @scatter(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  tile.live_rows %n
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x8xf32>
  %p = tile.map tiles(%t : vector<16x8xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %k: index):
    %y = arith.fptosi %x : f32 to i32
    tile.yield %y : i32
  } -> vector<16x8xi32>
  tile.scatter %t, %o[%n, %n] at(%p : vector<16x8xi32>) axes [1] : vector<16x8xf32>, memref<?x?xf32>
  tile.return
}
}
