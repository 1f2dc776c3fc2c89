// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of lengths, packed sequences and pages, one a chunk. A comment above each names the rule that refuses it.

//===----------------------------------------------------------------------===//
// Lengths and packed sequences
//===----------------------------------------------------------------------===//

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
// Pages
//===----------------------------------------------------------------------===//

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
  // expected-error@+1 {{op expected pages only with attn.forward [S19]}}
  %w = attn.weights %q, %k paged(%t : tensor<?x?xi32>) : (tensor<?x?x4x16xf32>, tensor<?x8x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %w : tensor<?x4x?x?xf32>
}
