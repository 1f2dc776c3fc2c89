// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// What cannot be read: clauses, literals and the arguments of regions. One fault a chunk. A comment above each
// names the rule that refuses it.

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
