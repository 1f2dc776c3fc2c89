// Sums in memory, in the order of blocks: added to by tiles of several calls, in any order and in one, and read back.

// RUN: split-file %s %t
// RUN: attnc-opt %t/program.mlir --tile-to-cpu --canonicalize --cse | FileCheck %s
// RUN: attnc-opt %t/program.mlir --attnc-cpu -o %t/code.mlir
// RUN: sed -e '/^}$/d' -e 's/^module.*/module {/' -e 's/attn.scratch_bytes = [0-9]* : i64//' %t/code.mlir > %t/linked.mlir
// RUN: cat %t/main.mlir >> %t/linked.mlir
// RUN: mlir-opt %t/linked.mlir --convert-scf-to-cf --expand-strided-metadata --lower-affine --finalize-memref-to-llvm \
// RUN:     --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s --check-prefix=WRONG
// WRONG: {{^0$}}

// Each element is an atomic addition, of all rows of the tile or of none: those of the panel, where the first of the tile is
// below its limit.
// CHECK-LABEL: llvm.func @add_entry(
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[FIRST:.*]], %{{.*}} : index
// CHECK: %[[ROWS:.*]] = arith.select %[[BELOW]], %c8, %c0 : index
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]] step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 {
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}} : memref<16x8xf32>
// CHECK: memref.atomic_rmw addf %[[ELEMENT]], %{{.*}}[%{{.*}}, %{{.*}}] : (f32, memref<?x16xf32>) -> f32
// In an order: once the semaphore holds the place before, by plain loads and stores, and then its own place is left there.
// CHECK-LABEL: llvm.func @add_in_order_entry(
// CHECK: scf.if
// CHECK: scf.while
// CHECK: %[[LAST:.*]] = memref.atomic_rmw addi %c0_i32, %[[PLACES:.*]][%c1] : (i32, memref<?xi32>) -> i32
// CHECK: %[[EARLY:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}} : i32
// CHECK: scf.condition(%[[EARLY]])
// CHECK: scf.for
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}} : memref<{{.*}}xf32>
// CHECK: %[[SUM:.*]] = memref.load %[[SUMS:.*]][%[[R:.*]], %[[C:.*]]] : memref<?x16xf32>
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]], %[[ELEMENT]] : f32
// CHECK: memref.store %[[MORE]], %[[SUMS]][%[[R]], %[[C]]] : memref<?x16xf32>
// CHECK: memref.atomic_rmw assign %{{.*}}, %[[PLACES]][%c1] : (i32, memref<?xi32>) -> i32
// CHECK-LABEL: llvm.func @read_entry(
// CHECK-NOT: memref.atomic_rmw

//--- program.mlir
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
// Adds tile `tile` of 32 rows to the sums, where its first row is below `limit`.
tile.program @add(%a: memref<?x16xf32>, %sums: memref<?x16xf32>, %limit: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %first = arith.muli %tile, %c32 : index
  %end = arith.addi %first, %c32 : index
  %t = tile.load %a[%first, %c0] axes [0, 1] below(%end, %c16) : memref<?x16xf32> -> vector<32x16xf32>
  tile.store %t, %sums[%first, %c0] axes [0, 1] below(%limit, %c16) {accumulate, blocked} : vector<32x16xf32>, memref<?x16xf32>
  tile.return
}
// The same in place `place` of the order of the second semaphore, after `after`.
tile.program @add_in_order(%a: memref<?x16xf32>, %sums: memref<?x16xf32>, %places: memref<?xi32>, %place: index, %after: index, %limit: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = 8} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %first = arith.muli %tile, %c32 : index
  %end = arith.addi %first, %c32 : index
  %t = tile.load %a[%first, %c0] axes [0, 1] below(%end, %c16) : memref<?x16xf32> -> vector<32x16xf32>
  tile.store %t, %sums[%first, %c0] axes [0, 1] below(%limit, %c16) order(%place after %after of %places[%c1] : memref<?xi32>) {accumulate, blocked} : vector<32x16xf32>, memref<?x16xf32>
  tile.return
}
// Brings the sums of a tile in order.
tile.program @read(%sums: memref<?x16xf32>, %o: memref<?x16xf32>, %limit: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = 8} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %first = arith.muli %tile, %c32 : index
  %end = arith.addi %first, %c32 : index
  %t = tile.load %sums[%first, %c0] axes [0, 1] below(%end, %c16) {blocked} : memref<?x16xf32> -> vector<32x16xf32>
  tile.store %t, %o[%first, %c0] axes [0, 1] below(%end, %c16) : vector<32x16xf32>, memref<?x16xf32>
  tile.return
}
}

//--- main.mlir
// Two tiles are added to once and twice, and a third is past the limit; and each in an order once more. What comes back is compared, and where two elements
// lie: element (9, 3), the second row of eight of its band, and (17, 10), of the second band and block.
func.func @call_add(%block: memref<16xi64>, %tile: i64, %scratch: memref<1048576xi8>) {
  %b = memref.extract_aligned_pointer_as_index %block : memref<16xi64> -> index
  %s = memref.extract_aligned_pointer_as_index %scratch : memref<1048576xi8> -> index
  %b64 = arith.index_cast %b : index to i64
  %s64 = arith.index_cast %s : index to i64
  %bp = llvm.inttoptr %b64 : i64 to !llvm.ptr
  %sp = llvm.inttoptr %s64 : i64 to !llvm.ptr
  llvm.call @add_entry(%bp, %tile, %sp) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  return
}
func.func @call_add_in_order(%block: memref<16xi64>, %place: i64, %after: i64, %tile: i64, %scratch: memref<1048576xi8>) {
  %c13 = arith.constant 13 : index
  %c14 = arith.constant 14 : index
  memref.store %place, %block[%c13] : memref<16xi64>
  memref.store %after, %block[%c14] : memref<16xi64>
  %b = memref.extract_aligned_pointer_as_index %block : memref<16xi64> -> index
  %s = memref.extract_aligned_pointer_as_index %scratch : memref<1048576xi8> -> index
  %b64 = arith.index_cast %b : index to i64
  %s64 = arith.index_cast %s : index to i64
  %bp = llvm.inttoptr %b64 : i64 to !llvm.ptr
  %sp = llvm.inttoptr %s64 : i64 to !llvm.ptr
  llvm.call @add_in_order_entry(%bp, %tile, %sp) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  return
}
func.func @call_read(%block: memref<16xi64>, %tile: i64, %scratch: memref<1048576xi8>) {
  %b = memref.extract_aligned_pointer_as_index %block : memref<16xi64> -> index
  %s = memref.extract_aligned_pointer_as_index %scratch : memref<1048576xi8> -> index
  %b64 = arith.index_cast %b : index to i64
  %s64 = arith.index_cast %s : index to i64
  %bp = llvm.inttoptr %b64 : i64 to !llvm.ptr
  %sp = llvm.inttoptr %s64 : i64 to !llvm.ptr
  llvm.call @read_entry(%bp, %tile, %sp) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  return
}
// A view of 96 x 16 as the argument block has it: address, sizes, strides.
func.func @describe(%view: memref<96x16xf32>, %block: memref<16xi64>, %slot: index) {
  %p = memref.extract_aligned_pointer_as_index %view : memref<96x16xf32> -> index
  %p64 = arith.index_cast %p : index to i64
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %rows = arith.constant 96 : i64
  %columns = arith.constant 16 : i64
  %one = arith.constant 1 : i64
  memref.store %p64, %block[%slot] : memref<16xi64>
  %s1 = arith.addi %slot, %c1 : index
  memref.store %rows, %block[%s1] : memref<16xi64>
  %s2 = arith.addi %slot, %c2 : index
  memref.store %columns, %block[%s2] : memref<16xi64>
  %s3 = arith.addi %slot, %c3 : index
  memref.store %columns, %block[%s3] : memref<16xi64>
  %s4 = arith.addi %slot, %c4 : index
  memref.store %one, %block[%s4] : memref<16xi64>
  return
}
func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %c25 = arith.constant 25 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %t0 = arith.constant 0 : i64
  %t1 = arith.constant 1 : i64
  %t2 = arith.constant 2 : i64
  // The second tile is below, but for its last rows, and is added whole.
  %limit = arith.constant 40 : i64
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %a = memref.alloc() : memref<96x16xf32>
  %sums = memref.alloc() : memref<96x16xf32>
  %o = memref.alloc() : memref<96x16xf32>
  %block = memref.alloc() : memref<16xi64>
  %scratch = memref.alloc() {alignment = 64} : memref<1048576xi8>
  scf.for %i = %c0 to %c96 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %row = arith.muli %i, %c16 : index
      %n = arith.addi %row, %j : index
      %n32 = arith.index_cast %n : index to i32
      %x = arith.sitofp %n32 : i32 to f32
      memref.store %x, %a[%i, %j] : memref<96x16xf32>
      memref.store %zero, %sums[%i, %j] : memref<96x16xf32>
      memref.store %zero, %o[%i, %j] : memref<96x16xf32>
    }
  }
  func.call @describe(%a, %block, %c0) : (memref<96x16xf32>, memref<16xi64>, index) -> ()
  func.call @describe(%sums, %block, %c5) : (memref<96x16xf32>, memref<16xi64>, index) -> ()
  memref.store %limit, %block[%c10] : memref<16xi64>
  func.call @call_add(%block, %t0, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  func.call @call_add(%block, %t1, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  func.call @call_add(%block, %t1, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  func.call @call_add(%block, %t2, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  // There are two semaphores, of which the first is another one.
  %places = memref.alloc() : memref<2xi32>
  %c11 = arith.constant 11 : index
  %c12 = arith.constant 12 : index
  %c15 = arith.constant 15 : index
  %t3 = arith.constant 3 : i64
  memref.store %i1, %places[%c0] : memref<2xi32>
  memref.store %i0, %places[%c1] : memref<2xi32>
  %placesIndex = memref.extract_aligned_pointer_as_index %places : memref<2xi32> -> index
  %places64 = arith.index_cast %placesIndex : index to i64
  memref.store %places64, %block[%c10] : memref<16xi64>
  memref.store %t2, %block[%c11] : memref<16xi64>
  memref.store %t1, %block[%c12] : memref<16xi64>
  memref.store %limit, %block[%c15] : memref<16xi64>
  // The one past the limit leaves no place, and the last comes after the first.
  func.call @call_add_in_order(%block, %t1, %t0, %t0, %scratch) : (memref<16xi64>, i64, i64, i64, memref<1048576xi8>) -> ()
  func.call @call_add_in_order(%block, %t2, %t1, %t2, %scratch) : (memref<16xi64>, i64, i64, i64, memref<1048576xi8>) -> ()
  func.call @call_add_in_order(%block, %t3, %t1, %t1, %scratch) : (memref<16xi64>, i64, i64, i64, memref<1048576xi8>) -> ()
  func.call @describe(%sums, %block, %c0) : (memref<96x16xf32>, memref<16xi64>, index) -> ()
  func.call @describe(%o, %block, %c5) : (memref<96x16xf32>, memref<16xi64>, index) -> ()
  func.call @call_read(%block, %t0, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  func.call @call_read(%block, %t1, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  func.call @call_read(%block, %t2, %scratch) : (memref<16xi64>, i64, memref<1048576xi8>) -> ()
  %wrong = scf.for %i = %c0 to %c96 step %c1 iter_args(%outer = %i0) -> (i32) {
    %inRow = scf.for %j = %c0 to %c16 step %c1 iter_args(%count = %outer) -> (i32) {
      %x = memref.load %a[%i, %j] : memref<96x16xf32>
      %got = memref.load %o[%i, %j] : memref<96x16xf32>
      %isFirst = arith.cmpi slt, %i, %c32 : index
      %isSecond = arith.cmpi slt, %i, %c64 : index
      %timesLate = arith.select %isSecond, %three, %zero : f32
      %times = arith.select %isFirst, %two, %timesLate : f32
      %expected = arith.mulf %x, %times : f32
      %differs = arith.cmpf une, %got, %expected : f32
      %more = arith.addi %count, %i1 : i32
      %next = arith.select %differs, %more, %count : i32
      scf.yield %next : i32
    }
    scf.yield %inRow : i32
  }
  // 9 * 16 + 3 is at 23, and 17 * 16 + 10 at 404, each twice.
  %x = memref.load %sums[%c1, %c7] : memref<96x16xf32>
  %y = memref.load %sums[%c25, %c4] : memref<96x16xf32>
  %atX = arith.constant 294.0 : f32
  %atY = arith.constant 564.0 : f32
  %wrongX = arith.cmpf une, %x, %atX : f32
  %wrongY = arith.cmpf une, %y, %atY : f32
  %placed = arith.ori %wrongX, %wrongY : i1
  // The last place is left.
  %given = memref.load %places[%c1] : memref<2xi32>
  %i3 = arith.constant 3 : i32
  %miscounted = arith.cmpi ne, %given, %i3 : i32
  %misplaced = arith.ori %placed, %miscounted : i1
  %extra = arith.extui %misplaced : i1 to i32
  %all = arith.addi %wrong, %extra : i32
  return %all : i32
}
}
