// RUN: attnc-opt %s --attn-to-tile -split-input-file -verify-diagnostics

// What a function must be to be a kernel.

!t = tensor<?x?x1x8xf32>
func.func @foreign(%q: !t, %n: i32) -> !t {
  // expected-error@+1 {{'arith.addi' op does not belong in a kernel function; expected attn operations, constants and return}}
  %m = arith.addi %n, %n : i32
  %o = attn.forward %q, %q, %q : (!t, !t, !t) -> !t
  return %o : !t
}

// -----

!t = tensor<?x?x1x8xf32>
!p = tensor<?x1x8xf32>
func.func @packed_and_padded(%q: !t, %p: !p, %n: tensor<?xi32>) -> (!t, !p) {
  %o = attn.forward %q, %q, %q : (!t, !t, !t) -> !t
  // expected-error@+1 {{'attn.forward' op expected all kernels of a function to be packed, or none [S11]}}
  %r = attn.forward %p, %p, %p varlen(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>) : (!p, !p, !p) -> !p
  return %o, %r : !t, !p
}

// -----

!q = tensor<?x?x1x8xf32>
!k = tensor<?x16x1x8xf32>
!l = tensor<?x8x1x8xf32>
func.func @pages_of_two_sizes(%q: !q, %k: !k, %l: !l, %table: tensor<?x?xi32>) -> (!q, !q) {
  %o = attn.forward %q, %k, %k paged(%table : tensor<?x?xi32>) : (!q, !k, !k) -> !q
  // expected-error@+1 {{'attn.forward' op expected pages of 16 rows, as another kernel has them by this table, got 8 [S19]}}
  %p = attn.forward %q, %l, %l paged(%table : tensor<?x?xi32>) : (!q, !l, !l) -> !q
  return %o, %p : !q, !q
}

// -----

// There is an entry for 16 keys: by the number of a key, it would be read past its end.

!q = tensor<?x?x1x8xf32>
!k = tensor<?x16x1x8xf32>
func.func @entries_by_key(%q: !q, %k: !k, %table: tensor<?x?xi32>) -> !q {
  %o = attn.forward %q, %k, %k paged(%table : tensor<?x?xi32>)
    mask (%b, %h, %i, %j) {
      // expected-error@+1 {{'attn.same_segment' op expected an index of its own for the entries of a page table, of which each is for several keys [S19]}}
      %keep = attn.same_segment %table[%b, %i], %table[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    }
    : (!q, !k, !k) -> !q
  return %o : !q
}
