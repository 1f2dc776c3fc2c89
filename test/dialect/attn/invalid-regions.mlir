// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of regions, one a chunk: what they take and yield, and the operations in them.

//===----------------------------------------------------------------------===//
// What they take, yield and hold
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
// What is not admitted of arith and math, and what is of neither
//===----------------------------------------------------------------------===//

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
