// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of attn.backward, one a chunk. A comment above each names the rule that refuses it. What captured tensors
// have as gradients is in invalid-captured-gradients.mlir.

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
  // expected-error@+1 {{op expected a schedule of program 'dkdv' for launches of #attn.sizes<>}}
  %d:3 = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24, program = dq>)
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// A schedule of forward.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %o: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>, %dlse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{op expected schedules for the programs dq, dkdv, got one with program = forward}}
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

// S15: an output is none of the inputs that it is computed from.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>, %v: tensor<2x8x4x16xf32>, %lse: tensor<2x4x8xf32>, %do: tensor<2x8x4x16xf32>) {
  // expected-error@+1 {{op expected out to be what forward gave, got one of its query, key and value [S15]}}
  %d:3 = attn.backward %q, %k, %v, %q, %lse, %do
    : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}
