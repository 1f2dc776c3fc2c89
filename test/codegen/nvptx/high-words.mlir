// A remainder by a constant takes the upper word of a product. Of the first column of a thread LLVM knows that its 64 bits
// are a word, and multiplied in 64 bits; ptxas 13.0 then made one multiply-add of the remainder's two products, which read
// other entries of the table.

// RUN: attnc compile %s --backward --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --implicit-check-not='mul.lo.s64 {{.*}}, 477218588;'

// CHECK: .entry f_backward_dq_entry
// CHECK: mov.b32 %[[NINTH:.*]], 477218588;
// CHECK: mul.hi.u32 %{{.*}}, %[[NINTH]];

!t = tensor<?x?x1x192xbf16>

func.func @f(%q: !t, %k: !t, %v: !t, %table: tensor<1x?xf16>, %factors: tensor<?x?x?x?xf16> {attn.requires_grad}) -> !t {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %nine = arith.constant 9 : index
      %rest = arith.remui %j, %nine : index
      %biased = attn.bias %s, %table[%b, %rest] : tensor<1x?xf16>
      %square_i = arith.muli %i, %i : index
      %square_j = arith.muli %j, %j : index
      %difference = arith.subi %square_i, %square_j : index
      %three = arith.constant 3 : index
      %near = arith.cmpi slt, %difference, %three : index
      %far = arith.constant -5000000000.0 : f32
      %chosen = arith.select %near, %biased, %far : f32
      %factor = attn.load %factors[%i, %b, %j, %h] : tensor<?x?x?x?xf16>
      %wide = arith.extf %factor : f16 to f32
      %power = math.exp %wide : f32
      %score = arith.mulf %chosen, %power : f32
      attn.yield %score : f32
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}
