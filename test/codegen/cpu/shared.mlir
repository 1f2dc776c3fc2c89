// Tiles that go through shared memory, run on this machine: each program's result is compared with plain loops, and no element
// may differ. Panels of 8 and of 16 rows.

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
// REDEFINE: %{name} = turned
// RUN: %{run}
// REDEFINE: %{name} = fewer
// RUN: %{run}
// REDEFINE: %{name} = queue
// RUN: %{run}
// REDEFINE: %{name} = live
// RUN: %{run}
// REDEFINE: %{name} = late
// RUN: %{run}
// REDEFINE: %{panel} = 16
// REDEFINE: %{name} = turned
// RUN: %{run}
// REDEFINE: %{name} = fewer
// RUN: %{run}
// REDEFINE: %{name} = queue
// RUN: %{run}
// REDEFINE: %{name} = live
// RUN: %{run}
// REDEFINE: %{name} = late
// RUN: %{run}

// A product whose left operand is read turned: from shared memory, and once more from registers.

//--- turned.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  tile.share %t : vector<32x32xf32>
  %s = tile.take : !tile.shared<vector<32x32xf32>>
  %half = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
  %all = tile.mma %t, %k, %half left_transposed : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %all, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- turned.expected
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
  %twice = arith.addf %sum, %sum : f32
  return %twice : f32
}

// Its rows are the columns of what is shared, fewer than the program has, and what is computed of it has as many: 24, of which no
// panel has 16. Narrow elements. The sums go round a loop, and each row is less its maximum in the end.

//--- fewer.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<24x32xf32>
  %least = arith.constant dense<0xFF800000> : vector<24xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c24) : memref<?x?xf32> -> vector<32x24xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %g = tile.map tiles(%t : vector<32x24xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %p: index, %q: index):
    %f = arith.truncf %e : f32 to bf16
    tile.yield %f : bf16
  } -> vector<32x24xbf16>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %zero) -> (vector<24x32xf32>) {
    tile.share %g : vector<32x24xbf16>
    %s = tile.take : !tile.shared<vector<32x24xbf16>>
    %next = tile.mma %s, %k, %x left_transposed : !tile.shared<vector<32x24xbf16>>, vector<32x32xf32>, vector<24x32xf32>
    scf.yield %next : vector<24x32xf32>
  }
  %most = tile.reduce <max> %r, %least : vector<24x32xf32>, vector<24xf32>
  %d = tile.map tiles(%r : vector<24x32xf32>) rows(%most : vector<24xf32>) cols() at(%c3, %c1) {
  ^bb0(%e: f32, %m: f32, %p: index, %q: index):
    %f = arith.subf %e, %m : f32
    %p32 = arith.index_cast %p : index to i32
    %g32 = arith.sitofp %p32 : i32 to f32
    %h = arith.addf %f, %g32 : f32
    tile.yield %h : f32
  } -> vector<24x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<24x32xf32>, memref<?x?xf32>
  tile.return
}
//--- fewer.expected
func.func private @element(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
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
  return %sum : f32
}
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant -1.0 : f32
  %three = arith.constant 3.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %most = scf.for %k = %c0 to %c32 step %c1 iter_args(%m = %least) -> (f32) {
    %x = func.call @element(%a, %b, %i, %k) : (memref<32x32xf32>, memref<32x32xf32>, index, index) -> f32
    %next = arith.maximumf %m, %x : f32
    scf.yield %next : f32
  }
  %own = func.call @element(%a, %b, %i, %j) : (memref<32x32xf32>, memref<32x32xf32>, index, index) -> f32
  %less = arith.subf %own, %most : f32
  %all = arith.mulf %less, %three : f32
  %place = arith.addi %i, %c3 : index
  %p32 = arith.index_cast %place : index to i32
  %p = arith.sitofp %p32 : i32 to f32
  %moved = arith.addf %all, %p : f32
  %isRow = arith.cmpi slt, %i, %c24 : index
  %result = arith.select %isRow, %moved, %none : f32
  return %result : f32
}

// Tiles wait in the order in which they were shared: three at most here, and as many are taken as
// are shared in each step of a loop and in each branch.

//--- queue.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  tile.share %t : vector<32x32xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %zero, %y = %t) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %more = tile.map tiles(%y : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %p: index, %q: index):
      %f = arith.addf %e, %e : f32
      tile.yield %f : f32
    } -> vector<32x32xf32>
    %isOdd = arith.cmpi eq, %i, %c1 : index
    tile.share %more : vector<32x32xf32>
    %sum = scf.if %isOdd -> (vector<32x32xf32>) {
      tile.share %t : vector<32x32xf32>
      %s = tile.take : !tile.shared<vector<32x32xf32>>
      %u = tile.take : !tile.shared<vector<32x32xf32>>
      %one = tile.mma %s, %k, %x left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
      %two = tile.mma %u, %k, %one left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
      scf.yield %two : vector<32x32xf32>
    } else {
      %s = tile.take : !tile.shared<vector<32x32xf32>>
      tile.share %t : vector<32x32xf32>
      %none = tile.take : !tile.shared<vector<32x32xf32>>
      %one = tile.mma %s, %k, %x left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
      scf.yield %one : vector<32x32xf32>
    }
    scf.yield %sum, %more : vector<32x32xf32>, vector<32x32xf32>
  }
  %last = tile.take : !tile.shared<vector<32x32xf32>>
  %all = tile.mma %last, %k, %r#0 left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %all, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- queue.expected
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
  %times = arith.constant 9.0 : f32
  %all = arith.mulf %sum, %times : f32
  return %all : f32
}

// Rows that hold nothing are computed where others read them, and so are tiles with as many rows that are others.

//--- live.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  tile.live_rows %c5
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %sum = tile.map tiles(%t : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %p: index, %q: index):
    %p32 = arith.index_cast %p : index to i32
    %f = arith.sitofp %p32 : i32 to f32
    %g = arith.addf %e, %f : f32
    tile.yield %g : f32
  } -> vector<32x32xf32>
  tile.share %sum : vector<32x32xf32>
  %s = tile.take : !tile.shared<vector<32x32xf32>>
  %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
  tile.store %r, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- live.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (f32) {
    %e = memref.load %a[%k, %i] : memref<32x32xf32>
    %k32 = arith.index_cast %k : index to i32
    %f = arith.sitofp %k32 : i32 to f32
    %x = arith.addf %e, %f : f32
    %y = memref.load %b[%k, %j] : memref<32x32xf32>
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %s, %product : f32
    scf.yield %next : f32
  }
  return %sum : f32
}

// A place that is written again while what reads it has not been computed: the reader comes first, whoever wants its result.

//--- late.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %k = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  tile.share %t : vector<32x32xf32>
  %s = tile.take : !tile.shared<vector<32x32xf32>>
  %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<32x32xf32>>, vector<32x32xf32>, vector<32x32xf32>
  tile.share %k : vector<32x32xf32>
  %d = tile.map tiles(%r : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %p: index, %q: index):
    %f = arith.addf %e, %e : f32
    tile.yield %f : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- late.expected
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
  %twice = arith.addf %sum, %sum : f32
  return %twice : f32
}
