// Tiles that are read across rows, run on this machine: each program's result is compared with plain loops, and no element may
// differ. Panels of 8 and of 16 rows.

// RUN: split-file %s %t
// DEFINE: %{name} =
// DEFINE: %{panel} =
// DEFINE: %{run} = sed -e 's/PANEL/%{panel}/' -e '1i module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {' -e '$a }' %t/%{name}.mlir \
// DEFINE:   | attnc-opt --attnc-cpu -o %t/code.mlir && sed -e '/^}$/d' -e 's/^module.*/module {/' -e 's/attn.scratch_bytes = [0-9]* : i64//' %t/code.mlir > %t/linked.mlir \
// DEFINE:   && cat %t/%{name}.expected %S/Inputs/compare.mlir >> %t/linked.mlir \
// DEFINE:   && mlir-opt %t/linked.mlir --convert-scf-to-cf --expand-strided-metadata --lower-affine --finalize-memref-to-llvm \
// DEFINE:        --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts \
// DEFINE:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s --check-prefix=WRONG
// WRONG: {{^0$}}

// REDEFINE: %{panel} = 8
// REDEFINE: %{name} = operands
// RUN: %{run}
// REDEFINE: %{name} = rows
// RUN: %{run}
// REDEFINE: %{name} = read
// RUN: %{run}
// REDEFINE: %{name} = parts
// RUN: %{run}
// REDEFINE: %{panel} = 16
// REDEFINE: %{name} = operands
// RUN: %{run}
// REDEFINE: %{name} = rows
// RUN: %{run}
// REDEFINE: %{name} = read
// RUN: %{run}
// REDEFINE: %{name} = parts
// RUN: %{run}

// What is shared, and what is computed, as right operands, as they lie and by rows; what is shared as a left operand as it
// lies; and operands of one number.

//--- operands.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %two = arith.constant dense<2.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %sum = tile.map tiles(%t, %k : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %f: f32, %p: index, %q: index):
    %g = arith.addf %e, %f : f32
    tile.yield %g : f32
  } -> vector<32x32xf32>
  tile.share %sum : vector<32x32xf32>
  %s = tile.take : !tile.shared<vector<32x32xf32>>
  %0 = tile.mma %t, %sum, %zero : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %1 = tile.mma %t, %sum, %0 transposed : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %2 = tile.mma %t, %s, %1 : vector<32x32xf32>, !tile.shared<vector<32x32xf32>>, vector<32x32xf32>
  %3 = tile.mma %t, %s, %2 transposed : vector<32x32xf32>, !tile.shared<vector<32x32xf32>>, vector<32x32xf32>
  %4 = tile.mma %s, %k, %3 : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
  %5 = tile.mma %s, %s, %4 transposed left_transposed
      : !tile.shared<vector<32x32xf32>>, !tile.shared<vector<32x32xf32>>, vector<32x32xf32>
  %6 = tile.mma %two, %k, %5 left_transposed : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %7 = tile.mma %t, %two, %6 : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %7, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- operands.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %aik = memref.load %a[%i, %k] : memref<32x32xf32>
    %bik = memref.load %b[%i, %k] : memref<32x32xf32>
    %aki = memref.load %a[%k, %i] : memref<32x32xf32>
    %bki = memref.load %b[%k, %i] : memref<32x32xf32>
    %akj = memref.load %a[%k, %j] : memref<32x32xf32>
    %bkj = memref.load %b[%k, %j] : memref<32x32xf32>
    %ajk = memref.load %a[%j, %k] : memref<32x32xf32>
    %bjk = memref.load %b[%j, %k] : memref<32x32xf32>
    %sik = arith.addf %aik, %bik : f32
    %ski = arith.addf %aki, %bki : f32
    %skj = arith.addf %akj, %bkj : f32
    %sjk = arith.addf %ajk, %bjk : f32
    // Twice a(i, k) (s(k, j) + s(j, k)), and the others once.
    %both = arith.addf %skj, %sjk : f32
    %twice = arith.mulf %both, %two : f32
    %t0 = arith.mulf %aik, %twice : f32
    %t1 = arith.mulf %sik, %bkj : f32
    %t2 = arith.mulf %ski, %sjk : f32
    %t3 = arith.mulf %two, %bkj : f32
    %t4 = arith.mulf %aik, %two : f32
    %s0 = arith.addf %t0, %t1 : f32
    %s1 = arith.addf %s0, %t2 : f32
    %s2 = arith.addf %s1, %t3 : f32
    %product = arith.addf %s2, %t4 : f32
    %next = arith.addf %s, %product : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// Rows of tiles as numbers of columns: of what is loaded for that alone and cut by limits, of what is computed, of what is
// shared.

//--- rows.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %two = tile.load %b[%c1, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<2x32xf32>
  %cut = tile.load %b[%c1, %c0] axes [0, 1] below(%c2, %c32) : memref<?x?xf32> -> vector<2x32xf32>
  %sum = tile.map tiles(%t : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %p: index, %q: index):
    %g = arith.addf %e, %e : f32
    tile.yield %g : f32
  } -> vector<32x32xf32>
  tile.share %sum : vector<32x32xf32>
  %s = tile.take : !tile.shared<vector<32x32xf32>>
  %r0 = tile.row 0 of %two : vector<2x32xf32> -> vector<1x32xf32>
  %r1 = tile.row 1 of %two : vector<2x32xf32> -> vector<1x32xf32>
  %r2 = tile.row 1 of %cut : vector<2x32xf32> -> vector<1x32xf32>
  %r3 = tile.row 9 of %sum : vector<32x32xf32> -> vector<1x32xf32>
  %r4 = tile.row 30 of %s : !tile.shared<vector<32x32xf32>> -> vector<1x32xf32>
  %r5 = tile.row 0 of %cut : vector<2x32xf32> -> vector<1x32xf32>
  tile.share %zero : vector<32x32xf32>
  %r6 = arith.addf %r4, %r5 : vector<1x32xf32>
  %d = tile.map tiles(%t : vector<32x32xf32>)
      rows() cols(%r0, %r1, %r2, %r3, %r6
      : vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>)
      at(%c0, %c0) {
  ^bb0(%e: f32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x6: f32, %p: index, %q: index):
    %by = arith.constant 16.0 : f32
    %m0 = arith.mulf %x0, %by : f32
    %s0 = arith.addf %m0, %x1 : f32
    %m1 = arith.mulf %s0, %by : f32
    %s1 = arith.addf %m1, %x2 : f32
    %m2 = arith.mulf %s1, %by : f32
    %s2 = arith.addf %m2, %x3 : f32
    %m3 = arith.mulf %s2, %by : f32
    %s3 = arith.addf %m3, %x6 : f32
    %s4 = arith.addf %s3, %e : f32
    tile.yield %s4 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- rows.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c19 = arith.constant 19 : index
  %c30 = arith.constant 30 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %by = arith.constant 16.0 : f32
  %isColumn = arith.cmpi slt, %j, %c19 : index
  %b1 = memref.load %b[%c1, %j] : memref<32x32xf32>
  %b2 = memref.load %b[%c2, %j] : memref<32x32xf32>
  %x0 = arith.select %isColumn, %b1, %zero : f32
  %x1 = arith.select %isColumn, %b2, %zero : f32
  %a9 = memref.load %a[%c9, %j] : memref<32x32xf32>
  %a30 = memref.load %a[%c30, %j] : memref<32x32xf32>
  %x3 = arith.mulf %a9, %two : f32
  %x4 = arith.mulf %a30, %two : f32
  %x6 = arith.addf %x4, %b1 : f32
  %e = memref.load %a[%i, %j] : memref<32x32xf32>
  %m0 = arith.mulf %x0, %by : f32
  %s0 = arith.addf %m0, %x1 : f32
  %m1 = arith.mulf %s0, %by : f32
  %m2 = arith.mulf %m1, %by : f32
  %s2 = arith.addf %m2, %x3 : f32
  %m3 = arith.mulf %s2, %by : f32
  %s3 = arith.addf %m3, %x6 : f32
  %s4 = arith.addf %s3, %e : f32
  return %s4 : f32
}

// Narrow tiles that are read back: turned, as they lie, and from registers, into what a product takes and what a map takes.

//--- read.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %g = tile.map tiles(%t : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %p: index, %q: index):
    %f = arith.truncf %e : f32 to bf16
    tile.yield %f : bf16
  } -> vector<32x32xbf16>
  tile.share %g : vector<32x32xbf16>
  %s = tile.take : !tile.shared<vector<32x32xbf16>>
  %r0 = tile.read %s transposed : !tile.shared<vector<32x32xbf16>> -> vector<32x32xbf16>
  %r1 = tile.read %s : !tile.shared<vector<32x32xbf16>> -> vector<32x32xbf16>
  %r2 = tile.read %g transposed : vector<32x32xbf16> -> vector<32x32xbf16>
  %r3 = tile.read %g : vector<32x32xbf16> -> vector<32x32xbf16>
  %p0 = tile.mma %r0, %k, %zero : vector<32x32xbf16>, vector<32x32xf32>, vector<32x32xf32>
  %d = tile.map tiles(%p0, %r1, %r2, %r3 : vector<32x32xf32>, vector<32x32xbf16>, vector<32x32xbf16>, vector<32x32xbf16>)
      rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %x1: bf16, %x2: bf16, %x3: bf16, %p: index, %q: index):
    %y1 = arith.extf %x1 : bf16 to f32
    %y2 = arith.extf %x2 : bf16 to f32
    %y3 = arith.extf %x3 : bf16 to f32
    %by = arith.constant 1024.0 : f32
    %m = arith.mulf %y2, %by : f32
    %s0 = arith.addf %e, %y1 : f32
    %s1 = arith.addf %s0, %m : f32
    %s2 = arith.addf %s1, %y3 : f32
    tile.yield %s2 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- read.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %x = memref.load %a[%k, %i] : memref<32x32xf32>
    %y = memref.load %b[%k, %j] : memref<32x32xf32>
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %s, %product : f32
    scf.yield %next : f32
  }
  %by = arith.constant 1024.0 : f32
  %u = memref.load %a[%i, %j] : memref<32x32xf32>
  %v = memref.load %a[%j, %i] : memref<32x32xf32>
  %m = arith.mulf %v, %by : f32
  %twice = arith.addf %u, %u : f32
  %both = arith.addf %twice, %m : f32
  %all = arith.addf %sum, %both : f32
  return %all : f32
}

// Parts of rows, of which one lane has all, and conditions that hold in any row, of all that the tile has.

//--- parts.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant dense<0.0> : vector<32xf32>
  %most = arith.constant dense<3.0> : vector<32xf32>
  %more = arith.constant dense<9.0> : vector<32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %parts = tile.lane_partial %none : vector<32xf32>
  %some = tile.reduce <add> %t, %parts partial : vector<32x32xf32>, vector<32xf32>
  %twice = tile.reduce <add> %t, %some partial : vector<32x32xf32>, vector<32xf32>
  %sum = tile.warp_reduce %twice : vector<32xf32>
  %l = tile.load %a[%c0, %c1] axes [0] below(%c32) : memref<?x?xf32> -> vector<32xf32>
  %isHigh = arith.cmpf ogt, %l, %most : vector<32xf32>
  %isHigher = arith.cmpf ogt, %l, %more : vector<32xf32>
  %r, %m = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %sum, %y = %isHigher) -> (vector<32xf32>, vector<32xi1>) {
    %grows = tile.any %y : vector<32xi1>
    %next = scf.if %grows -> (vector<32xf32>) {
      %z = arith.addf %x, %x : vector<32xf32>
      scf.yield %z : vector<32xf32>
    } else {
      scf.yield %x : vector<32xf32>
    }
    %flip = arith.ori %y, %isHigh : vector<32xi1>
    scf.yield %next, %flip : vector<32xf32>, vector<32xi1>
  }
  %d = tile.map tiles(%t : vector<32x32xf32>) rows(%r : vector<32xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %x: f32, %p: index, %q: index):
    %s = arith.addf %e, %x : f32
    tile.yield %s : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- parts.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  // No number is above 9, and some are above 3: the first of four steps adds nothing.
  %times = arith.constant 16.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %x = memref.load %a[%i, %k] : memref<32x32xf32>
    %next = arith.addf %s, %x : f32
    scf.yield %next : f32
  }
  %all = arith.mulf %sum, %times : f32
  %e = memref.load %a[%i, %j] : memref<32x32xf32>
  %r = arith.addf %e, %all : f32
  return %r : f32
}
