// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// One fault a chunk. A comment above each names the rule that refuses it.

//===----------------------------------------------------------------------===//
// Tensors and results
//===----------------------------------------------------------------------===//

// S1: without varlen, a query is [B, Sq, Hq, D].
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected query of rank 4 [B, S, H, D], got 'tensor<8x4x16xf32>' [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S1: so is a key.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>) {
  // expected-error@+1 {{op expected key of rank 4 [B, S, H, D], got 'tensor<9x2x16xf32>' [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: and a value.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<9x2x16xf32>) {
  // expected-error@+1 {{op expected value of rank 4 [B, S, H, D], got 'tensor<9x2x16xf32>' [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: packed tensors have no batch dimension.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected query of rank 3 [T, H, D] with varlen, got 'tensor<2x8x4x16xf32>' [S11]}}
  %o = attn.forward %q, %k, %v varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: the product of query and key needs one head dim.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x24xf32>, %v: tensor<2x9x2x24xf32>) {
  // expected-error@+1 {{op expected dimension 3 of query and dimension 3 of key to be equal, got 16 and 24 [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x24xf32>, tensor<2x9x2x24xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: one batch.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<3x9x2x16xf32>, %v: tensor<3x9x2x16xf32>) {
  // expected-error@+1 {{op expected dimension 0 of query and dimension 0 of key to be equal, got 2 and 3 [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<3x9x2x16xf32>, tensor<3x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: values have the batch of the keys.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<3x9x2x16xf32>) {
  // expected-error@+1 {{op expected dimension 0 of key and dimension 0 of value to be equal, got 2 and 3 [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<3x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: values have the length of the keys.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x8x2x16xf32>) {
  // expected-error@+1 {{op expected dimension 1 of key and dimension 1 of value to be equal, got 9 and 8 [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x8x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S10: values have the heads of the keys.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x4x16xf32>) {
  // expected-error@+1 {{op expected dimension 2 of key and dimension 2 of value to be equal, got 2 and 4 [S10]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S10: each key head serves the same number of query heads.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x3x16xf32>, %v: tensor<2x9x3x16xf32>) {
  // expected-error@+1 {{op expected query heads to be a multiple of key heads, got 4 and 3 [S10]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x3x16xf32>, tensor<2x9x3x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S10: there is a key head.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x0x16xf32>, %v: tensor<2x9x0x16xf32>) {
  // expected-error@+1 {{op expected query heads to be a multiple of key heads, got 4 and 0 [S10]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x0x16xf32>, tensor<2x9x0x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S10: heads are part of the kernel.
func.func @kernel(%q: tensor<2x8x?x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected a static number of heads in the type of query [S10]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x?x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x?x16xf32>
  return
}

// -----

// S10: key heads too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x?x16xf32>, %v: tensor<2x9x?x16xf32>) {
  // expected-error@+1 {{op expected a static number of heads in the type of key [S10]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x?x16xf32>, tensor<2x9x?x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S13: one element type.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf16>, %v: tensor<2x9x2x16xf16>) {
  // expected-error@+1 {{op expected query and key of one element type, got 'f32' and 'f16' [S13]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf16>, tensor<2x9x2x16xf16>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S13: values too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xbf16>) {
  // expected-error@+1 {{op expected key and value of one element type, got 'f32' and 'bf16' [S13]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xbf16>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S13: f64 is no input type.
func.func @kernel(%q: tensor<2x8x4x16xf64>, %k: tensor<2x9x2x16xf64>, %v: tensor<2x9x2x16xf64>) {
  // expected-error@+1 {{op operand #0 must be a tensor of f32, bf16 or f16, but got 'tensor<2x8x4x16xf64>'}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf64>, tensor<2x9x2x16xf64>, tensor<2x9x2x16xf64>) -> tensor<2x8x4x16xf64>
  return
}

// -----

// S14: head dims are part of the kernel.
func.func @kernel(%q: tensor<2x8x4x?xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected a static head dim in the type of query [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x?xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x?xf32>
  return
}

// -----

// S14: the keys' head dim is written out, though it must be that of the queries.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x?xf32>, %v: tensor<2x9x2x?xf32>) {
  // expected-error@+1 {{op expected a static head dim in the type of key [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x?xf32>, tensor<2x9x2x?xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S14: that of the values too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x?xf32>) {
  // expected-error@+1 {{op expected a static head dim in the type of value [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x?xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S14: a multiple of 8.
func.func @kernel(%q: tensor<2x8x4x12xf32>, %k: tensor<2x9x2x12xf32>, %v: tensor<2x9x2x12xf32>) {
  // expected-error@+1 {{op expected the head dim of query to be a multiple of 8 from 8 to 256, got 12 [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x12xf32>, tensor<2x9x2x12xf32>, tensor<2x9x2x12xf32>) -> tensor<2x8x4x12xf32>
  return
}

// -----

// S14: at most 256.
func.func @kernel(%q: tensor<2x8x4x264xf32>, %k: tensor<2x9x2x264xf32>, %v: tensor<2x9x2x264xf32>) {
  // expected-error@+1 {{op expected the head dim of query to be a multiple of 8 from 8 to 256, got 264 [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x264xf32>, tensor<2x9x2x264xf32>, tensor<2x9x2x264xf32>) -> tensor<2x8x4x264xf32>
  return
}

// -----

// S14: at least 8.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x0xf32>) {
  // expected-error@+1 {{op expected the head dim of value to be a multiple of 8 from 8 to 256, got 0 [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x0xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S13: results have the type of the inputs.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected out of element type 'f32', got 'bf16' [S13]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xbf16>
  return
}

// -----

// S1: a result has the rank of the query.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected out of rank 4, got 'tensor<8x4x16xf32>' [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S1: and its sizes; a dynamic one is no static one.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected dimension 1 of out to be that of query, got 'tensor<2x9x4x16xf32>' and 'tensor<2x8x4x16xf32>' [S1]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x9x4x16xf32>
  return
}

// -----

// S14: but the head dim of the values.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x32xf32>) {
  // expected-error@+1 {{op expected the head dim of out to be that of value, got 16 and 32 [S14]}}
  %o = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x32xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S8: the LSE is [B, Hq, Sq].
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected lse of type 'tensor<2x4x8xf32>', got 'tensor<2x8x4xf32>' [S8]}}
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4xf32>)
  return
}

// -----

// S8: packed, it is [Hq, Tq].
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected lse of type 'tensor<4x8xf32>', got 'tensor<8x4xf32>' [S8]}}
  %o, %lse = attn.forward %q, %k, %v varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>)
    : (tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> (tensor<8x4x16xf32>, tensor<8x4xf32>)
  return
}

// -----

// S8: in f32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op result #1 must be a tensor of f32, but got 'tensor<2x4x8xbf16>'}}
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xbf16>)
  return
}

// -----

// S1: weights are [B, Hq, Sq, Sk].
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected weights of type 'tensor<2x4x8x9xf32>', got 'tensor<2x4x9x8xf32>' [S1]}}
  %w = attn.weights %q, %k
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x4x9x8xf32>
  return
}

// -----

// S11: weights of packed sequences have no shape.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected padded sequences; the weights of packed ones have no rectangular shape [S11]}}
  %w = attn.weights %q, %k varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>)
    : (tensor<8x4x16xf32>, tensor<9x2x16xf32>) -> tensor<2x4x8x9xf32>
  return
}

// -----

// S10: attn.weights obeys the rules of attn.forward.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x3x16xf32>) {
  // expected-error@+1 {{op expected query heads to be a multiple of key heads, got 4 and 3 [S10]}}
  %w = attn.weights %q, %k
    : (tensor<2x8x4x16xf32>, tensor<2x9x3x16xf32>) -> tensor<2x4x8x9xf32>
  return
}

// -----

// S18: clauses of attn.weights too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %n: i64) {
  // expected-error@+1 {{op expected a dropout probability from 0 to 1, got -5.000000e-01 [S18]}}
  %w = attn.weights %q, %k dropout(-0.5, %n)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x4x8x9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

// S18: a scale is finite in f32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected a finite scale [S18]}}
  %o = attn.forward %q, %k, %v scale(1.0e39)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S18: a probability.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: i64) {
  // expected-error@+1 {{op expected a dropout probability from 0 to 1, got 1.500000e+00 [S18]}}
  %o = attn.forward %q, %k, %v dropout(1.5, %n)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S9: a probability without a seed; only the generic form can say it.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %p: f32) {
  // expected-error@+1 {{op expected dropout to have a probability and a seed [S9]}}
  %o = "attn.forward"(%q, %k, %k, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>, f32) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S9: a seed in memory is two words or four.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %n: tensor<1xi32>) {
  // expected-error@+1 {{op expected a seed of type i64, tensor<2xi32> or tensor<4xi32>, got 'tensor<1xi32>' [S9]}}
  %o = attn.forward %q, %k, %k dropout(0.5, %n : tensor<1xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S9: a seed without a probability.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %p: i64) {
  // expected-error@+1 {{op expected dropout to have a probability and a seed [S9]}}
  %o = "attn.forward"(%q, %k, %k, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>}> ({}, {}, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>, i64) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S9: one probability.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %p: f32, %n: i64) {
  // expected-error@+1 {{op expected one dropout probability, a literal or a value [S9]}}
  %o = "attn.forward"(%q, %k, %k, %p, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0>, static_dropout = 0.5 : f32}> ({}, {}, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>, f32, i64) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: one scale.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %p: f32) {
  // expected-error@+1 {{op expected one scale, a literal or a value [S1]}}
  %o = "attn.forward"(%q, %k, %k, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, static_scale = 0.5 : f32}> ({}, {}, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>, f32) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are [Hq, n] or [n]; not a scalar.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<f32>) {
  // expected-error@+1 {{op expected sinks of type [4, n] or [n] with static n, got 'tensor<f32>' [S6]}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<f32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are [Hq, n] or [n]; not three dimensions.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<1x4x1xf32>) {
  // expected-error@+1 {{op expected sinks of type [4, n] or [n] with static n, got 'tensor<1x4x1xf32>' [S6]}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<1x4x1xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are [Hq, n] or [n]; not a dynamic number.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<4x?xf32>) {
  // expected-error@+1 {{op expected sinks of type [4, n] or [n] with static n, got 'tensor<4x?xf32>' [S6]}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<4x?xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are [Hq, n] or [n]; not not one row a head.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<3x1xf32>) {
  // expected-error@+1 {{op expected sinks of type [4, n] or [n] with static n, got 'tensor<3x1xf32>' [S6]}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<3x1xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are [Hq, n] or [n]; not a dynamic number of heads.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<?x1xf32>) {
  // expected-error@+1 {{op expected sinks of type [4, n] or [n] with static n, got 'tensor<?x1xf32>' [S6]}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<?x1xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S6: sinks are logits in f32, bf16 or f16.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<4x1xf64>) {
  // expected-error@+1 {{op operand #3 must be a tensor of f32, bf16 or f16, but got 'tensor<4x1xf64>'}}
  %o = attn.forward %q, %k, %v sinks(%n : tensor<4x1xf64>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: packed queries without packed keys.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected varlen to give cumulative lengths of query and key [S11]}}
  %o = attn.forward %q, %k, %v varlen(query = %n : tensor<?xi32>)
    : (tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S11: packed keys without packed queries.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected varlen to give cumulative lengths of query and key [S11]}}
  %o = attn.forward %q, %k, %v varlen(key = %n : tensor<?xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: one batch has as many lengths of queries as of keys.
func.func @kernel(%q: tensor<?x8x4x16xf32>, %k: tensor<?x9x2x16xf32>, %v: tensor<?x9x2x16xf32>, %ql: tensor<3xi32>, %kl: tensor<2xi32>) {
  // expected-error@+1 {{expected dimension 0 of query lengths and dimension 0 of key lengths to be equal, got 3 and 2 [S11]}}
  %o = attn.forward %q, %k, %v lengths(query = %ql : tensor<3xi32>, key = %kl : tensor<2xi32>)
    : (tensor<?x8x4x16xf32>, tensor<?x9x2x16xf32>, tensor<?x9x2x16xf32>) -> tensor<?x8x4x16xf32>
  return
}

// -----

// S11: sequences are padded or packed.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{op expected lengths or varlen, got both [S11]}}
  %o = attn.forward %q, %k, %v lengths(key = %n : tensor<?xi32>) varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>)
    : (tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S11: one length for each batch entry.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<3xi32>) {
  // expected-error@+1 {{op expected dimension 0 of lengths and dimension 0 of query to be equal, got 3 and 2 [S11]}}
  %o = attn.forward %q, %k, %v lengths(key = %n : tensor<3xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: one batch.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %n: tensor<3xi32>, %m: tensor<4xi32>) {
  // expected-error@+1 {{op expected dimension 0 of query offsets and dimension 0 of key offsets to be equal, got 3 and 4 [S11]}}
  %o = attn.forward %q, %k, %v varlen(query = %n : tensor<3xi32>, key = %m : tensor<4xi32>)
    : (tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S11: lengths are i32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %n: tensor<2xi64>) {
  // expected-error@+1 {{op operand #3 must be a tensor<?xi32> of lengths or offsets, but got 'tensor<2xi64>'}}
  %o = attn.forward %q, %k, %v lengths(key = %n : tensor<2xi64>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

// A schedule has tiles.
// expected-error@+1 {{expected positive tile sizes, got query_tile = 96, key_tile = 0, panel = 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 0, panel = 24>}

// -----

// Panels cover a tile.
// expected-error@+1 {{expected panel to divide query_tile, got 36 and 96}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 36>}

// -----

// A schedule is for some number of queries.
// expected-error@+1 {{expected least_queries from 0 to most_queries, got 100 and 99}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, least_queries = 100, most_queries = 99>}

// -----

// Heads of a tile fill its panels.
// expected-error@+1 {{expected heads to divide panel, got 7 and 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, heads = 7>}

// -----

// expected-error@+1 {{expected heads to divide panel, got 0 and 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, heads = 0>}

// -----

// S16: parts are counted in one way or the other,
// expected-error@+1 {{expected splits or split_blocks, got both: 2 and 132}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = 2, split_blocks = 132>}

// -----

// expected-error@+1 {{expected splits from 0 to 1024 and split_blocks from 0 to 65536, got -1 and 0}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = -1>}

// -----

// of one consumer, which stores the state of its rows itself,
// expected-error@+1 {{expected one consumer, epilogue = direct and neither rescaling = on_overflow nor block_mask with splits}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = <consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>, splits = 2>}

// -----

// expected-error@+1 {{expected no splits for program dq}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, program = dq, splits = 2>}

// -----

// in a forward alone.
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32> {
  // expected-error@+1 {{op expected no splits but for attn.forward [S16]}}
  %w = attn.weights %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = 2>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %w : tensor<?x4x?x?xf32>
}

// -----

// All together are for every number,
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected a schedule for 100 queries and more}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, most_queries = 99>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected schedules in order, each to begin where the one before ends; for 0 queries and more, got least_queries = 1}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, least_queries = 1>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// and no number has two.
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{for 100 queries and more, got least_queries = 99}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, most_queries = 99>,
                                        #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, least_queries = 99>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{for no queries and more, got least_queries = 0}}
  %o = attn.weights %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>,
                                    #attn.schedule<query_tile = 24, key_tile = 64, panel = 24>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %q : tensor<?x?x4x16xf32>
}

// -----

// An overlap has warpgroups that compute, and buffers.
// expected-error@+1 {{expected counts from 1 to 64, got consumers = 0, stages = 2, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 0, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Rings have buffers.
// expected-error@+1 {{expected counts from 1 to 64, got consumers = 1, stages = 0, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 0, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// So has the ring of queries.
// expected-error@+1 {{expected counts from 1 to 64, got consumers = 1, stages = 2, query_stages = -1}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = -1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Registers go in eights,
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 28}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 28,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// from 24
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 16}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 16,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// to 240, for both roles.
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 248}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 248, epilogue = direct>}

// -----

// The producer gives registers away.
// expected-error@+1 {{expected producer_registers up to consumer_registers, got 80 and 40}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 80,
                                                        consumer_registers = 40, epilogue = direct>}

// -----

// No machine has room for so many.
// expected-error@+1 {{expected counts from 1 to 64, got consumers = 1, stages = 65, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 65, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Room to grow is for weights that may.
// expected-error@+1 {{expected headroom with rescaling = on_overflow alone, got 6}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, rescaling = on_growth, epilogue = direct, headroom = 6>}

// -----

// Parts are written by threads that meet at barriers.
// expected-error@+1 {{expected split_floats with staging = cp_async alone, got staging = tma}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, split_floats = true>}

// -----

// The threads of a block share the rows of a copy evenly.
// expected-error@+1 {{expected consumers to be a power of two with staging = cp_async, whose warps share rows by powers of two, got 3}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 3, stages = 2, query_stages = 1, producer_registers = 0,
                                                        consumer_registers = 0, epilogue = direct, staging = cp_async>}

// -----

// Sections have a size, or are none.
// expected-error@+1 {{expected section_bytes not below 0, got -1}}
func.func private @kernel() attributes {x.p = #attn.pipeline<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, section_bytes = -1>}

// -----

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

// A word that is no clause.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{unknown clause 'causal'; expected one of scale, sinks, dropout, align, q_offset, lengths, varlen, paged, score, mask, bounds, blocks, schedule}}
  %o = attn.forward %q, %k, %k causal
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A clause that comes twice.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{clause 'scale' appears twice}}
  %o = attn.forward %q, %k, %k scale(0.5) align(top_left) scale(0.5)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: an alignment that does not exist.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{expected top_left or bottom_right, got 'left'}}
  %o = attn.forward %q, %k, %k align(left)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: lengths are of query and key.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{expected 'query' or 'key', got 'queries'}}
  %o = attn.forward %q, %k, %k lengths(queries = %n : tensor<?xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: each once.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{'query' appears twice}}
  %o = attn.forward %q, %k, %k varlen(query = %n : tensor<?xi32>, query = %n : tensor<?xi32>)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S11: an empty clause says nothing.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{expected valid keyword}}
  %o = attn.forward %q, %k, %k lengths()
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S1: a scale is written with a point.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+2 {{unexpected decimal integer literal for a floating point value}}
  // expected-note@+1 {{add a trailing dot to make the literal a float}}
  %o = attn.forward %q, %k, %k scale(1)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S9: dropout names its seed.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{expected ','}}
  %o = attn.forward %q, %k, %k dropout(0.1)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: an offset is a value, never part of the kernel.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{expected SSA operand}}
  %o = attn.forward %q, %k, %k q_offset(4)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: wherever a literal offset puts them, queries stand at positions.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  %n = arith.constant 1610612736 : index
  // expected-error@+1 {{expected a literal q_offset from -536870912 to 1610612735, got 1610612736 [S2]}}
  %o = attn.forward %q, %k, %k q_offset(%n)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  %n = arith.constant -536870913 : index
  // expected-error@+1 {{expected a literal q_offset from -536870912 to 1610612735, got -536870913 [S2]}}
  %o = attn.forward %q, %k, %k q_offset(%n)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a score region has five arguments.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    // expected-error@+1 {{expected 5 arguments for region 'score', got 4}}
    score (%b, %h, %i, %j) {
      attn.yield %b : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A region mask has four arguments.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    // expected-error@+1 {{expected 4 arguments for region 'mask', got 5}}
    mask (%s, %b, %h, %i, %j) {
      attn.yield %s : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A region bounds has four arguments.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    // expected-error@+1 {{expected 4 arguments for region 'bounds', got 5}}
    bounds (%s, %b, %h, %i, %j) {
      attn.yield %s : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A region blocks has six arguments.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    // expected-error@+1 {{expected 6 arguments for region 'blocks', got 5}}
    blocks (%s, %b, %h, %i, %j) {
      attn.yield %s : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

// S2: the arguments of a region, in the generic form.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected region 'mask' to take ('index', 'index', 'index', 'index'), got ('index', 'index', 'index', 'index', 'index') [S2]}}
  %o = "attn.forward"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %x: index):
    %t = arith.constant true
    attn.yield %t : i1
  }, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: an index of a load that is no coordinate, for the region has too many arguments.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected region 'mask' to take ('index', 'index', 'index', 'index'), got ('index', 'index', 'index', 'index', 'index') [S2]}}
  %o = "attn.forward"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %x: index):
    %t = attn.load %q[%x, %x, %x, %x] : tensor<2x8x4x16xf32>
    %y = arith.constant true
    attn.yield %y : i1
  }, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a logit is f32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>) {
  // expected-error@+1 {{op expected region 'score' to take ('f32', 'index', 'index', 'index', 'index'), got ('f64', 'index', 'index', 'index', 'index') [S2]}}
  %o = "attn.forward"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
    %t = arith.constant 0.0 : f32
    attn.yield %t : f32
  }, {}, {}, {})
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a score region yields a logit.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected region 'score' to yield ('f32'), got ('index') [S2]}}
      attn.yield %i : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S3: a mask region yields one i1.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c = attn.causal %i, %j
      // expected-error@+1 {{op expected region 'mask' to yield ('i1'), got ('i1', 'i1') [S3]}}
      attn.yield %c, %c : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S3: and not nothing.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected region 'mask' to yield ('i1'), got () [S3]}}
      attn.yield
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S3: bounds yield four key positions.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    bounds (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected region 'bounds' to yield ('index', 'index', 'index', 'index'), got ('index', 'index') [S3]}}
      attn.yield %i, %j : index, index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S3: blocks yield two i1.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    blocks (%b, %h, %i, %i1, %j, %j1) {
      // expected-error@+1 {{op expected region 'blocks' to yield ('i1', 'i1'), got ('index') [S3]}}
      attn.yield %i : index
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a region holds arith, math and attn.
func.func private @f()

func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'func.call' op is not allowed in region 'score'; expected operations of arith, math and attn [S2]}}
      func.call @f() : () -> ()
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: no other dialect, however pure.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{'builtin.unrealized_conversion_cast' op is not allowed in region 'mask'; expected operations of arith, math and attn [S2]}}
      %e = builtin.unrealized_conversion_cast %i : index to i1
      attn.yield %e : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: no kernel within a kernel.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op is not allowed in region 'score'; expected operations of arith, math and attn [S2]}}
      %x = attn.forward %q, %q, %q : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a captured tensor is read, not computed with.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<4xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op computes on a tensor; read its elements with attn.load [S4]}}
      %x = arith.addf %t, %t : tensor<4xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S3: a region that ends with nothing.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{empty block: expect at least a terminator}}
  %o = attn.forward %q, %q, %q mask (%b, %h, %i, %j) {}
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a region is one block.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{op region #0 ('score') failed to verify constraint: region with at most 1 blocks}}
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      attn.yield %s : f32
    ^second:
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// attn.yield ends a region of a kernel, and nothing else.
func.func @kernel() {
  // expected-error@+1 {{op expects parent op to be one of 'attn.forward, attn.weights, attn.backward'}}
  attn.yield
}

// -----

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

// S4: one index for each dimension.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<1x4x8x9xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected 4 indices for 'tensor<1x4x8x9xf32>', got 2 [S4]}}
      %x = attn.load %t[%h, %i] : tensor<1x4x8x9xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: %b addresses its own axis.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<5x1x1x1xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 0 of the tensor to be 2 or 1, as %b indexes it, got 5 [S4]}}
      %x = attn.load %t[%b, %h, %i, %j] : tensor<5x1x1x1xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: %h addresses its own axis.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<1x5x1x1xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 1 of the tensor to be 4 or 1, as %h indexes it, got 5 [S4]}}
      %x = attn.load %t[%b, %h, %i, %j] : tensor<1x5x1x1xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: %i addresses its own axis.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<1x1x5x1xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 2 of the tensor to be 8 or 1, as %i indexes it, got 5 [S4]}}
      %x = attn.load %t[%b, %h, %i, %j] : tensor<1x1x5x1xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: %j addresses its own axis.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<1x1x1x5xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 3 of the tensor to be 9 or 1, as %j indexes it, got 5 [S4]}}
      %x = attn.load %t[%b, %h, %i, %j] : tensor<1x1x1x5xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: packed, the batch has one entry less than there are offsets.
func.func @kernel(%q: tensor<8x4x16xf32>, %n: tensor<3xi32>, %t: tensor<3xi1>) {
  %o = attn.forward %q, %q, %q varlen(query = %n : tensor<3xi32>, key = %n : tensor<3xi32>)
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 0 of the tensor to be 2 or 1, as %b indexes it, got 3 [S4]}}
      %x = attn.load %t[%b] : tensor<3xi1>
      attn.yield %x : i1
    }
    : (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// S4: f64 is no type of captured tensors.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<4xf64>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'tensor' must be a tensor of f32, bf16}}
      %x = attn.load %t[%h] : tensor<4xf64>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: one range for each dimension.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x8xi32>, %f: i1) {
  %o = attn.forward %q, %k, %v
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      // expected-error@+1 {{op expected 2 indices for 'tensor<2x8xi32>', got 1 [S4]}}
      %lo, %hi = attn.load_range %t[%b] : tensor<2x8xi32>
      attn.yield %f, %f : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: both ends of a range are the coordinate.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x7xi32>, %f: i1) {
  %o = attn.forward %q, %k, %v
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      // expected-error@+1 {{op expected dimension 1 of the tensor to be 8 or 1, as %i indexes it, got 7 [S4]}}
      %lo, %hi = attn.load_range %t[%b, %i0 to %i1] : tensor<2x7xi32>
      attn.yield %f, %f : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// Results of attn.load_range have the element type.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2xi32>, %f: i1) {
  %o = attn.forward %q, %k, %v
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      // expected-error@+1 {{op expected results of type 'i32'}}
      %lo, %hi = "attn.load_range"(%t, %b, %b) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<2xi32>, index, index) -> (i32, i64)
      attn.yield %f, %f : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Sugar
//===----------------------------------------------------------------------===//

// S4: the reciprocal of a cap is an f32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected a cap of at least 1.17549435e-38, the least normal f32, got 1.000}}
      %x = attn.softcap %s, 1.0e-39
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a cap is above 0.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected a positive cap, got 0.000000e+00 [S4]}}
      %x = attn.softcap %s, 0.0
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: not below.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected a positive cap, got -1.000000e+00 [S4]}}
      %x = attn.softcap %s, -1.0
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: and a number.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected a positive cap, got nan [S4]}}
      %x = attn.softcap %s, 0x7FC00000
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a cap.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected one cap [S4]}}
      %x = "attn.softcap"(%s) : (f32) -> f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: one cap.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected one cap [S4]}}
      %x = "attn.softcap"(%s, %s) <{static_cap = 1.0 : f32}> : (f32, f32) -> f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a slope for each query head.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<3xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 0 of the tensor to be 4 or 1, as %h indexes it, got 3 [S4]}}
      %x = attn.alibi %s, %t[%h], %i, %j : tensor<3xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: slopes have one dimension.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x4xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected 2 indices for 'tensor<2x4xf32>', got 1 [S4]}}
      %x = attn.alibi %s, %t[%h], %i, %j : tensor<2x4xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a bias has the size of the axis, or 1.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<4x8x8xf32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 2 of the tensor to be 9 or 1, as %j indexes it, got 8 [S4]}}
      %x = attn.bias %s, %t[%h, %i, %j] : tensor<4x8x8xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a bias is floating point.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<4x8x9xi32>) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op operand #1 must be a tensor of f32, bf16 or f16}}
      %x = attn.bias %s, %t[%h, %i, %j] : tensor<4x8x9xi32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S5: a side is 0 or more.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected a window side of 0 or more, got -1 [S5]}}
      %x = attn.window %i, %j left(-1)
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S5: the other too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected a window side of 0 or more, got -3 [S5]}}
      %x = attn.window %i, %j {right = -3 : i64}
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S5: each side once.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected each side once, as a literal or a value [S5]}}
      %x = attn.window %i, %j left(%h) {left = 1 : i64}
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S5: the other too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected each side once, as a literal or a value [S5]}}
      %x = attn.window %i, %j right(%h) {right = 1 : i64}
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S12: ids are indexed like any captured tensor (S4).
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x8xi32>, %u: tensor<2x9xi32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected 2 indices for 'tensor<2x8xi32>', got 1 [S4]}}
      %x = attn.same_segment %t[%i], %u[%b, %j] : tensor<2x8xi32>, tensor<2x9xi32>
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S12: ids of keys have the length of the keys.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x8xi32>, %u: tensor<2x8xi32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 1 of the tensor to be 9 or 1, as %j indexes it, got 8 [S4]}}
      %x = attn.same_segment %t[%b, %i], %u[%b, %j] : tensor<2x8xi32>, tensor<2x8xi32>
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S12: ids are i32.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<2x8xi64>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op operand #0 must be a tensor of i32, but got 'tensor<2x8xi64>'}}
      %x = attn.same_segment %t[%b, %i], %t[%b, %i] : tensor<2x8xi64>, tensor<2x8xi64>
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A prefix length for each batch entry (S4).
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %v: tensor<2x9x2x16xf32>, %t: tensor<3xi32>) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op expected dimension 0 of the tensor to be 2 or 1, as %b indexes it, got 3 [S4]}}
      %x = attn.prefix %j, %t[%b] : tensor<3xi32>
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A cap that is a constant is checked as a literal is (S4).
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %zero = arith.constant 0.0 : f32
      // expected-error@+1 {{op expected a positive cap, got 0.000000e+00 [S4]}}
      %c = attn.softcap %s, %zero
      attn.yield %c : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A window side that is a constant is checked as a literal is (S5).
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %negative = arith.constant -1 : index
      // expected-error@+1 {{op expected a window side of 0 or more, got -1 [S5]}}
      %w = attn.window %i, %j left(%negative)
      attn.yield %w : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A constant NaN as scale (S18).
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  // expected-error@+1 {{op expected a finite scale [S18]}}
  %o = attn.forward %q, %q, %q scale(%nan)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// A constant probability above 1 (S18).
func.func @kernel(%q: tensor<2x8x4x16xf32>, %seed: i64) {
  %two = arith.constant 2.0 : f32
  // expected-error@+1 {{op expected a dropout probability from 0 to 1, got 2.000000e+00 [S18]}}
  %o = attn.forward %q, %q, %q dropout(%two, %seed)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// Ranges of captured tensors are for derived regions (S4).
func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xi32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op belongs in the derived regions, not in region 'mask' [S4]}}
      %least, %greatest = attn.load_range %t[%i] : tensor<8xi32>
      %keep = arith.cmpi eq, %least, %greatest : i32
      attn.yield %keep : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: one entry for each index.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected one entry of 'coordinates' for each of the 1 indices, got 2 [S4]}}
      %x = attn.load %t[%i] {coordinates = array<i1: true, true>} : tensor<8xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: what is computed is no coordinate.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8x8xi32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      // expected-error@+1 {{op expected index 1 to be a coordinate of a kernel's region, as 'coordinates' says [S4]}}
      %x = attn.same_segment %t[%i, %d], %t[%i, %j] {coordinates = array<i1: true, true, true, true>} : tensor<8x8xi32>, tensor<8x8xi32>
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: a captured scalar is none either.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xf32>, %n: index) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected index 0 to be a coordinate of a kernel's region, as 'coordinates' says [S4]}}
      %x = attn.load %t[%n] {coordinates = array<i1: true>} : tensor<8xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S4: both ends of a range are the coordinate, or neither counts.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xi1>) {
  %o = attn.forward %q, %q, %q
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      // expected-error@+1 {{op expected index 0 to be a coordinate of a kernel's region, as 'coordinates' says [S4]}}
      %all, %some = attn.load_range %t[%i0 to %j1] {coordinates = array<i1: true>} : tensor<8xi1>
      attn.yield %some, %all : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{expected 'coordinates' to be an array of i1, got 1 : i64}}
      %x = attn.load %t[%i] {coordinates = 1} : tensor<8xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// Generic operations are read before they are verified: without operands there are no indices to look at.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op expected 1 or more operands, but found 0}}
      %x = "attn.load"() : () -> f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xi32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{op operand count (2) does not match with the total size (9) specified in attribute 'operandSegmentSizes'}}
      %x = "attn.same_segment"(%t, %i) <{operandSegmentSizes = array<i32: 1, 4, 1, 3>}> : (tensor<8xi32>, index) -> i1
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>, %t: tensor<8xi1>) {
  %o = attn.forward %q, %q, %q
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      // expected-error@+1 {{op expected as many last indices as first ones, got 2 and 1 [S4]}}
      %x:2 = "attn.load_range"(%t, %i0, %i1, %i1) <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (tensor<8xi1>, index, index, index) -> (i1, i1)
      attn.yield %x#0, %x#1 : i1, i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %n = arith.index_cast %j : index to i32
      // expected-error@+1 {{'arith.mului_extended' op is not admitted in region 'mask'; use arith.extui and arith.muli [S2]}}
      %low, %high = arith.mului_extended %n, %n : i32
      %x = arith.cmpi eq, %low, %high : i32
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'math.sincos' op is not admitted in region 'score'; use math.sin and math.cos [S2]}}
      %x, %y = math.sincos %s : f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{'arith.index_cast' op expected a result of i1, i8, i16, i32, i64 or index in region 'mask', got 'i7' [S2]}}
      %n = arith.index_cast %j : index to i7
      %x = arith.trunci %n : i7 to i1
      attn.yield %x : i1
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %w = arith.extf %s : f32 to f64
      // expected-error@+1 {{'math.exp' op expected operands of f16, bf16 or f32 in region 'score', got 'f64' [S2]}}
      %e = math.exp %w : f64
      %x = arith.truncf %e : f64 to f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'arith.truncf' op expected to round to nearest, ties to even, got upward [S2]}}
      %n = arith.truncf %s upward : f32 to bf16
      %x = arith.extf %n : bf16 to f32
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'vector.broadcast' op is not allowed in region 'score'; expected operations of arith, math and attn [S2]}}
      %v = vector.broadcast %s : f32 to vector<4xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @kernel(%q: tensor<2x8x4x16xf32>, %v: vector<4xf32>) {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{op computes on a tensor; read its elements with attn.load [S4]}}
      %x = arith.addf %v, %v : vector<4xf32>
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

// S15: a gradient has the type of what it is the gradient of.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{op expected d_key of type 'tensor<2x8x4x16xf32>', that of what it is the gradient of, got 'tensor<2x8x4x24xf32>' [S15]}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x24xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S15: tensors that are used twice have two gradients.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{op expected query, key and value to be tensors of their own, which have gradients of their own [S15]}}
  %d:3 = attn.backward %q, %k, %k, %o, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S15: a query that the score reads has a gradient as a captured tensor, too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>) {
  %c0 = arith.constant 0 : index
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{'attn.bias' op expected the score to read no query, key, value or sinks of the kernel, whose gradients would have a second part [S15]}}
      %x = attn.bias %s, %q[%b, %i, %h, %c0] : tensor<2x8x4x16xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S8: an LSE of a row for each head.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x8x4xf32>, %do: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{op expected lse of type 'tensor<2x4x8xf32>', got 'tensor<2x8x4xf32>' [S8]}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S8: and so is its gradient.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x8x4xf32>) {
  // expected-error@+1 {{op expected d_lse of type 'tensor<2x4x8xf32>', got 'tensor<2x8x4xf32>' [S8]}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do, %dlse
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S13: the gradient of the output has its type.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xbf16>) {
  // expected-error@+1 {{op expected d_out of element type 'f32', got 'bf16' [S13]}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xbf16>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// A schedule for one program only.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{op expected a schedule of program 'dkdv' for 0 queries and more}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24, program = dq>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// A schedule of forward.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{op has no program 'forward' for a schedule to be of}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// Fewer tensors than a gradient is made of.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{expected 6 to 7 tensors, got 5}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// A forward has no derivative.
func.func @kernel(%q: tensor<2x8x4x16xf32>) {
  // expected-error@+2 {{unknown clause 'derivative'; expected one of scale, sinks, dropout, align, q_offset, lengths, varlen, paged, score, mask, bounds, blocks, schedule}}
  %o = attn.forward %q, %q, %q
    derivative (%ds, %s, %b, %h, %i, %j) {
      attn.yield %ds : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

// S2: a derivative takes the gradient and the logit.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>) {
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    // expected-error@+1 {{expected 6 arguments for region 'derivative', got 5}}
    derivative (%s, %b, %h, %i, %j) {
      attn.yield %s : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S15: gradients of sinks, where there are any.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{op expected sinks for d_sinks to be the gradient of [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4x1xf32>)
  return
}

// -----

// S15: the axes of a captured tensor are letters.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    // expected-error@+1 {{expected an axis, b, h, i or j, or n for a computed index, got 'x'}}
    captured(%t[x] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4xf32>)
  return
}

// -----

// S15: one axis for each dimension.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{op captured tensor 0: expected an axis for each dimension of 'tensor<4xf32>', got 2 [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h, i] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4xf32>)
  return
}

// -----

// S15: a tensor without dimensions has one axis all the same.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{op captured tensor 0: expected an axis for each dimension of 'tensor<1xf32>', got 0 [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[] : tensor<f32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<f32>)
  return
}

// -----

// S15: two dimensions along one axis have a gradient in no order.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4x4xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h, h] : tensor<4x4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4x4xf32>)
  return
}

// -----

// S4: a dimension has the size of its axis, or 1.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<1x5xf32>) {
  // expected-error@+1 {{op captured tensor 0: expected dimension 1 to have size 1 or that of its axis, 8, got 5 [S4]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h, i] : tensor<1x5xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<1x5xf32>)
  return
}

// -----

// S15: a gradient has the type of its tensor.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{op expected the gradient of captured tensor 0 to have its type, 'tensor<4xf32>', got 'tensor<4xf16>' [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4xf16>)
  return
}

// -----

// S15: each captured tensor has a gradient.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{expected 4 gradients, and one more with that of sinks, got 3}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S15: a tensor has one gradient.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{op expected captured tensor 1 to be one that has no other gradient here [S15]}}
  %d:5 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[h] : tensor<4xf32>, %t[h] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// S15: scores read a tensor by its axes.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<?xf32>) {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[j] : tensor<?xf32>)
    score (%s, %b, %h, %i, %j) {
      // expected-error@+1 {{expected a tensor that has a gradient to be read by the coordinates that the kernel's 'captured' clause gives, and with a computed index as often as it says [S15]}}
      %x = attn.bias %s, %t[%i] : tensor<?xf32>
      attn.yield %x : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<?xf32>)
  return
}

// -----

// S15: what is read as often as the clause says has places for each read.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<?xf32>) {
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n][i] : tensor<?xf32>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %t[%i] : tensor<?xf32>
      // expected-error@+1 {{expected a tensor that has a gradient to be read by the coordinates that the kernel's 'captured' clause gives, and with a computed index as often as it says [S15]}}
      %y = attn.bias %x, %t[%i] : tensor<?xf32>
      attn.yield %y : f32
    }
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<?xf32>)
  return
}

// -----

// S15: reads have as many axes as each other.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4xf32>) {
  // expected-error@+1 {{op expected axes of the letters bhijn, as many for each read, got 'n,ni' [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n][n, i] : tensor<4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4xf32>)
  return
}

// -----

// S15: so has one along packed sequences.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<8x4x16xf32>, %v: tensor<8x4x16xf32>, %o: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %do: tensor<8x4x16xf32>, %n: tensor<3xi32>, %t: tensor<2xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do varlen(query = %n : tensor<3xi32>, key = %n : tensor<3xi32>)
    captured(%t[b] : tensor<2xf32>)
    : (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<2xf32>)
  return
}

// -----

// S15: packed sequences have no rectangle of queries and keys.
func.func @kernel(%q: tensor<8x4x16xf32>, %k: tensor<8x4x16xf32>, %v: tensor<8x4x16xf32>, %o: tensor<8x4x16xf32>, %lse: tensor<4x8xf32>, %do: tensor<8x4x16xf32>, %n: tensor<3xi32>, %t: tensor<8x8xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do varlen(query = %n : tensor<3xi32>, key = %n : tensor<3xi32>)
    captured(%t[i, j] : tensor<8x8xf32>)
    : (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<4x8xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x8xf32>)
  return
}

// -----

// S15: a computed index into a dimension whose size is open.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<?xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n] : tensor<?xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<?xf32>)
  return
}

// -----

// S15: elements are looked at for each value of a computed index, of which there are few.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<1025xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n] : tensor<1025xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<1025xf32>)
  return
}

// -----

// S15: a computed index next to a dimension along the keys.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4x8xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n, j] : tensor<4x8xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4x8xf32>)
  return
}

// -----

// S15: an output is none of the inputs that it is computed from.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{op expected out to be what forward gave, got one of its query, key and value [S15]}}
  %d:3 = attn.backward %q, %k, %v, %q, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// S15: a table has an entry. Messages call it by its name.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<0xf32> {attn.name = "table"}) {
  // expected-error@+1 {{op captured tensor 'table': expected an element or more for the computed index into dimension 0, got 'tensor<0xf32>' [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n] : tensor<0xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<0xf32>)
  return
}

// -----

// S15: places are counted in 32 bits.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<65536x32768xf32>) {
  // expected-error@+1 {{op captured tensor 0: expected fewer than 2^31 elements of a tensor whose gradient is scattered, got 'tensor<65536x32768xf32>' [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n, n] : tensor<65536x32768xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<65536x32768xf32>)
  return
}

// -----

// S15: one dimension has a computed index.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %t: tensor<4x4xf32>) attributes {attn.deterministic} {
  // expected-error@+1 {{op captured tensor 0: expected, for attn.deterministic, a tensor that is always read by the same coordinates, or once by one computed index into a dimension of a static size from 1 to 1024 and by no query, key or packed sequence: gradients of others are added up in no order [S15]}}
  %d:4 = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%t[n, n] : tensor<4x4xf32>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<4x4xf32>)
  return
}

// -----

// S19: the size of a page is part of the kernel.
func.func @open_pages(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %t: tensor<?x?xi32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected a static number of rows of a page, 1 or more, in the type of key, got 'tensor<?x?x4x16xf32>' [S19]}}
  %o = attn.forward %q, %k, %k paged(%t : tensor<?x?xi32>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// S19: pages hold rows of heads.
func.func @pages_of_rank_3(%q: tensor<?x?x4x16xf32>, %k: tensor<?x4x16xf32>, %t: tensor<?x?xi32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected key of rank 4 [P, rows of a page, H, D] with paged, got 'tensor<?x4x16xf32>' [S19]}}
  %o = attn.forward %q, %k, %k paged(%t : tensor<?x?xi32>)
    : (tensor<?x?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// S19: the table has a row for each batch entry.
func.func @pages_of_others(%q: tensor<2x?x4x16xf32>, %k: tensor<?x8x4x16xf32>, %t: tensor<3x?xi32>) -> tensor<2x?x4x16xf32> {
  // expected-error@+1 {{op expected dimension 0 of page table and dimension 0 of query to be equal, got 3 and 2 [S19]}}
  %o = attn.forward %q, %k, %k paged(%t : tensor<3x?xi32>)
    : (tensor<2x?x4x16xf32>, tensor<?x8x4x16xf32>, tensor<?x8x4x16xf32>) -> tensor<2x?x4x16xf32>
  return %o : tensor<2x?x4x16xf32>
}

// -----

// S19: and of packed queries for each sequence.
func.func @pages_of_other_sequences(%q: tensor<?x4x16xf32>, %k: tensor<?x8x4x16xf32>, %t: tensor<3x?xi32>, %c: tensor<3xi32>) -> tensor<?x4x16xf32> {
  // expected-error@+1 {{op expected dimension 0 of page table to be the number of sequences, got 3 where there are 3 cumulative lengths [S19]}}
  %o = attn.forward %q, %k, %k paged(%t : tensor<3x?xi32>) varlen(query = %c : tensor<3xi32>)
    : (tensor<?x4x16xf32>, tensor<?x8x4x16xf32>, tensor<?x8x4x16xf32>) -> tensor<?x4x16xf32>
  return %o : tensor<?x4x16xf32>
}

// -----

// S19: keys that lie in pages are not packed as well.
func.func @packed_pages(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %c: tensor<?xi32>) -> tensor<?x4x16xf32> {
  // expected-error@+1 {{op expected cumulative lengths of query alone where keys lie in pages [S19]}}
  %o = attn.forward %q, %k, %k paged(%t : tensor<?x?xi32>) varlen(query = %c : tensor<?xi32>, key = %c : tensor<?xi32>)
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  return %o : tensor<?x4x16xf32>
}

// -----

// S19: weights have a column for each key of a tensor, not of a table.
func.func @weights_of_pages(%q: tensor<?x?x4x16xf32>, %k: tensor<?x8x4x16xf32>, %t: tensor<?x?xi32>) -> tensor<?x4x?x?xf32> {
  // expected-error@+1 {{op expected no pages but for attn.forward [S19]}}
  %w = attn.weights %q, %k paged(%t : tensor<?x?xi32>) : (tensor<?x?x4x16xf32>, tensor<?x8x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %w : tensor<?x4x?x?xf32>
}
