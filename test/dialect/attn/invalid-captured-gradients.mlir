// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of the gradients of captured tensors, one a chunk: the axes of attn.backward's `captured` clause. A
// comment above each names the rule that refuses it.

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
