// RUN: attnc-opt %s --attn-derive-backward -split-input-file -verify-diagnostics | FileCheck %s

// The function of the gradients: names, what is saved, and what is copied.

// CHECK-LABEL: func.func @kernel_backward(
// CHECK-SAME: %[[Q:[a-z0-9_]+]]: tensor<?x?x4x16xbf16> {attn.name = "q"}, %[[K:[a-z0-9_]+]]: tensor<?x?x2x16xbf16> {attn.name = "k"}, %[[V:[a-z0-9_]+]]: tensor<?x?x2x24xbf16> {attn.name = "v"}, %[[SCALE:[a-z0-9_]+]]: f32 {attn.name = "arg3"},
// CHECK-SAME: %[[O:[a-z0-9_]+]]: tensor<?x?x4x24xbf16> {attn.name = "o"}, %[[LSE:[a-z0-9_]+]]: tensor<?x4x?xf32> {attn.name = "lse"}, %[[DO:[a-z0-9_]+]]: tensor<?x?x4x24xbf16> {attn.name = "d_o"})
// CHECK-SAME: -> (tensor<?x?x4x16xbf16> {attn.name = "d_q"}, tensor<?x?x2x16xbf16> {attn.name = "d_k"}, tensor<?x?x2x24xbf16> {attn.name = "d_v"})
// CHECK: %[[D:[a-z0-9_]+]]:3 = attn.backward %[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %[[DO]] scale(%[[SCALE]])
// CHECK-SAME: score
// CHECK: attn.softcap
// CHECK: mask
// CHECK: attn.causal
// CHECK: return %[[D]]#0, %[[D]]#1, %[[D]]#2
func.func @kernel(%q: tensor<?x?x4x16xbf16> {attn.name = "q"}, %k: tensor<?x?x2x16xbf16> {attn.name = "k"},
                  %v: tensor<?x?x2x24xbf16> {attn.name = "v"}, %scale: f32)
    -> (tensor<?x?x4x24xbf16> {attn.name = "o"}) {
  %o = attn.forward %q, %k, %v scale(%scale)
    schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24>)
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 30.0
      attn.yield %c : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    } : (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>) -> tensor<?x?x4x24xbf16>
  return %o : tensor<?x?x4x24xbf16>
}

// -----

// An LSE that is returned has a gradient. Names that are taken get a number.

// CHECK-LABEL: func.func @packed_backward(
// CHECK-SAME: {attn.name = "d_out"},
// CHECK-SAME: {attn.name = "out"}, %[[LSE:[a-z0-9_]+]]: tensor<4x?xf32> {attn.name = "row_lse"}, %[[DO:[a-z0-9_]+]]: tensor<?x4x16xf32> {attn.name = "d_out2"}, %[[DLSE:[a-z0-9_]+]]: tensor<4x?xf32> {attn.name = "d_row_lse"})
// CHECK: attn.backward {{.*}}, %[[LSE]], %[[DO]], %[[DLSE]] varlen(query =
func.func @packed(%q: tensor<?x4x16xf32> {attn.name = "d_out"}, %k: tensor<?x4x16xf32>, %v: tensor<?x4x16xf32>,
                  %offsets: tensor<?xi32>)
    -> (tensor<?x4x16xf32> {attn.name = "out"}, tensor<4x?xf32> {attn.name = "row_lse"}) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %offsets : tensor<?xi32>, key = %offsets : tensor<?xi32>)
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> (tensor<?x4x16xf32>, tensor<4x?xf32>)
  return %o, %lse : tensor<?x4x16xf32>, tensor<4x?xf32>
}

// -----

func.func @weights(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32> {
  // expected-error@+1 {{'attn.weights' op has no backward; expected attn.forward alone [S15]}}
  %w = attn.weights %q, %k : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %w : tensor<?x4x?x?xf32>
}

// -----

func.func @lse_alone(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>)
    -> tensor<?x4x?xf32> {
  // expected-error@+1 {{'attn.forward' op expected the function to return what is to be differentiated [S15]}}
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x4x?xf32>)
  return %lse : tensor<?x4x?xf32>
}

// -----

// Captured tensors whose gradients are wanted, by the coordinates that the score reads them by: a dimension of size 1 may
// be addressed by anything. What is differentiated anyway may be marked too.

// CHECK-LABEL: func.func @learned_backward(
// CHECK-SAME: -> ({{.*}} {attn.name = "d_v"}, tensor<4xf32> {attn.name = "d_slopes"}, tensor<1x?x4x?xf32> {attn.name = "d_bias"})
// CHECK: %[[D:[a-z0-9_]+]]:5 = attn.backward {{.*}} captured(%[[SLOPES:[a-z0-9_]+]][h] : tensor<4xf32>, %[[BIAS:[a-z0-9_]+]][b, j, h, i] : tensor<1x?x4x?xf32>) score
// CHECK: return %[[D]]#0, %[[D]]#1, %[[D]]#2, %[[D]]#3, %[[D]]#4
func.func @learned(%q: tensor<?x?x4x16xf32> {attn.name = "q", attn.requires_grad}, %k: tensor<?x?x4x16xf32>,
                   %v: tensor<?x?x4x16xf32> {attn.name = "v"}, %fixed: tensor<?xf32>,
                   %slopes: tensor<4xf32> {attn.name = "slopes", attn.requires_grad},
                   %bias: tensor<1x?x4x?xf32> {attn.name = "bias", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %a = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      %d = arith.subi %i, %j : index
      %x = attn.bias %a, %bias[%d, %j, %h, %i] : tensor<1x?x4x?xf32>
      %y = attn.load %bias[%b, %j, %h, %i] : tensor<1x?x4x?xf32>
      %p = arith.mulf %x, %y : f32
      %z = attn.bias %p, %fixed[%j] : tensor<?xf32>
      attn.yield %z : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// A table by a computed index is read once by each kernel.

// CHECK-LABEL: func.func @computed_backward(
// CHECK: attn.backward {{.*}} captured(%{{[a-z0-9_]+}}[n, h] : tensor<32x4xf32>) score
func.func @computed(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                    %table: tensor<32x4xf32> {attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %table[%d, %h] : tensor<32x4xf32>
      attn.yield %x : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// Of each read the axes, where one is by a computed index.

// CHECK-LABEL: func.func @computed_twice_backward(
// CHECK: attn.backward {{.*}} captured(%{{[a-z0-9_]+}}[n, h][n, i] : tensor<32x?xf32>) score
func.func @computed_twice(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                    %table: tensor<32x?xf32> {attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %table[%d, %h] : tensor<32x?xf32>
      %e = arith.muli %i, %j : index
      %y = attn.bias %x, %table[%e, %i] : tensor<32x?xf32>
      attn.yield %y : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// CHECK-LABEL: func.func @two_ways_backward(
// CHECK: attn.backward {{.*}} captured(%{{[a-z0-9_]+}}[i][j] : tensor<?xf32>) score
func.func @two_ways(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                    %t: tensor<?xf32> {attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %t[%i] : tensor<?xf32>
      %y = attn.bias %x, %t[%j] : tensor<?xf32>
      attn.yield %y : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected a score that reads 'bias', which requires a gradient, or that it is the scale [S15]}}
func.func @unread(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %bias: tensor<?xf32> {attn.name = "bias", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected attn.requires_grad on tensors of floats and on f32, got 'tensor<?xi32>' for 'ids' [S15]}}
func.func @integers(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                    %ids: tensor<?xi32> {attn.name = "ids", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected attn.requires_grad to have no value, got true}}
func.func @valued(%q: tensor<?x?x4x16xf32> {attn.requires_grad = true}, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// A scalar has a gradient of one element.

// CHECK-LABEL: func.func @scalar_backward(
// CHECK-SAME: %[[T:[a-z0-9_]+]]: f32 {attn.name = "t"}
// CHECK-SAME: -> ({{.*}}, tensor<1xf32> {attn.name = "d_t"})
// CHECK: attn.backward {{.*}} captured(%[[T]] : f32) score
// CHECK: -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<1xf32>)
func.func @scalar(%q: tensor<?x?x4x16xf32> {attn.name = "q"}, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %t: f32 {attn.name = "t", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.mulf %s, %t : f32
      attn.yield %x : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// A tensor without dimensions has a gradient of one element as well, however often it is read.

// CHECK-LABEL: func.func @without_dimensions_backward(
// CHECK-SAME: -> ({{.*}}, tensor<1xbf16> {attn.name = "d_t"})
// CHECK: attn.backward {{.*}} captured(%{{[a-z0-9_]+}}[b] : tensor<bf16>) score
func.func @without_dimensions(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                              %t: tensor<bf16> {attn.name = "t", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %t[] : tensor<bf16>
      %y = attn.bias %x, %t[] : tensor<bf16>
      attn.yield %y : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// A scale that has a gradient is the first factor of the score.

// CHECK-LABEL: func.func @scale_backward(
// CHECK-SAME: %[[C:[a-z0-9_]+]]: f32 {attn.name = "c"}
// CHECK-SAME: -> ({{.*}}, tensor<1xf32> {attn.name = "d_c"})
// CHECK: attn.backward {{.*}} scale(1.000000e+00) captured(%[[C]] : f32) score (%[[S:[a-z0-9_]+]],
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = arith.mulf %[[S]], %[[C]] : f32
// CHECK-NEXT: attn.yield %[[X]] : f32
func.func @scale(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                 %c: f32 {attn.name = "c", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v scale(%c)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// A score that has one reads it there.

// CHECK-LABEL: func.func @scale_and_score_backward(
// CHECK: attn.backward {{.*}} scale(1.000000e+00) captured(%[[C:[a-z0-9_]+]] : f32) score (%[[S:[a-z0-9_]+]],
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = arith.mulf %[[S]], %[[C]] : f32
// CHECK-NEXT: %[[Y:[a-z0-9_]+]] = arith.addf %[[X]], %[[C]] : f32
// CHECK-NEXT: %[[Z:[a-z0-9_]+]] = arith.mulf %[[Y]], %[[X]] : f32
// CHECK-NEXT: attn.yield %[[Z]] : f32
func.func @scale_and_score(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                           %c: f32 {attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v scale(%c)
    score (%s, %b, %h, %i, %j) {
      %x = arith.addf %s, %c : f32
      %y = arith.mulf %x, %s : f32
      attn.yield %y : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected a score that reads 'c', which requires a gradient, or that it is the scale [S15]}}
func.func @nobody(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %c: f32 {attn.name = "c", attn.requires_grad}) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// What is sinks of one kernel and a factor in the score of another has a gradient by each.

// CHECK-LABEL: func.func @shared_backward(
// CHECK-SAME: tensor<4x1xf32> {attn.name = "d_t"}, {{.*}}tensor<4x1xf32> {attn.name = "d_t2"})
// CHECK: attn.backward {{.*}} captured(%[[T:[a-z0-9_]+]][h, b] : tensor<4x1xf32>)
// CHECK: attn.backward {{.*}} sinks(%[[T]] : tensor<4x1xf32>) :
func.func @shared(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                  %t: tensor<4x1xf32> {attn.name = "t", attn.requires_grad})
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %t[%h, %b] : tensor<4x1xf32>
      attn.yield %x : f32
    } : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  %p = attn.forward %q, %k, %v sinks(%t : tensor<4x1xf32>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o, %p : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>
}
