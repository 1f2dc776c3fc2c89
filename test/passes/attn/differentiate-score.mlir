// RUN: attnc-opt %s --attn-expand --attn-differentiate-score --canonicalize --cse -split-input-file | FileCheck %s

// Reverse mode through score regions. That the numbers are right is held against the reference by the conformance grid.

// A soft cap: 1 - tanh^2 of what tanh gave.

// CHECK-LABEL: func.func @softcap(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = arith.mulf %[[S]], %[[INVERSE:.*]] : f32
// CHECK-NEXT: %[[T:[a-z0-9_]+]] = math.tanh %[[X]] : f32
// CHECK-NEXT: %[[D:[a-z0-9_]+]] = arith.mulf %[[DS]], %[[CAP:.*]] : f32
// CHECK-NEXT: %[[TT:[a-z0-9_]+]] = arith.mulf %[[T]], %[[T]] : f32
// CHECK-NEXT: %[[SLOPE:[a-z0-9_]+]] = arith.subf %{{.*}}, %[[TT]] : f32
// CHECK-NEXT: %[[DX:[a-z0-9_]+]] = arith.mulf %[[D]], %[[SLOPE]] : f32
// CHECK-NEXT: %[[R:[a-z0-9_]+]] = arith.mulf %[[DX]], %[[INVERSE]] : f32
// CHECK-NEXT: attn.yield %[[R]] : f32
func.func @softcap(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                   %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> tensor<?x?x4x16xf32> {
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 30.0
      attn.yield %c : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
  return %d#0 : tensor<?x?x4x16xf32>
}

// -----

// What does not depend on the logit has no derivative, and costs nothing: a bias and ALiBi leave the gradient as it is,
// and the kernel without a region.

// CHECK-LABEL: func.func @sums(
// CHECK-NOT: derivative
// CHECK: return
func.func @sums(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>,
                %bias: tensor<?x?xf32>, %slopes: tensor<4xf32>) -> tensor<?x?x4x16xf32> {
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%i, %j] : tensor<?x?xf32>
      %y = attn.alibi %x, %slopes[%h], %i, %j : tensor<4xf32>
      attn.yield %y : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
  return %d#0 : tensor<?x?x4x16xf32>
}

// -----

// A value that is used twice adds up its gradients; a choice hands its gradient to what it took, and a maximum that ties
// to its first operand. What was not chosen has a gradient of 0, whatever the slope is there. Narrow floats have
// gradients of f32.

// CHECK-LABEL: func.func @choices(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[N:[a-z0-9_]+]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT: %[[NN:[a-z0-9_]+]] = arith.mulf %[[N]], %[[N]] : bf16
// CHECK-NEXT: %[[W:[a-z0-9_]+]] = arith.extf %[[NN]] : bf16 to f32
// CHECK-NEXT: %[[M:[a-z0-9_]+]] = arith.maximumf %[[W]], %[[S]] : f32
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT: %[[DM:[a-z0-9_]+]] = arith.select %[[C]], %[[DS]], %[[ZERO:.*]] : f32
// CHECK-NEXT: %[[DS2:[a-z0-9_]+]] = arith.select %[[C]], %[[ZERO]], %[[DS]] : f32
// CHECK-NEXT: %[[TOOK:[a-z0-9_]+]] = arith.cmpf oeq, %[[M]], %[[W]] : f32
// CHECK-NEXT: %[[DW:[a-z0-9_]+]] = arith.select %[[TOOK]], %[[DM]], %[[ZERO]] : f32
// CHECK-NEXT: %[[DS3:[a-z0-9_]+]] = arith.select %[[TOOK]], %[[ZERO]], %[[DM]] : f32
// CHECK-NEXT: %[[SUM:[a-z0-9_]+]] = arith.addf %[[DS2]], %[[DS3]] : f32
// CHECK-NEXT: %[[WIDE:[a-z0-9_]+]] = arith.extf %[[N]] : bf16 to f32
// CHECK-NEXT: %[[A:[a-z0-9_]+]] = arith.mulf %[[DW]], %[[WIDE]] : f32
// CHECK-NEXT: %[[NONE:[a-z0-9_]+]] = arith.cmpf oeq, %[[DW]], %[[ZERO]] : f32
// CHECK-NEXT: %[[G:[a-z0-9_]+]] = arith.select %[[NONE]], %[[ZERO]], %[[A]] : f32
// CHECK-NEXT: %[[DN:[a-z0-9_]+]] = arith.addf %[[G]], %[[G]] : f32
// CHECK-NEXT: %[[R:[a-z0-9_]+]] = arith.addf %[[SUM]], %[[DN]] : f32
// CHECK-NEXT: attn.yield %[[R]] : f32
func.func @choices(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                   %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> tensor<?x?x4x16xf32> {
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    score (%s, %b, %h, %i, %j) {
      %n = arith.truncf %s : f32 to bf16
      %nn = arith.mulf %n, %n : bf16
      %w = arith.extf %nn : bf16 to f32
      %m = arith.maximumf %w, %s : f32
      %c = arith.cmpi sle, %j, %i : index
      %x = arith.select %c, %m, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
  return %d#0 : tensor<?x?x4x16xf32>
}

// -----

// A sigmoid: where its exponential is infinite, its slope is 0, and that of the exponential does not count. A slope that
// is constant needs no such care.

// CHECK-LABEL: func.func @sigmoid(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[N:[a-z0-9_]+]] = arith.negf %[[S]] : f32
// CHECK-NEXT: %[[E:[a-z0-9_]+]] = math.exp %[[N]] : f32
// CHECK-NEXT: %[[T:[a-z0-9_]+]] = arith.addf %[[E]], %[[ONE:.*]] : f32
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = arith.divf %[[ONE]], %[[T]] : f32
// One reciprocal serves the quotient and its derivative.
// CHECK-NOT: arith.divf
// CHECK: %[[D:[a-z0-9_]+]] = arith.mulf %[[DS]], %{{.*}} : f32
// CHECK-NEXT: %[[DE:[a-z0-9_]+]] = arith.mulf %[[D]], %[[E]] : f32
// CHECK-NEXT: %[[NONE:[a-z0-9_]+]] = arith.cmpf oeq, %[[D]], %[[ZERO:.*]] : f32
// CHECK-NEXT: %[[G:[a-z0-9_]+]] = arith.select %[[NONE]], %[[ZERO]], %[[DE]] : f32
// CHECK-NEXT: %[[R:[a-z0-9_]+]] = arith.mulf %[[G]], %{{.*}} : f32
// CHECK-NEXT: attn.yield %[[R]] : f32
func.func @sigmoid(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                   %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> tensor<?x?x4x16xf32> {
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    score (%s, %b, %h, %i, %j) {
      %one = arith.constant 1.0 : f32
      %n = arith.negf %s : f32
      %e = math.exp %n : f32
      %t = arith.addf %e, %one : f32
      %x = arith.divf %one, %t : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
  return %d#0 : tensor<?x?x4x16xf32>
}

// -----

// The gradients of what the score reads of captured tensors: one for each, the sum over its loads. ALiBi's slope counts the
// distance; what a bias adds has the gradient of the score.

// CHECK-LABEL: func.func @captured(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK: %[[DISTANCE:[a-z0-9_]+]] = math.absi
// CHECK: %[[FACTOR:[a-z0-9_]+]] = arith.sitofp
// CHECK: %[[NEGATIVE:[a-z0-9_]+]] = arith.mulf %[[DS]], %{{.*}} : f32
// CHECK: %[[DSLOPE:[a-z0-9_]+]] = arith.mulf %[[NEGATIVE]], %[[FACTOR]] : f32
// CHECK: %[[TWICE:[a-z0-9_]+]] = arith.addf %[[DS]], %[[DS]] : f32
// CHECK: attn.yield %[[DS]], %{{[a-z0-9_]+}}, %[[TWICE]] : f32, f32, f32
func.func @captured(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                    %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>,
                    %bias: tensor<?xf32>, %slopes: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %d:5 = attn.backward %q, %k, %v, %o, %lse, %do captured(%slopes[h] : tensor<4xf32>, %bias[j] : tensor<?xf32>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%j] : tensor<?xf32>
      %y = attn.alibi %x, %slopes[%h], %i, %j : tensor<4xf32>
      %z = attn.bias %y, %bias[%j] : tensor<?xf32>
      attn.yield %z : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4xf32>, tensor<?xf32>)
  return %d#3, %d#4 : tensor<4xf32>, tensor<?xf32>
}

// -----

// Of a small table by a computed index, that index follows, clamped as the load clamps it.

// CHECK-LABEL: func.func @table(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK: %[[D:[a-z0-9_]+]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[LOW:[a-z0-9_]+]] = arith.minsi %[[D]], %c31
// CHECK: %[[HIGH:[a-z0-9_]+]] = arith.maxsi %[[LOW]], %c0
// CHECK: %[[WORD:[a-z0-9_]+]] = arith.index_cast %[[HIGH]] : index to i32
// CHECK: %[[BUCKET:[a-z0-9_]+]] = arith.sitofp %[[WORD]] : i32 to f32
// CHECK: attn.yield %[[DS]], %[[DS]], %[[BUCKET]] : f32, f32, f32
func.func @table(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                 %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>,
                 %table: tensor<32x4xf32>) -> tensor<32x4xf32> attributes {attn.deterministic} {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do captured(%table[n, h] : tensor<32x4xf32>)
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %table[%d, %h] : tensor<32x4xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<32x4xf32>)
  return %d#3 : tensor<32x4xf32>
}

// -----

// Of a tensor that is read in ways which give its elements no rows, for each read its gradient and its computed indices. Two
// reads that are one by now have one gradient: the second is 0.

// CHECK-LABEL: func.func @scattered(
// CHECK: derivative (%[[DS:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK: %[[D:[a-z0-9_]+]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[TWICE:[a-z0-9_]+]] = arith.addf %[[DS]], %[[DS]]
// CHECK: %[[LOW:[a-z0-9_]+]] = arith.minsi %[[D]], %c2147483647
// CHECK: %[[HIGH:[a-z0-9_]+]] = arith.maxsi %[[LOW]], %c0
// CHECK: %[[PLACE:[a-z0-9_]+]] = arith.index_cast %[[HIGH]] : index to i32
// CHECK: attn.yield %[[DS]], %[[TWICE]], %[[PLACE]], %cst, %c0_i32, %[[DS]] : f32, f32, i32, f32, i32, f32
func.func @scattered(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                     %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>,
                     %table: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do captured(%table[n, i][n, i][h, i] : tensor<?x?xf32>)
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %l = attn.load %table[%d, %i] : tensor<?x?xf32>
      %w = arith.addf %l, %l : f32
      %m = arith.addf %s, %w : f32
      %x = attn.bias %m, %table[%h, %i] : tensor<?x?xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?xf32>)
  return %d#3 : tensor<?x?xf32>
}
