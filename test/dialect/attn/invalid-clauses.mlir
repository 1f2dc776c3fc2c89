// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what clauses say about scale, dropout and sinks, one a chunk. A comment above each names the rule that
// refuses it.

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

// S18: clauses of attn.weights too.
func.func @kernel(%q: tensor<2x8x4x16xf32>, %k: tensor<2x9x2x16xf32>, %n: i64) {
  // expected-error@+1 {{op expected a dropout probability from 0 to 1, got -5.000000e-01 [S18]}}
  %w = attn.weights %q, %k dropout(-0.5, %n)
    : (tensor<2x8x4x16xf32>, tensor<2x9x2x16xf32>) -> tensor<2x4x8x9xf32>
  return
}
