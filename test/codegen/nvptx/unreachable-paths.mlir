// A mask that drops all keys of head 0, which is the only one: what optimisation leaves of the steps over queries is
// removed. ptxas 13.0 crashed on the endless loops that it became otherwise.

// REQUIRES: ptxas
// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit llvm | FileCheck %s --implicit-check-not='br i1 {{poison|true|false}}' --implicit-check-not=unreachable
// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit cubin -o %t.cubin

// CHECK: define {{.*}}@f_backward_dkdv_entry

!q = tensor<?x1x1x8xbf16>
!k = tensor<?x?x1x8xbf16>

func.func @f(%q: !q, %k: !k, %v: !k, %query_lengths: tensor<?xi32>, %key_lengths: tensor<?xi32>,
             %factors: tensor<1x1x1x?xf16>, %table: tensor<1x1x17xbf16>) -> !q {
  %o = attn.forward %q, %k, %v
    lengths(query = %query_lengths : tensor<?xi32>, key = %key_lengths : tensor<?xi32>)
    score (%s, %b, %h, %i, %j) {
      %factor = attn.load %factors[%h, %i, %j, %b] : tensor<1x1x1x?xf16>
      %wide = arith.extf %factor : f16 to f32
      %factor_exp = math.exp %wide : f32
      %scaled = arith.mulf %s, %factor_exp : f32
      %distance = arith.subi %j, %i : index
      %entry = attn.load %table[%h, %b, %distance] : tensor<1x1x17xbf16>
      %other = arith.extf %entry : bf16 to f32
      %score = arith.mulf %scaled, %other : f32
      attn.yield %score : f32
    }
    mask (%b, %h, %i, %j) {
      %odd = arith.index_castui %h : index to i1
      attn.yield %odd : i1
    }
    : (!q, !k, !k) -> !q
  return %o : !q
}
