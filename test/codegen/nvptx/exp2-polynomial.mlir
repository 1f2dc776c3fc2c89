// Powers of 2 on multiply-add units, run on this machine: their greatest relative error over exponents from -120 to 40,
// in steps of 1/512, is below 4e-6; and what is far below is 0.

// RUN: attnc-opt %s --nvptx-expand-math \
// RUN:   | mlir-opt --convert-scf-to-cf --convert-math-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm \
// RUN:       --convert-func-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// CHECK: {{^0$}}

func.func @power(%x: f32) -> f32 {
  %y = math.exp2 %x {attnc.multiply_add} : f32
  return %y : f32
}

func.func @main() -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 81920 : index
  %step = arith.constant 0.001953125 : f32
  %least = arith.constant -120.0 : f32
  %limit = arith.constant 4.0e-6 : f64
  %good = arith.constant 0 : i32
  %bad = arith.constant 1 : i32
  %found = scf.for %i = %zero to %steps step %one iter_args(%worst = %good) -> i32 {
    %n = arith.index_cast %i : index to i32
    %m = arith.sitofp %n : i32 to f32
    %d = arith.mulf %m, %step : f32
    %x = arith.addf %d, %least : f32
    %y = func.call @power(%x) : (f32) -> f32
    %wide = arith.extf %x : f32 to f64
    %exact = llvm.intr.exp2(%wide) : (f64) -> f64
    %got = arith.extf %y : f32 to f64
    %difference = arith.subf %got, %exact : f64
    %error = arith.divf %difference, %exact : f64
    %size = llvm.intr.fabs(%error) : (f64) -> f64
    // Not a number is wrong as well.
    %right = arith.cmpf ole, %size, %limit : f64
    %next = arith.select %right, %worst, %bad : i32
    scf.yield %next : i32
  }
  %low = arith.constant -1.0e6 : f32
  %nothing = func.call @power(%low) : (f32) -> f32
  %none = arith.constant 0.0 : f32
  %isNothing = arith.cmpf oeq, %nothing, %none : f32
  %all = arith.select %isNothing, %found, %bad : i32
  return %all : i32
}
