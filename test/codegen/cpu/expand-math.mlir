// RUN: attnc-opt %s --cpu-expand-math --cse -o %t
// RUN: FileCheck %s --input-file %t
// RUN: %python %S/Inputs/check_exponentials.py %t

// Exponentials of f32 vectors are fused polynomials; the script evaluates them in f32 and holds them against the truth.

// CHECK-LABEL: func.func @exp2(
// CHECK-SAME: %[[X:[a-z0-9]+]]: vector<8xf32>
// CHECK-DAG: %[[SHIFTER:.*]] = arith.constant dense<0x4B40007E> : vector<8xf32>
// CHECK-DAG: %[[BOTTOM:.*]] = arith.constant dense<-1.260000e+02> : vector<8xf32>
// CHECK-DAG: %[[TOP:.*]] = arith.constant dense<1.280000e+02> : vector<8xf32>
// CHECK: %[[SMALL:.*]] = arith.cmpf ogt, %[[BOTTOM]], %[[X]]
// CHECK: %[[RAISED:.*]] = arith.select %[[SMALL]], %[[BOTTOM]], %[[X]]
// CHECK: %[[BIG:.*]] = arith.cmpf olt, %[[TOP]], %[[RAISED]]
// CHECK: %[[CLAMPED:.*]] = arith.select %[[BIG]], %[[TOP]], %[[RAISED]]
// CHECK: %[[N:.*]] = arith.addf %[[CLAMPED]], %[[SHIFTER]]
// CHECK: %[[WHOLE:.*]] = arith.subf %[[N]], %[[SHIFTER]]
// CHECK: %[[F:.*]] = arith.subf %[[CLAMPED]], %[[WHOLE]]
// CHECK: arith.mulf %[[F]], %[[F]]
// CHECK-COUNT-6: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.bitcast %[[N]] : vector<8xf32> to vector<8xi32>
// CHECK: arith.shli
// CHECK: arith.mulf
// CHECK-NEXT: return
func.func @exp2(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp2 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// Two more: one to round to a multiple of ln 2, one to take it off.

// CHECK-LABEL: func.func @exp(
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.
// CHECK: return
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// A constant factor of the argument goes into the constants, if it is positive and not too far from 1.

// CHECK-LABEL: func.func @exp_of_product(
// CHECK-NOT: arith.mulf %arg0
// CHECK: %[[SMALL:.*]] = arith.cmpf ogt, %{{.*}}, %arg0
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.
// CHECK: return
func.func @exp_of_product(%x: vector<8xf32>) -> vector<8xf32> {
  %scale = arith.constant dense<0.0883883461> : vector<8xf32>
  %z = arith.mulf %x, %scale : vector<8xf32>
  %y = math.exp %z : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @exp_of_negative(
// CHECK: arith.mulf %arg0
// CHECK: return
func.func @exp_of_negative(%x: vector<8xf32>) -> vector<8xf32> {
  %scale = arith.constant dense<-0.5> : vector<8xf32>
  %z = arith.mulf %x, %scale : vector<8xf32>
  %y = math.exp %z : vector<8xf32>
  return %y : vector<8xf32>
}

// What cannot be positive needs no upper limit.

// CHECK-LABEL: func.func @exp_of_nonpositive(
// CHECK: arith.cmpf ogt
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @exp_of_nonpositive(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x {tile.nonpositive} : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @exp2_of_nonpositive(
// CHECK: arith.cmpf ogt
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @exp2_of_nonpositive(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp2 %x {tile.nonpositive} : vector<8xf32>
  return %y : vector<8xf32>
}

// Logarithm and hyperbolic tangent: MLIR's own approximations.

// CHECK-LABEL: func.func @others(
// CHECK-NOT: math.log
// CHECK-NOT: math.tanh
// CHECK: return
func.func @others(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.log %x : vector<8xf32>
  %z = math.tanh %y : vector<8xf32>
  return %z : vector<8xf32>
}
