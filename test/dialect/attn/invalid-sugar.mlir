// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of the operations for scores and masks: caps, slopes, biases, windows, segments, prefixes. One a chunk. A
// comment above each names the rule that refuses it.

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
