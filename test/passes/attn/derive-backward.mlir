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
