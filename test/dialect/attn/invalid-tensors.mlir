// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of tensors and results: ranks, sizes, heads, element types, head dims. One a chunk. A comment above each
// names the rule that refuses it.

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
