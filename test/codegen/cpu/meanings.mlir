// What words of programs mean, run on this machine: each program's result is compared with plain loops, and no element may
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
// REDEFINE: %{name} = columns
// RUN: %{run}
// REDEFINE: %{name} = both
// RUN: %{run}
// REDEFINE: %{name} = right
// RUN: %{run}
// REDEFINE: %{name} = cut
// RUN: %{run}
// REDEFINE: %{name} = branches
// RUN: %{run}
// REDEFINE: %{name} = twice
// RUN: %{run}
// REDEFINE: %{name} = narrow
// RUN: %{run}
// REDEFINE: %{panel} = 16
// REDEFINE: %{name} = columns
// RUN: %{run}
// REDEFINE: %{name} = both
// RUN: %{run}
// REDEFINE: %{name} = right
// RUN: %{run}
// REDEFINE: %{name} = cut
// RUN: %{run}
// REDEFINE: %{name} = branches
// RUN: %{run}
// REDEFINE: %{name} = twice
// RUN: %{run}
// REDEFINE: %{name} = narrow
// RUN: %{run}

// Column vectors that are computed: of what is loaded, of scalars and of a condition.

//--- columns.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %two = arith.constant dense<2.0> : vector<1x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %l = tile.load %b[%c0, %c0] axes [1] below(%n) : memref<?x?xf32> -> vector<1x32xf32>
  %n32 = arith.index_cast %n : index to i32
  %number = arith.sitofp %n32 : i32 to f32
  %everywhere = vector.broadcast %number : f32 to vector<1x32xf32>
  %twice = arith.mulf %l, %two : vector<1x32xf32>
  %far = arith.cmpf olt, %twice, %two : vector<1x32xf32>
  %m = arith.select %far, %everywhere, %twice : vector<1x32xi1>, vector<1x32xf32>
  %place = vector.broadcast %n : index to vector<1x32xindex>
  %wide = arith.index_cast %place : vector<1x32xindex> to vector<1x32xi32>
  %p = arith.sitofp %wide : vector<1x32xi32> to vector<1x32xf32>
  %r = tile.map tiles(%t : vector<32x32xf32>) rows()
      cols(%m, %p, %two, %place : vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>, vector<1x32xindex>) at(%c0, %c0) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32, %at: index, %i: index, %j: index):
    %e = arith.mulf %y, %w : f32
    %d = arith.addf %e, %z : f32
    %f = arith.addf %x, %d : f32
    %past = arith.cmpi slt, %at, %j : index
    %g = arith.select %past, %x, %f : f32
    tile.yield %g : f32
  } -> vector<32x32xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- columns.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c19 = arith.constant 19 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %nineteen = arith.constant 19.0 : f32
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %l = memref.load %b[%c0, %j] : memref<32x32xf32>
  %below = arith.cmpi slt, %j, %c19 : index
  %y = arith.select %below, %l, %zero : f32
  %twice = arith.mulf %y, %two : f32
  %far = arith.cmpf olt, %twice, %two : f32
  %m = arith.select %far, %nineteen, %twice : f32
  %e = arith.mulf %m, %two : f32
  %d = arith.addf %e, %nineteen : f32
  %f = arith.addf %x, %d : f32
  %past = arith.cmpi sgt, %j, %c19 : index
  %g = arith.select %past, %x, %f : f32
  return %g : f32
}

// Rows and columns of the same numbers, as they are and computed with; constants, a scalar everywhere, and places of rows.

//--- both.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %four = arith.constant dense<4.0> : vector<32xf32>
  %fours = arith.constant dense<4.0> : vector<1x32xf32>
  %none = arith.constant dense<0.0> : vector<32x32xf32>
  %l = tile.load %b[%c0, %n] axes [0] below(%c32) : memref<?x?xf32> -> vector<32xf32>
  %m = tile.load %b[%c0, %n] axes [0] below(%c32) : memref<?x?xf32> -> vector<1x32xf32>
  %n32 = arith.index_cast %n : index to i32
  %number = arith.sitofp %n32 : i32 to f32
  %all = vector.broadcast %number : f32 to vector<32xf32>
  %alls = vector.broadcast %number : f32 to vector<1x32xf32>
  %places = vector.step : vector<32xindex>
  %rows = arith.mulf %l, %four : vector<32xf32>
  %plus = arith.addf %m, %fours : vector<1x32xf32>
  %minus = arith.subf %plus, %alls : vector<1x32xf32>
  %columns = arith.addf %minus, %alls : vector<1x32xf32>
  %r = tile.map tiles(%none : vector<32x32xf32>) rows(%l, %rows, %all, %places : vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xindex>)
      cols(%m, %columns, %fours, %alls : vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>, vector<1x32xf32>) at(%c0, %c0) {
  ^bb0(%x: f32, %r0: f32, %r1: f32, %ra: f32, %rp: index, %c0e: f32, %c1: f32, %c2: f32, %ca: f32, %i: index, %j: index):
    %e = arith.mulf %r0, %c0e : f32
    %f = arith.mulf %r1, %c1 : f32
    %g = arith.addf %e, %f : f32
    %h = arith.addf %g, %c2 : f32
    // 19 - 19, and row - row.
    %none0 = arith.subf %ra, %ca : f32
    %apart = arith.subi %rp, %i : index
    %apart32 = arith.index_cast %apart : index to i32
    %distance = arith.sitofp %apart32 : i32 to f32
    %off = arith.addf %none0, %distance : f32
    %k = arith.addf %h, %off : f32
    tile.yield %k : f32
  } -> vector<32x32xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- both.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c19 = arith.constant 19 : index
  %four = arith.constant 4.0 : f32
  %x = memref.load %b[%i, %c19] : memref<32x32xf32>
  %y = memref.load %b[%j, %c19] : memref<32x32xf32>
  %e = arith.mulf %x, %y : f32
  %r1 = arith.mulf %x, %four : f32
  %c1 = arith.addf %y, %four : f32
  %f = arith.mulf %r1, %c1 : f32
  %g = arith.addf %e, %f : f32
  %h = arith.addf %g, %four : f32
  return %h : f32
}

// One load as the left and the right operand of a product, and a constant as the left one. The program does not say which
// rows are live: all are.

//--- right.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %two = arith.constant dense<2.0> : vector<32x32xf32>
  %first, %end = tile.part of 32
  %t = tile.load %a[%first, %c0] axes [0, 1] below(%end, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %squares = tile.mma %t, %t, %zero transposed : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %sums = tile.mma %two, %t, %squares : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %sums, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- right.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %x = memref.load %a[%i, %k] : memref<32x32xf32>
    %y = memref.load %a[%j, %k] : memref<32x32xf32>
    %z = memref.load %a[%k, %j] : memref<32x32xf32>
    %xy = arith.mulf %x, %y : f32
    %zz = arith.mulf %two, %z : f32
    %more = arith.addf %xy, %zz : f32
    %next = arith.addf %s, %more : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// Limits cut rows and columns of both operands, whichever way the right one lies.

//--- cut.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%n, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %keys = tile.load %b[%c0, %c3] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<32x32xf32>
  %values = tile.load %b[%c3, %c0] axes [0, 1] below(%c32, %n) : memref<?x?xf32> -> vector<32x32xf32>
  %s = tile.mma %t, %keys, %zero transposed : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %r = tile.mma %t, %values, %s : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- cut.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c19 = arith.constant 19 : index
  %c29 = arith.constant 29 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %x = memref.load %a[%i, %k] : memref<32x32xf32>
    // Keys: row j below 19, column 3 + k below 19. Values: row 3 + k below 32, column j below 19.
    %jBelow = arith.cmpi slt, %j, %c19 : index
    %kBelow = arith.cmpi slt, %k, %c16 : index
    %isKey = arith.andi %jBelow, %kBelow : i1
    %next = arith.addi %k, %c3 : index
    %column = arith.select %isKey, %next, %c0 : index
    %loadedKey = memref.load %b[%j, %column] : memref<32x32xf32>
    %key = arith.select %isKey, %loadedKey, %zero : f32
    %kInside = arith.cmpi slt, %k, %c29 : index
    %isValue = arith.andi %jBelow, %kInside : i1
    %row = arith.select %isValue, %next, %c0 : index
    %loadedValue = memref.load %b[%row, %j] : memref<32x32xf32>
    %value = arith.select %isValue, %loadedValue, %zero : f32
    %both = arith.addf %key, %value : f32
    %more = arith.mulf %x, %both : f32
    %total = arith.addf %s, %more : f32
    scf.yield %total : f32
  }
  %isRow = arith.cmpi slt, %i, %c19 : index
  %result = arith.select %isRow, %sum, %zero : f32
  return %result : f32
}

// Branches that give numbers next to tiles, and write to where what they start from is read afterwards; a loop in a loop that
// starts from the same each time.

//--- branches.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %once = tile.map tiles(%t : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<32x32xf32>
  %sum, %count = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero, %number = %c0) -> (vector<32x32xf32>, index) {
    %isOdd = arith.cmpi eq, %i, %c1 : index
    %doubled = scf.for %k = %c0 to %c2 step %c1 iter_args(%d = %once) -> (vector<32x32xf32>) {
      %more = tile.map tiles(%d : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
      ^bb0(%x: f32, %p: index, %q: index):
        %y = arith.addf %x, %x : f32
        tile.yield %y : f32
      } -> vector<32x32xf32>
      scf.yield %more : vector<32x32xf32>
    }
    %r, %next = scf.if %isOdd -> (vector<32x32xf32>, index) {
      %y = arith.addi %number, %n : index
      scf.yield %doubled, %y : vector<32x32xf32>, index
    } else {
      %more = tile.map tiles(%s, %doubled : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
      ^bb0(%x: f32, %y: f32, %p: index, %q: index):
        %z = arith.addf %x, %y : f32
        tile.yield %z : f32
      } -> vector<32x32xf32>
      scf.yield %more, %number : vector<32x32xf32>, index
    }
    // At the first step s is 0, then 4 a, and 4 a once more.
    tile.store %s, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
    scf.yield %r, %next : vector<32x32xf32>, index
  }
  %before = tile.load %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %n32 = arith.index_cast %count : index to i32
  %f = arith.sitofp %n32 : i32 to f32
  // 4 a of the last step's start, the sum 8 a, and 19.
  %all = tile.map tiles(%before, %sum : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %y: f32, %p: index, %q: index):
    %z = arith.addf %x, %y : f32
    %w = arith.addf %z, %f : f32
    tile.yield %w : f32
  } -> vector<32x32xf32>
  tile.store %all, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- branches.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %twelve = arith.constant 12.0 : f32
  %nineteen = arith.constant 19.0 : f32
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = arith.mulf %x, %twelve : f32
  %z = arith.addf %y, %nineteen : f32
  return %z : f32
}

// Values that branches and loops hand on twice.

//--- twice.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %zero, %y = %zero) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %isFirst = arith.cmpi eq, %i, %c0 : index
    // a and a at first, then 0 and 0.
    %s:2 = scf.if %isFirst -> (vector<32x32xf32>, vector<32x32xf32>) {
      scf.yield %t, %t : vector<32x32xf32>, vector<32x32xf32>
    } else {
      scf.yield %zero, %zero : vector<32x32xf32>, vector<32x32xf32>
    }
    // 2 x + 3 y + 5 a, both of them.
    %sum = tile.map tiles(%x, %y, %s#0, %s#1 : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>)
        rows() cols() at(%c0, %c0) {
    ^bb0(%p: f32, %q: f32, %u: f32, %v: f32, %k: index, %l: index):
      %two = arith.constant 2.0 : f32
      %three = arith.constant 3.0 : f32
      %left = arith.addf %p, %u : f32
      %right = arith.addf %q, %v : f32
      %twice = arith.mulf %left, %two : f32
      %thrice = arith.mulf %right, %three : f32
      %all = arith.addf %twice, %thrice : f32
      tile.yield %all : f32
    } -> vector<32x32xf32>
    scf.yield %sum, %sum : vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1 : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%p: f32, %q: f32, %k: index, %l: index):
    %e = arith.addf %p, %q : f32
    tile.yield %e : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- twice.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %times = arith.constant 50.0 : f32
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = arith.mulf %x, %times : f32
  return %y : f32
}

// Arithmetic on vectors of rows and of columns in narrow floats, which rounds each result; indices of rows, held across a loop;
// conditions chosen by a scalar.

//--- narrow.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant dense<0.0> : vector<32x32xf32>
  %big = arith.constant dense<256.0> : vector<32xbf16>
  %bigs = arith.constant dense<256.0> : vector<1x32xbf16>
  %l = tile.load %a[%c0, %c0] axes [0] below(%c32) : memref<?x?xf32> -> vector<32xf32>
  %m = tile.load %a[%c0, %c0] axes [1] below(%c32) : memref<?x?xf32> -> vector<1x32xf32>
  // 256 and a little more is 256, or the next even number of bf16.
  %ln = arith.truncf %l : vector<32xf32> to vector<32xbf16>
  %ls = arith.addf %ln, %big : vector<32xbf16>
  %lw = arith.extf %ls : vector<32xbf16> to vector<32xf32>
  %mn = arith.truncf %m : vector<1x32xf32> to vector<1x32xbf16>
  %ms = arith.addf %mn, %bigs : vector<1x32xbf16>
  %mw = arith.extf %ms : vector<1x32xbf16> to vector<1x32xf32>
  %places = vector.step : vector<32xindex>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %places) -> (vector<32xindex>) {
    %by = vector.broadcast %c1 : index to vector<32xindex>
    %y = arith.addi %x, %by : vector<32xindex>
    scf.yield %y : vector<32xindex>
  }
  %isLong = arith.cmpi sgt, %n, %c32 : index
  %chosen = arith.select %isLong, %places, %last : vector<32xindex>
  %r = tile.map tiles(%none : vector<32x32xf32>) rows(%lw, %chosen : vector<32xf32>, vector<32xindex>)
      cols(%mw : vector<1x32xf32>) at(%c0, %c0) {
  ^bb0(%x: f32, %y: f32, %p: index, %z: f32, %i: index, %j: index):
    %p32 = arith.index_cast %p : index to i32
    %f = arith.sitofp %p32 : i32 to f32
    %s = arith.addf %y, %z : f32
    %e = arith.addf %s, %f : f32
    tile.yield %e : f32
  } -> vector<32x32xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- narrow.expected
// The nearest even number at and above 256, ties to multiples of four; below it, the number.
func.func private @rounded(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  %big = arith.constant 256.0 : f32
  %zero = arith.constant 0.0 : f32
  %y = arith.mulf %x, %half : f32
  %z = arith.addf %x, %big : f32
  // Halves are rounded to even by the sum with 1.5 * 2^23.
  %magic = arith.constant 12582912.0 : f32
  %up = arith.addf %y, %magic : f32
  %near = arith.subf %up, %magic : f32
  %even = arith.mulf %near, %two : f32
  %sum = arith.addf %even, %big : f32
  %isLow = arith.cmpf olt, %x, %zero : f32
  %result = arith.select %isLow, %z, %sum : f32
  return %result : f32
}
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c19 = arith.constant 19 : index
  %x = memref.load %a[%i, %c0] : memref<32x32xf32>
  %y = memref.load %a[%c0, %j] : memref<32x32xf32>
  %xr = func.call @rounded(%x) : (f32) -> f32
  %yr = func.call @rounded(%y) : (f32) -> f32
  %p = arith.addi %i, %c19 : index
  %p32 = arith.index_cast %p : index to i32
  %f = arith.sitofp %p32 : i32 to f32
  %s = arith.addf %xr, %yr : f32
  %e = arith.addf %s, %f : f32
  return %e : f32
}
