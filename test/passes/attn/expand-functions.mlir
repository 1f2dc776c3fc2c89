// Functions that not all targets have become arithmetic; those that they have stay.
// RUN: attnc-opt %s --attn-expand-functions | FileCheck %s

!t = tensor<1x4x1x8xf32>

// CHECK-LABEL: func @clamps
// CHECK: %[[RAISED:.*]] = arith.maximumf %[[S:.*]], %{{.*}} : f32
// CHECK: %[[CUT:.*]] = arith.minimumf %[[RAISED]], %{{.*}} : f32
// CHECK: %[[E:.*]] = math.exp %[[CUT]] : f32
// CHECK: math.tanh %[[E]] : f32
func.func @clamps(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %low = arith.constant -2.0 : f32
      %high = arith.constant 2.0 : f32
      %c = math.clampf %s to [%low, %high] : f32
      %e = math.exp %c : f32
      %t = math.tanh %e : f32
      attn.yield %t : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// Angles are reduced in f64. Narrow floats are computed in f32.
// CHECK-LABEL: func @angles
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: math.fma %{{.*}} : f64
// CHECK-NOT: math.sin
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: attn.yield
func.func @angles(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %n = arith.truncf %s : f32 to bf16
      %c = math.sin %n : bf16
      %w = arith.extf %c : bf16 to f32
      attn.yield %w : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// Numbers made of integers are never below the normal ones.
// CHECK-LABEL: func @logarithms
// CHECK: %[[D:.*]] = arith.sitofp
// CHECK-NEXT: math.log %[[D]] : f32
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[S:.*]], %{{.*}} : f32
// CHECK: %[[UP:.*]] = arith.mulf
// CHECK: %[[SCALED:.*]] = arith.select %[[SMALL]], %[[UP]], %[[S]] : f32
// CHECK: %[[LOG:.*]] = math.log2 %[[SCALED]] : f32
// CHECK: %[[LESS:.*]] = arith.subf %[[LOG]]
// CHECK: arith.select %[[SMALL]], %[[LESS]], %[[LOG]] : f32
func.func @logarithms(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %n = arith.index_cast %j : index to i32
      %d = arith.sitofp %n : i32 to f32
      %a = math.log %d : f32
      %c = math.log2 %s : f32
      %y = arith.addf %a, %c : f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// The flag for approximations, in the score region, where inputs have 16 bits; tanh's shows in an LSE.
!h = tensor<1x4x1x8xbf16>

// CHECK-LABEL: func @approximated
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// CHECK: math.tanh %{{.*}} fastmath<afn> : f32
// CHECK: math.exp %{{[^ ]*}} : f32
// CHECK-LABEL: func @with_lse
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// CHECK: math.tanh %{{[^ ]*}} {attn.error_of_one = 1.000000e+00 : f64} : f32
// CHECK-LABEL: func @capped
// CHECK: math.tanh %{{[^ ]*}} {attn.error_of_one = 5.000000e+01 : f64} : f32
// CHECK: math.tanh %{{[^ ]*}} : f32
// CHECK-LABEL: func @of_f32
// CHECK: math.exp %{{[^ ]*}} : f32
func.func @approximated(%q: !h, %k: !h, %v: !h, %x: f32) -> !h {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %e = math.exp %s : f32
      %t = math.tanh %e : f32
      attn.yield %t : f32
    } mask (%b, %h, %i, %j) {
      %e = math.exp %x : f32
      %keep = arith.cmpf olt, %e, %x : f32
      attn.yield %keep : i1
    } : (!h, !h, !h) -> !h
  return %o : !h
}

func.func @with_lse(%q: !h, %k: !h, %v: !h) -> (!h, tensor<1x1x4xf32>) {
  %o, %lse = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %e = math.exp %s : f32
      %t = math.tanh %e : f32
      attn.yield %t : f32
    } : (!h, !h, !h) -> (!h, tensor<1x1x4xf32>)
  return %o, %lse : !h, tensor<1x1x4xf32>
}

// Its error may be one of 1 under a cap that does not make much of it. The second tanh's is shown by a quotient.
func.func @capped(%q: !h, %k: !h, %v: !h) -> (!h, tensor<1x1x4xf32>) {
  %o, %lse = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %c = arith.constant 50.0 : f32
      %t = math.tanh %s : f32
      %x = arith.mulf %c, %t : f32
      %y = arith.addf %x, %c : f32
      %u = math.tanh %s : f32
      %z = arith.divf %s, %u : f32
      %w = arith.addf %y, %z : f32
      attn.yield %w : f32
    } : (!h, !h, !h) -> (!h, tensor<1x1x4xf32>)
  return %o, %lse : !h, tensor<1x1x4xf32>
}

func.func @of_f32(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %e = math.exp %s : f32
      attn.yield %e : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}
