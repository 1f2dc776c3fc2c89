// RUN: attnc-opt %s --canonicalize -split-input-file | FileCheck %s

// Each fold, and beside it the case where it must not fire.

// -----

// S4: an infinite cap changes no finite logit; the score region that is left says nothing and goes.

// CHECK-LABEL: func.func @infinite_cap(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @infinite_cap(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 0x7F800000
      attn.yield %c : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// CHECK-LABEL: func.func @infinite_cap_constant(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @infinite_cap_constant(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  %inf = arith.constant 0x7F800000 : f32
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, %inf
      attn.yield %c : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// S4: a constant cap becomes a literal; an argument stays, and so does a finite literal.

// CHECK-LABEL: func.func @constant_cap(
// CHECK-SAME: %[[CAP:[a-z0-9]+]]: f32)
// CHECK-NOT: arith.constant
// CHECK: score (%[[S:[a-z0-9_]+]],
// CHECK-NEXT: %[[A:.*]] = attn.softcap %[[S]], 3.000000e+01{{$}}
// CHECK-NEXT: %[[B:.*]] = attn.softcap %[[A]], %[[CAP]]{{$}}
// CHECK-NEXT: %[[C:.*]] = attn.softcap %[[B]], 5.000000e+01{{$}}
// CHECK-NEXT: attn.yield %[[C]]
func.func @constant_cap(%q: tensor<?x?x4x16xf32>, %cap: f32) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %thirty = arith.constant 30.0 : f32
      %x = attn.softcap %s, %thirty
      %y = attn.softcap %x, %cap
      %z = attn.softcap %y, 50.0
      attn.yield %z : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// S5: a window without sides keeps everything, and the mask region goes.

// CHECK-LABEL: func.func @open_window(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @open_window(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j
      attn.yield %w : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// S5: constant sides become literals, each for itself; arguments stay.

// CHECK-LABEL: func.func @window_sides(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index)
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(5) right(0)
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(5) right(%[[N]])
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(%[[N]]) right(5)
func.func @window_sides(%q: tensor<?x?x4x16xf32>, %n: index) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %five = arith.constant 5 : index
      %zero = arith.constant 0 : index
      %w0 = attn.window %i, %j left(%five) right(%zero)
      %w1 = attn.window %i, %j left(%five) right(%n)
      %w2 = attn.window %i, %j left(%n) right(%five)
      %a = arith.andi %w0, %w1 : i1
      %c = arith.andi %a, %w2 : i1
      attn.yield %c : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// S5: Sq = 6, Sk = 9, bottom_right: queries stand at 3 to 8, keys at 0 to 8. A left side of 8 and a right side of 5 reach
// every key; one less does not.

// CHECK-LABEL: func.func @wide_bottom_right(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @wide_bottom_right(%q: tensor<2x6x4x16xf32>, %k: tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32> {
  %o = attn.forward %q, %k, %k
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(5)
      attn.yield %w : i1
    }
    : (tensor<2x6x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32>
  return %o : tensor<2x6x4x16xf32>
}

// CHECK-LABEL: func.func @wide_left_only(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} right(4)
func.func @wide_left_only(%q: tensor<2x6x4x16xf32>, %k: tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32> {
  %o = attn.forward %q, %k, %k
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(4)
      attn.yield %w : i1
    }
    : (tensor<2x6x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32>
  return %o : tensor<2x6x4x16xf32>
}

// CHECK-LABEL: func.func @wide_right_only(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(7){{$}}
func.func @wide_right_only(%q: tensor<2x6x4x16xf32>, %k: tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32> {
  %o = attn.forward %q, %k, %k
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(7) right(5)
      attn.yield %w : i1
    }
    : (tensor<2x6x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32>
  return %o : tensor<2x6x4x16xf32>
}

// S2, S5: top_left: queries stand at 0 to 5. A left side of 5 and a right side of 8 reach every key; one less does not.

// CHECK-LABEL: func.func @wide_top_left(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} align(top_left) :
func.func @wide_top_left(%q: tensor<2x6x4x16xf32>, %k: tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32> {
  %o = attn.forward %q, %k, %k align(top_left)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(5) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x6x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32>
  return %o : tensor<2x6x4x16xf32>
}

// CHECK-LABEL: func.func @narrow_top_left(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(4) right(7)
func.func @narrow_top_left(%q: tensor<2x6x4x16xf32>, %k: tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32> {
  %o = attn.forward %q, %k, %k align(top_left)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(4) right(7)
      attn.yield %w : i1
    }
    : (tensor<2x6x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x6x4x16xf32>
  return %o : tensor<2x6x4x16xf32>
}

// More queries than keys, bottom_right: Sq = 9, Sk = 6, queries at -3 to 5. The first query is 8 before the last key.

// CHECK-LABEL: func.func @more_queries(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} right(7)
func.func @more_queries(%q: tensor<2x9x4x16xf32>, %k: tensor<2x6x4x16xf32>) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %k, %k
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(5) right(7)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x6x4x16xf32>, tensor<2x6x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// A run-time offset, run-time lengths or a dynamic size may move queries anywhere; other values than the coordinates are
// anything. None of these windows goes.

// CHECK-LABEL: func.func @wide_with_offset(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_with_offset(%q: tensor<2x9x4x16xf32>, %n: index) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %q, %q q_offset(%n)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// CHECK-LABEL: func.func @wide_with_lengths(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_with_lengths(%q: tensor<2x9x4x16xf32>, %n: tensor<2xi32>) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %q, %q lengths(query = %n : tensor<2xi32>)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// CHECK-LABEL: func.func @wide_with_key_lengths(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_with_key_lengths(%q: tensor<2x9x4x16xf32>, %n: tensor<2xi32>) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %q, %q lengths(key = %n : tensor<2xi32>)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// CHECK-LABEL: func.func @wide_but_packed(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_but_packed(%q: tensor<9x4x16xf32>, %n: tensor<3xi32>) -> tensor<9x4x16xf32> {
  %o = attn.forward %q, %q, %q varlen(query = %n : tensor<3xi32>, key = %n : tensor<3xi32>)
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(8)
      attn.yield %w : i1
    }
    : (tensor<9x4x16xf32>, tensor<9x4x16xf32>, tensor<9x4x16xf32>) -> tensor<9x4x16xf32>
  return %o : tensor<9x4x16xf32>
}

// CHECK-LABEL: func.func @wide_but_dynamic(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_but_dynamic(%q: tensor<2x9x4x16xf32>, %k: tensor<2x?x4x16xf32>) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %k, %k
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(8) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// CHECK-LABEL: func.func @wide_of_computed(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(8) right(8)
// CHECK: attn.window %[[J:[a-z0-9_]+]], %{{[a-z0-9_]+}} left(8) right(8)
func.func @wide_of_computed(%q: tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %two = arith.constant 2 : index
      %twice = arith.muli %i, %two : index
      %w0 = attn.window %twice, %j left(8) right(8)
      %w1 = attn.window %j, %i left(8) right(8)
      %w = arith.andi %w0, %w1 : i1
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// A run-time side is no literal; the wide literal beside it goes.

// CHECK-LABEL: func.func @wide_beside_value(
// CHECK: attn.window %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} left(%{{[a-z0-9]+}}){{$}}
func.func @wide_beside_value(%q: tensor<2x9x4x16xf32>, %n: index) -> tensor<2x9x4x16xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %w = attn.window %i, %j left(%n) right(8)
      attn.yield %w : i1
    }
    : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  return %o : tensor<2x9x4x16xf32>
}

// -----

// S1, S9: a constant scale and a constant probability become literals.

// CHECK-LABEL: func.func @constant_clauses(
// CHECK-NOT: arith.constant
// CHECK: attn.forward {{.*}} scale(5.000000e-01) dropout(2.500000e-01, %{{[a-z0-9]+}}) :
// CHECK: attn.weights {{.*}} scale(5.000000e-01) dropout(2.500000e-01, %{{[a-z0-9]+}}) :
func.func @constant_clauses(%q: tensor<?x?x4x16xf32>, %seed: i64) -> (tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>) {
  %scale = arith.constant 0.5 : f32
  %p = arith.constant 0.25 : f32
  %o = attn.forward %q, %q, %q scale(%scale) dropout(%p, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %w = attn.weights %q, %q scale(%scale) dropout(%p, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %o, %w : tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>
}

// S18: constants that would be errors as literals stay, and are errors at launch.

// CHECK-LABEL: func.func @zero_dropout(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK: attn.weights %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @zero_dropout(%q: tensor<?x?x4x16xf32>, %seed: i64)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %o = attn.forward %q, %q, %q dropout(0.0, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %x = attn.forward %q, %q, %q dropout(%zero, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %w = attn.weights %q, %q dropout(0.0, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %o, %x, %w : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>
}

// CHECK-LABEL: func.func @kept_dropout(
// CHECK-SAME: %[[P:[a-z0-9]+]]: f32, %[[SEED:[a-z0-9]+]]: i64
// CHECK: attn.forward {{.*}} dropout(%[[P]], %[[SEED]]) :
// CHECK: attn.forward {{.*}} dropout(1.000000e+00, %[[SEED]]) :
func.func @kept_dropout(%q: tensor<?x?x4x16xf32>, %p: f32, %seed: i64)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) {
  %o = attn.forward %q, %q, %q dropout(%p, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %x = attn.forward %q, %q, %q dropout(1.0, %seed)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o, %x : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>
}

// -----

// S2, S3: regions that change nothing go, each for itself.

// CHECK-LABEL: func.func @identity_regions(
// CHECK: attn.forward %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK: attn.weights %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
func.func @identity_regions(%q: tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>) {
  %true = arith.constant true
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      attn.yield %s : f32
    }
    mask (%b, %h, %i, %j) {
      attn.yield %true : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %w = attn.weights %q, %q
    mask (%b, %h, %i, %j) {
      %keep = arith.cmpi eq, %i, %i : index
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %o, %w : tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>
}

// CHECK-LABEL: func.func @one_identity_region(
// CHECK: attn.forward
// CHECK-NOT: score
// CHECK: mask (
// CHECK-NEXT: attn.causal
func.func @one_identity_region(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      attn.yield %s : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// S2, S3: a score region that yields another f32, and a mask region that drops everything or leaves it to the launch,
// stay.

// CHECK-LABEL: func.func @no_identity(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[KEEP:[a-z0-9]+]]: i1)
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: score (
// CHECK-NEXT: attn.yield %[[X]] : f32
// CHECK: mask (
// CHECK-NEXT: attn.yield %[[FALSE]] : i1
// CHECK: attn.forward
// CHECK: mask (
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @no_identity(%q: tensor<?x?x4x16xf32>, %x: f32, %keep: i1)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) {
  %false = arith.constant false
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      attn.yield %false : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %p = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o, %p : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>
}

// -----

// All operations are pure: what is not used goes, a kernel whose results nobody wants included.

// CHECK-LABEL: func.func @dead(
// CHECK-NEXT: return
func.func @dead(%q: tensor<?x?x4x16xf32>, %t: tensor<4xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %x = attn.load %t[%h] : tensor<4xf32>
      attn.yield %s : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return
}

// -----

// S4: a computed index stays one where it simplifies to a coordinate: it is a position, and clamped. One that was
// written as a coordinate is not marked.

// CHECK-LABEL: func.func @computed_index_scores(
// CHECK: score (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[H:[a-z0-9_]+]], %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: attn.load %{{.*}}[%[[I]]] {coordinates = array<i1: false>} : tensor<?xf32>
// CHECK-NEXT: attn.load %{{.*}}[%[[I]]] : tensor<?xf32>
// CHECK-NEXT: attn.alibi %{{.*}}, %{{.*}}[%[[H]]], %[[I]], %[[J]] {coordinates = array<i1: false>} : tensor<4xf32>
// CHECK-NEXT: attn.bias %{{.*}}, %{{.*}}[%[[I]], %[[J]]] {coordinates = array<i1: false, true>} : tensor<?x?xf32>
func.func @computed_index_scores(%q: tensor<?x?x4x16xf32>, %t: tensor<?xf32>, %slopes: tensor<4xf32>,
                                 %u: tensor<?x?xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %zero = arith.constant 0 : index
      %at = arith.addi %i, %zero : index
      %head = arith.addi %h, %zero : index
      %x = attn.load %t[%at] : tensor<?xf32>
      %y = attn.load %t[%i] : tensor<?xf32>
      %a = attn.alibi %s, %slopes[%head], %i, %j : tensor<4xf32>
      %c = attn.bias %a, %u[%at, %j] : tensor<?x?xf32>
      %d = arith.addf %c, %x : f32
      %e = arith.addf %d, %y : f32
      attn.yield %e : f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// CHECK-LABEL: func.func @computed_index_masks(
// CHECK: mask (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: attn.same_segment %{{.*}}[%[[B]], %[[I]]], %{{.*}}[%[[B]], %[[J]]] {coordinates = array<i1: true, true, true, false>} : tensor<?x?xi32>, tensor<?x?xi32>
// CHECK-NEXT: attn.prefix %[[J]], %{{.*}}[%[[B]]] {coordinates = array<i1: false>} : tensor<?xi32>
func.func @computed_index_masks(%q: tensor<?x?x4x16xf32>, %ids: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %zero = arith.constant 0 : index
      %at = arith.addi %j, %zero : index
      %entry = arith.addi %b, %zero : index
      %m = attn.same_segment %ids[%b, %i], %ids[%b, %at] : tensor<?x?xi32>, tensor<?x?xi32>
      %p = attn.prefix %j, %n[%entry] : tensor<?xi32>
      %keep = arith.andi %m, %p : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}
