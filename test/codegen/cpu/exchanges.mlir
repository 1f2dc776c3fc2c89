// What loops and branches carry from place to place, run on this machine: swaps, rotations, and values that others read as well.
// Each program's result is compared with plain loops, and no element may differ. Panels of 8 and of 16 rows.

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
// REDEFINE: %{name} = swapped
// RUN: %{run}
// REDEFINE: %{name} = rotated
// RUN: %{run}
// REDEFINE: %{name} = read
// RUN: %{run}
// REDEFINE: %{name} = branches
// RUN: %{run}
// REDEFINE: %{name} = inner
// RUN: %{run}
// REDEFINE: %{name} = vectors
// RUN: %{run}
// REDEFINE: %{name} = shifted
// RUN: %{run}
// REDEFINE: %{panel} = 16
// REDEFINE: %{name} = swapped
// RUN: %{run}
// REDEFINE: %{name} = rotated
// RUN: %{run}
// REDEFINE: %{name} = read
// RUN: %{run}
// REDEFINE: %{name} = branches
// RUN: %{run}
// REDEFINE: %{name} = inner
// RUN: %{run}
// REDEFINE: %{name} = vectors
// RUN: %{run}
// REDEFINE: %{name} = shifted
// RUN: %{run}

// Two tiles that change places three times.

//--- swapped.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %s, %y = %t) -> (vector<32x32xf32>, vector<32x32xf32>) {
    scf.yield %y, %x : vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1 : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    tile.yield %s1 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- swapped.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %by = arith.constant 64.0 : f32
  %f0 = arith.constant 1.0 : f32
  %t0 = arith.mulf %y, %f0 : f32
  %f1 = arith.constant 1.0 : f32
  %t1 = arith.mulf %x, %f1 : f32
  %m1 = arith.mulf %t0, %by : f32
  %s1 = arith.addf %m1, %t1 : f32
  return %s1 : f32
}

// Three that go round four times, of which one is doubled on its way.

//--- rotated.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %u = tile.map tiles(%s, %t : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e: f32, %f: f32, %p: index, %q: index):
    %g = arith.addf %e, %f : f32
    tile.yield %g : f32
  } -> vector<32x32xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %s, %y = %t, %z = %u)
      -> (vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>) {
    %w = tile.map tiles(%y : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %p: index, %q: index):
      %by = arith.constant 2.0 : f32
      %f = arith.mulf %e, %by : f32
      tile.yield %f : f32
    } -> vector<32x32xf32>
    scf.yield %w, %z, %x : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1, %r#2 : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    %m2 = arith.mulf %s1, %by : f32
    %s2 = arith.addf %m2, %e2 : f32
    tile.yield %s2 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- rotated.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %ofX = arith.constant 130.0 : f32
  %ofY = arith.constant 16512.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  return %w : f32
}

// Two that change places and are read by others, before and after: stored, added up, and looked at past the loop.

//--- read.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %s, %y = %t, %sum = %zero)
      -> (vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>) {
    tile.store %y, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
    %w = tile.map tiles(%x : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %p: index, %q: index):
      %by = arith.constant 2.0 : f32
      %f = arith.mulf %e, %by : f32
      tile.yield %f : f32
    } -> vector<32x32xf32>
    %more = tile.map tiles(%sum, %w, %y : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %f: f32, %g: f32, %p: index, %q: index):
      %h = arith.addf %e, %f : f32
      %k = arith.addf %h, %g : f32
      tile.yield %k : f32
    } -> vector<32x32xf32>
    scf.yield %y, %w, %more : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  }
  %last = tile.load %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %d = tile.map tiles(%r#0, %r#1, %r#2, %last : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>)
      rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    %m2 = arith.mulf %s1, %by : f32
    %s2 = arith.addf %m2, %e2 : f32
    %m3 = arith.mulf %s2, %by : f32
    %s3 = arith.addf %m3, %e3 : f32
    tile.yield %s3 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- read.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %ofX = arith.constant 16896.0 : f32
  %ofY = arith.constant 524610.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  return %w : f32
}

// Branches that swap, or only one of which does.

//--- branches.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %s, %y = %t) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %isFirst = arith.cmpi eq, %i, %c0 : index
    %q:2 = scf.if %isFirst -> (vector<32x32xf32>, vector<32x32xf32>) {
      scf.yield %y, %x : vector<32x32xf32>, vector<32x32xf32>
    } else {
      %w = tile.map tiles(%y : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
      ^bb0(%e: f32, %p: index, %q: index):
        %by = arith.constant 2.0 : f32
        %f = arith.mulf %e, %by : f32
        tile.yield %f : f32
      } -> vector<32x32xf32>
      scf.yield %w, %x : vector<32x32xf32>, vector<32x32xf32>
    }
    scf.yield %q#0, %q#1 : vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1 : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    tile.yield %s1 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- branches.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %ofX = arith.constant 256.0 : f32
  %ofY = arith.constant 2.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  return %w : f32
}

// A loop that works in the place of what it starts from, whose result ends elsewhere.

//--- inner.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %s, %y = %t) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %u = scf.for %k = %c0 to %i step %c1 iter_args(%z = %x) -> (vector<32x32xf32>) {
      %w = tile.map tiles(%z : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
      ^bb0(%e: f32, %p: index, %q: index):
        %by = arith.constant 2.0 : f32
        %f = arith.mulf %e, %by : f32
        tile.yield %f : f32
      } -> vector<32x32xf32>
      scf.yield %w : vector<32x32xf32>
    }
    %v = tile.map tiles(%y : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %p: index, %q: index):
      %by = arith.constant 3.0 : f32
      %f = arith.mulf %e, %by : f32
      tile.yield %f : f32
    } -> vector<32x32xf32>
    scf.yield %v, %u : vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1 : vector<32x32xf32>, vector<32x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    tile.yield %s1 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- inner.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %ofX = arith.constant 12.0 : f32
  %ofY = arith.constant 1152.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  return %w : f32
}

// Numbers of rows that change places with each step, and conditions.

//--- vectors.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %l = tile.load %a[%c0, %c0] axes [0] below(%c32) : memref<?x?xf32> -> vector<32xf32>
  %m = tile.load %b[%c0, %c0] axes [0] below(%c32) : memref<?x?xf32> -> vector<32xf32>
  %isLess = arith.cmpf olt, %l, %m : vector<32xf32>
  %isMore = arith.cmpf ogt, %l, %m : vector<32xf32>
  %r:4 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %l, %y = %m, %less = %isLess, %more = %isMore)
      -> (vector<32xf32>, vector<32xf32>, vector<32xi1>, vector<32xi1>) {
    %w = arith.addf %x, %y : vector<32xf32>
    scf.yield %w, %x, %more, %less : vector<32xf32>, vector<32xf32>, vector<32xi1>, vector<32xi1>
  }
  %d = tile.map tiles(%zero : vector<32x32xf32>)
      rows(%r#0, %r#1, %r#2, %r#3 : vector<32xf32>, vector<32xf32>, vector<32xi1>, vector<32xi1>) cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %x: f32, %y: f32, %less: i1, %more: i1, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %one = arith.constant 1.0 : f32
    %none = arith.constant 0.0 : f32
    %high = arith.mulf %x, %by : f32
    %both = arith.addf %high, %y : f32
    %third = arith.select %less, %one, %none : f32
    %fourth = arith.select %more, %one, %none : f32
    %shifted = arith.mulf %both, %by : f32
    %three = arith.addf %shifted, %third : f32
    %again = arith.mulf %three, %by : f32
    %all = arith.addf %again, %fourth : f32
    tile.yield %all : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- vectors.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%i, %c0] : memref<32x32xf32>
  %y = memref.load %b[%i, %c0] : memref<32x32xf32>
  %ofX = arith.constant 794624.0 : f32
  %ofY = arith.constant 528384.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  // After three steps what was less says more.
  %one = arith.constant 1.0 : f32
  %by = arith.constant 64.0 : f32
  %none = arith.constant 0.0 : f32
  %isLess = arith.cmpf olt, %x, %y : f32
  %isMore = arith.cmpf ogt, %x, %y : f32
  %fourth = arith.select %isLess, %one, %none : f32
  %third = arith.select %isMore, %by, %none : f32
  %some = arith.addf %w, %third : f32
  %all = arith.addf %some, %fourth : f32
  return %all : f32
}

// What was there a step and two steps before, and what comes from outside of the loop each time.

//--- shifted.mlir
tile.program @program(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 32, panel = PANEL} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %s = tile.load %a[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %t = tile.load %b[%c0, %c0] axes [0, 1] below(%c32, %c32) : memref<?x?xf32> -> vector<32x32xf32>
  %r:4 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %s, %y = %zero, %z = %zero, %w = %s)
      -> (vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>) {
    %v = tile.map tiles(%x : vector<32x32xf32>) rows() cols() at(%c0, %c0) {
    ^bb0(%e: f32, %p: index, %q: index):
      %by = arith.constant 2.0 : f32
      %f = arith.mulf %e, %by : f32
      tile.yield %f : f32
    } -> vector<32x32xf32>
    scf.yield %v, %x, %y, %t : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  }
  %d = tile.map tiles(%r#0, %r#1, %r#2, %r#3 : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>)
      rows() cols() at(%c0, %c0) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32, %p: index, %q: index):
    %by = arith.constant 64.0 : f32
    %m1 = arith.mulf %e0, %by : f32
    %s1 = arith.addf %m1, %e1 : f32
    %m2 = arith.mulf %s1, %by : f32
    %s2 = arith.addf %m2, %e2 : f32
    %m3 = arith.mulf %s2, %by : f32
    %s3 = arith.addf %m3, %e3 : f32
    tile.yield %s3 : f32
  } -> vector<32x32xf32>
  tile.store %d, %o[%c0, %c0] axes [0, 1] below(%c32, %c32) : vector<32x32xf32>, memref<?x?xf32>
  tile.return
}
//--- shifted.expected
func.func private @expected(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %i: index, %j: index) -> f32 {
  %x = memref.load %a[%i, %j] : memref<32x32xf32>
  %y = memref.load %b[%i, %j] : memref<32x32xf32>
  %ofX = arith.constant 4227328.0 : f32
  %ofY = arith.constant 1.0 : f32
  %u = arith.mulf %x, %ofX : f32
  %v = arith.mulf %y, %ofY : f32
  %w = arith.addf %u, %v : f32
  return %w : f32
}
