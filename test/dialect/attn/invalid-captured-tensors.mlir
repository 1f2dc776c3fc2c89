// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of captured tensors and of the indices that they are read by, one a chunk. A comment above each names the
// rule that refuses it.

//===----------------------------------------------------------------------===//
// Indices, sizes and types
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

//===----------------------------------------------------------------------===//
// Coordinates, and generic operations
//===----------------------------------------------------------------------===//

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
