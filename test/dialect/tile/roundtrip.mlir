// RUN: attnc-opt %s | attnc-opt | FileCheck %s
// RUN: attnc-opt %s --mlir-print-op-generic | attnc-opt | FileCheck %s
// RUN: attnc-opt %s > %t.text
// RUN: attnc-opt %s --emit-bytecode -o %t.bc
// RUN: attnc-opt %t.bc > %t.back
// RUN: diff %t.text %t.back

// Every operation, as the custom syntax prints it after one more reading; then the same through bytecode.

// CHECK-DAG: #[[$ONE:.*]] = affine_map<() -> (1)>
// CHECK-DAG: #[[$TILES:.*]] = affine_map<()[s0, s1] -> ((s0 ceildiv 16) * s1)>

// CHECK-LABEL: tile.program @smallest(%arg0: index)
// CHECK-SAME: attributes {grid = #[[$ONE]], grid_sizes = array<i64>, panel = 8 : i64, rows = 8 : i64} {
// CHECK-NEXT: tile.return
// CHECK-NEXT: }
tile.program @smallest(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// Two sizes of arguments name the grid; arguments keep their attributes.

// CHECK-LABEL: tile.program @grid(
// CHECK-SAME: %arg0: memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> {attn.name = "q"}, %arg1: f32, %arg2: index)
// CHECK-SAME: grid = #[[$TILES]]
// CHECK-SAME: grid_sizes = array<i64: 0, 1, 0, 0>
// CHECK-SAME: panel = 8 : i64, rows = 16 : i64
tile.program @grid(%q: memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> {attn.name = "q"}, %scale: f32, %tile: index)
    attributes {grid = affine_map<()[s0, s1] -> (s0 ceildiv 16 * s1)>, grid_sizes = array<i64: 0, 1, 0, 0>, rows = 16,
                panel = 8} {
  tile.return
}

// Only for launches of some sizes.

// CHECK-LABEL: tile.program @short(
// CHECK-SAME: launch_sizes = #{{[a-z0-9]+}}, panel = 8 : i64, rows = 16 : i64, unless = [#attn.sizes<queries = to 99, keys = from 512>], when = #attn.sizes<queries = to 1535>
tile.program @short(%q: memref<?x?x4x16xbf16>, %tile: index)
    attributes {grid = affine_map<()[s0, s1] -> (s0 ceildiv 16 * s1)>, grid_sizes = array<i64: 0, 1, 0, 0>, rows = 16,
                panel = 8, when = #attn.sizes<queries = to 1535>,
                unless = [#attn.sizes<queries = to 99, keys = from 512>],
                launch_sizes = affine_map<()[s0, s1] -> (s0, s0 * 2, s1, 4, s1 * 4)>} {
  tile.return
}

// CHECK-LABEL: tile.program @memory(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>, %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32>, %[[IDS:[a-z0-9]+]]: memref<?x?xi32>, %[[BITS:[a-z0-9]+]]: memref<?x?xi1>, %[[N:[a-z0-9]+]]: index
tile.program @memory(%q: memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>, %lse: memref<?x4x?xf32>, %ids: memref<?x?xi32>,
                     %bits: memref<?x?xi1>, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 1, 2>, rows = 8, panel = 8} {
  // CHECK: tile.live_rows %[[N]]
  tile.live_rows %n
  // CHECK: %[[TILE:.*]] = tile.load %[[Q]][%[[N]], %[[N]], %[[N]], %[[N]]] axes [1, 3] below(%[[N]], %[[N]]) : memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> -> vector<8x16xbf16>
  %t = tile.load %q[%n, %n, %n, %n] axes [1, 3] below(%n, %n)
    : memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> -> vector<8x16xbf16>
  // CHECK: %[[ROW:.*]] = tile.load %[[LSE]][%[[N]], %[[N]], %[[N]]] axes [2] below(%[[N]]) : memref<?x4x?xf32> -> vector<8xf32>
  %r = tile.load %lse[%n, %n, %n] axes [2] below(%n) : memref<?x4x?xf32> -> vector<8xf32>
  // CHECK: tile.store %[[TILE]], %[[Q]][%[[N]], %[[N]], %[[N]], %[[N]]] axes [1, 3] below(%[[N]], %[[N]]) : vector<8x16xbf16>, memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>
  tile.store %t, %q[%n, %n, %n, %n] axes [1, 3] below(%n, %n)
    : vector<8x16xbf16>, memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>
  // CHECK: tile.store %[[ROW]], %[[LSE]][%[[N]], %[[N]], %[[N]]] axes [2] below(%[[N]]) {note = "kept"} : vector<8xf32>, memref<?x4x?xf32>
  tile.store %r, %lse[%n, %n, %n] axes [2] below(%n) {note = "kept"} : vector<8xf32>, memref<?x4x?xf32>
  // Rows that share an index, alone or along a dimension of their own.
  // CHECK: %[[GROUP:.*]] = tile.load %[[Q]][%[[N]], %[[N]], %[[N]], %[[N]]] axes [1, 3] group [4, 2] below(%[[N]], %[[N]]) : memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> -> vector<8x16xbf16>
  %g = tile.load %q[%n, %n, %n, %n] axes [1, 3] group [4, 2] below(%n, %n)
    : memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>> -> vector<8x16xbf16>
  // CHECK: tile.load %[[IDS]][%[[N]], %[[N]]] axes [1] group [4] below(%[[N]]) : memref<?x?xi32> -> vector<8xi32>
  %shared = tile.load %ids[%n, %n] axes [1] group [4] below(%n) : memref<?x?xi32> -> vector<8xi32>
  // CHECK: tile.store %[[GROUP]], %[[Q]][%[[N]], %[[N]], %[[N]], %[[N]]] axes [1, 3] group [4, 2] below(%[[N]], %[[N]]) : vector<8x16xbf16>
  tile.store %g, %q[%n, %n, %n, %n] axes [1, 3] group [4, 2] below(%n, %n)
    : vector<8x16xbf16>, memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>
  // CHECK: tile.min_max %[[IDS]][%[[N]], %[[N]]] to [%[[N]], %[[N]]] : memref<?x?xi32> -> i32, i32
  %lo, %hi = tile.min_max %ids[%n, %n] to [%n, %n] : memref<?x?xi32> -> i32, i32
  // CHECK: tile.min_max %[[BITS]][%[[N]], %[[N]]] to [%[[N]], %[[N]]] : memref<?x?xi1> -> i1, i1
  %all, %some = tile.min_max %bits[%n, %n] to [%n, %n] : memref<?x?xi1> -> i1, i1
  tile.return
}

// CHECK-LABEL: tile.program @values(
// CHECK-SAME: %[[F:[a-z0-9]+]]: memref<?x?xf32>, %[[N:[a-z0-9]+]]: index
tile.program @values(%f: memref<?x?xf32>, %n: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  %a = tile.load %f[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<8x16xf32>
  %b = tile.load %f[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<4x16xf32>
  %c = tile.load %f[%n, %n] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x24xf32>
  %row = tile.load %f[%n, %n] axes [0] below(%n) : memref<?x?xf32> -> vector<8xf32>
  %col = tile.load %f[%n, %n] axes [1] below(%n) : memref<?x?xf32> -> vector<1x4xf32>
  %zero = arith.constant dense<0.0> : vector<8x4xf32>
  %acc = arith.constant dense<0.0> : vector<8x24xf32>
  // CHECK: %[[S:.*]] = tile.mma %{{.*}}, %{{.*}}, %{{.*}} transposed : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  %s = tile.mma %a, %b, %zero transposed : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  // CHECK: tile.mma %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : vector<8x16xf32>, vector<16x24xf32>, vector<8x24xf32>
  %o = tile.mma %a, %c, %acc : vector<8x16xf32>, vector<16x24xf32>, vector<8x24xf32>
  // CHECK: tile.mma %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} transposed tf32 : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  %narrow = tile.mma %a, %b, %zero transposed tf32 : vector<8x16xf32>, vector<4x16xf32>, vector<8x4xf32>
  // CHECK: %[[M:.*]]:2 = tile.map tiles(%[[S]] : vector<8x4xf32>) rows(%[[ROW:.*]] : vector<8xf32>) cols(%[[COL:.*]] : vector<1x4xf32>) at(%[[N]], %[[N]]) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[R:.*]]: f32, %[[C:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[R]] : f32
  // CHECK-NEXT: %[[Z:.*]] = arith.truncf %[[Y]] : f32 to bf16
  // CHECK-NEXT: tile.yield %[[Y]], %[[Z]] : f32, bf16
  // CHECK-NEXT: } -> (vector<8x4xf32>, vector<8x4xbf16>)
  %m:2 = tile.map tiles(%s : vector<8x4xf32>) rows(%row : vector<8xf32>) cols(%col : vector<1x4xf32>) at(%n, %n) {
  ^bb0(%x: f32, %r: f32, %k: f32, %i: index, %j: index):
    %y = arith.addf %x, %r : f32
    %z = arith.truncf %y : f32 to bf16
    tile.yield %y, %z : f32, bf16
  } -> (vector<8x4xf32>, vector<8x4xbf16>)
  // CHECK: tile.map tiles(%[[S]] : vector<8x4xf32>) rows(%[[ROW]] : vector<8xf32>) cols() at(%[[N]], %[[N]]) {
  // CHECK: } {scales_rows} -> vector<8x4xf32>
  %scaled = tile.map tiles(%s : vector<8x4xf32>) rows(%row : vector<8xf32>) cols() at(%n, %n) {
  ^bb0(%x: f32, %r: f32, %i: index, %j: index):
    %y = arith.mulf %r, %x : f32
    tile.yield %y : f32
  } {scales_rows} -> vector<8x4xf32>
  // Empty groups are printed too.
  // CHECK: tile.map tiles() rows() cols() at(%[[N]], %[[N]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index):
  // CHECK: } {note = "kept"} -> vector<8x4xi1>
  %e = tile.map tiles() rows() cols() at(%n, %n) {
  ^bb0(%i: index, %j: index):
    %lt = arith.cmpi slt, %i, %j : index
    tile.yield %lt : i1
  } {note = "kept"} -> vector<8x4xi1>
  // A group of one row is none.
  // CHECK: tile.map tiles() rows() cols() at(%[[N]], %[[N]]) {
  // CHECK: } {group = 4 : i64} -> vector<8x4xindex>
  %rows = tile.map tiles() rows() cols() at(%n, %n) {
  ^bb0(%i: index, %j: index):
    tile.yield %i : index
  } {group = 4 : i64} -> vector<8x4xindex>
  // CHECK: tile.map tiles() rows() cols() at(%[[N]], %[[N]]) {
  // CHECK: } -> vector<8x4xindex>
  %alone = tile.map tiles() rows() cols() at(%n, %n) {
  ^bb0(%i: index, %j: index):
    tile.yield %i : index
  } {group = 1 : i64} -> vector<8x4xindex>
  // CHECK: %[[K:.*]] = tile.mask tiles(%[[M]]#0, %{{.*}} : vector<8x4xf32>, vector<8x4xi1>) rows() cols() at(%[[N]], %[[N]]) full(%[[N]], %[[N]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[KEEP:.*]]: i1, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT: tile.yield %[[KEEP]] : i1
  // CHECK-NEXT: } -> vector<8x4xf32>
  %k = tile.mask tiles(%m#0, %e : vector<8x4xf32>, vector<8x4xi1>) rows() cols() at(%n, %n) full(%n, %n) {
  ^bb0(%x: f32, %keep: i1, %i: index, %j: index):
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  // CHECK: %[[MAX:.*]] = tile.reduce <max> %[[K]], %[[ROW]] : vector<8x4xf32>, vector<8xf32>
  %max = tile.reduce <max> %k, %row : vector<8x4xf32>, vector<8xf32>
  // CHECK: tile.reduce <add> %[[K]], %[[MAX]] : vector<8x4xf32>, vector<8xf32>
  %sum = tile.reduce <add> %k, %max : vector<8x4xf32>, vector<8xf32>
  tile.return
}

// CHECK-LABEL: tile.program @block_mask(
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: memref<?xi32>, %[[LIST:[a-z0-9]+]]: memref<?x?xi32, strided<[?, 1]>>, %[[TILE:[a-z0-9]+]]: index)
// CHECK-SAME: workspaces = [#tile.workspace<"steps", ()[s0] -> (s0, s0 * 2 + 3)>]
tile.program @block_mask(%ids: memref<?xi32>, %list: memref<?x?xi32, strided<[?, 1]>>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"steps", ()[s0] -> (s0, s0 * 2 + 3)>]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: tile.block_mask %[[LIST]][%[[TILE]]] from %c0 to %{{.*}} step %c4 {
  // CHECK-NEXT: ^bb0(%[[J:.*]]: index):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : i1, i1
  // CHECK-NEXT: } : memref<?x?xi32, strided<[?, 1]>>
  tile.block_mask %list[%tile] from %c0 to %n step %c4 {
  ^bb0(%j: index):
    %lo, %hi = tile.min_max %ids[%j] to [%j] : memref<?xi32> -> i32, i32
    %some = arith.cmpi sge, %hi, %lo : i32
    %all = arith.cmpi eq, %hi, %lo : i32
    tile.yield %some, %all : i1, i1
  } : memref<?x?xi32, strided<[?, 1]>>
  %s = arith.constant dense<0.0> : vector<8x4xf32>
  // CHECK: tile.mask {{.*}} full(%c0, %c4) listed(%[[TILE]]) {
  %m = tile.mask tiles(%s : vector<8x4xf32>) rows() cols() at(%c0, %c0) full(%c0, %c4) listed(%tile) {
  ^bb0(%x: f32, %i: index, %j: index):
    %keep = arith.cmpi sle, %j, %i : index
    tile.yield %keep : i1
  } -> vector<8x4xf32>
  tile.return
}

// The online softmax: a step, one with dropout, and the end.
// CHECK-LABEL: func @softmax(
func.func @softmax(%s: vector<16x8xf32>, %m: vector<16xf32>, %l: vector<16xf32>, %i: index, %padding: vector<16xi1>, %seed: i64,
                   %least: i32) {
  // CHECK: tile.softmax %{{.*}}, %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) {headroom = 40 : i64, octaves, scale = 2.500000e-01 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  %m1, %l1, %p1, %r1 = tile.softmax %s, %m, %l at(%i, %i) {headroom = 40 : i64, octaves, scale = 0.25 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  // CHECK: tile.philox %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : vector<16x8xi16>
  %numbers = tile.philox %seed at(%i, %i, %i, %i) : vector<16x8xi16>
  // CHECK: tile.philox %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) transposed again : vector<8x16xi16>
  %turned = tile.philox %seed at(%i, %i, %i, %i) transposed again : vector<8x16xi16>
  // CHECK: tile.softmax {{.*}} own %{{.*}} : vector<16xf32> renewed %{{.*}} : vector<16xi1> numbers %{{.*}} : vector<16x8xi16> dropped below %{{.*}} {rescale_on_growth, scale = 1.000000e+00 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xf32>
  %m2, %l2, %p2, %r2 = tile.softmax %s, %m1, %l1 at(%i, %i) own %m : vector<16xf32> renewed %padding : vector<16xi1> numbers %numbers : vector<16x8xi16> dropped below %least {rescale_on_growth, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xf32>
  // CHECK: tile.softmax_end %{{.*}}, %{{.*}} padding %{{.*}} : vector<16xi1> sink %{{.*}} : vector<16xf32> max_weight %{{.*}} : vector<16xf32> {approximate, rounded = bf16, scale = 1.000000e+00 : f32} : vector<16xf32>
  %f, %lse = tile.softmax_end %m2, %l2 padding %padding : vector<16xi1> sink %m : vector<16xf32> max_weight %l : vector<16xf32> {approximate, rounded = bf16, scale = 1.0 : f32} : vector<16xf32>
  return
}

// Rows in pages.
// CHECK-LABEL: func @pages(
func.func @pages(%k: memref<?x16x4x64xf16>, %table: memref<?x?xi32>, %ring: !tile.ring<2 x vector<32x64xf16>>, %n: index) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] pages(%{{.*}} : memref<?x?xi32>) axes [1, 3] below(%{{.*}}, %{{.*}}) : memref<?x16x4x64xf16> -> vector<32x64xf16>
  %x = tile.load %k[%n, %n, %n, %n] pages(%table : memref<?x?xi32>) axes [1, 3] below(%n, %n) : memref<?x16x4x64xf16> -> vector<32x64xf16>
  // CHECK: tile.put %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] pages(%{{.*}} : memref<?x?xi32>) axes [1, 3] below(%{{.*}}, %{{.*}}) : <2 x vector<32x64xf16>>, memref<?x16x4x64xf16>
  tile.put %ring, %k[%n, %n, %n, %n] pages(%table : memref<?x?xi32>) axes [1, 3] below(%n, %n) : <2 x vector<32x64xf16>>, memref<?x16x4x64xf16>
  return
}

// Elements that are added at places of their own; a view's other dimensions, and a tile without places, have indices alone.

// CHECK-LABEL: tile.program @scatter(
// CHECK-SAME: %[[SUMS:[a-z0-9]+]]: memref<?x?x4xf32>, %[[N:[a-z0-9]+]]: index
tile.program @scatter(%sums: memref<?x?x4xf32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 1>, rows = 8, panel = 8} {
  %x = arith.constant dense<1.0> : vector<8x16xf32>
  %p = arith.constant dense<2> : vector<8x16xi32>
  // CHECK: tile.scatter %[[X:.*]], %[[SUMS]][%[[N]], %[[N]], %[[N]]] at(%[[P:.*]], %[[P]] : vector<8x16xi32>, vector<8x16xi32>) axes [2, 1] : vector<8x16xf32>, memref<?x?x4xf32>
  tile.scatter %x, %sums[%n, %n, %n] at(%p, %p : vector<8x16xi32>, vector<8x16xi32>) axes [2, 1]
    : vector<8x16xf32>, memref<?x?x4xf32>
  // CHECK: tile.scatter %[[X]], %[[SUMS]][%[[N]], %[[N]], %[[N]]] at() axes [] : vector<8x16xf32>, memref<?x?x4xf32>
  tile.scatter %x, %sums[%n, %n, %n] at() axes [] : vector<8x16xf32>, memref<?x?x4xf32>
  tile.return
}
