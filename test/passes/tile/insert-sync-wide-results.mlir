// The slope of this score is a number that does not depend on the logit and is computed in f64. Its rounding to f32 stays in the
// map that computes it: split off, it would come after the map that reads it.

// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit tile -o - | FileCheck %s
// CHECK: tile.program @f_backward
// CHECK: math.exp2

func.func @f(%q: tensor<?x?x2x64xf16> {attn.name = "q"}, %k: tensor<?x?x2x64xf16> {attn.name = "k"},
             %v: tensor<?x?x2x64xf16> {attn.name = "v"}, %x: index {attn.name = "x"},
             %t: tensor<1xbf16> {attn.name = "t"})
    -> (tensor<?x?x2x64xf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %out, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %e = attn.load %t[%x] : tensor<1xbf16>
      %w = arith.extf %e : bf16 to f32
      %c = math.cosh %w : f32
      %y = arith.mulf %s, %c : f32
      attn.yield %y : f32
    }
    : (tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> (tensor<?x?x2x64xf16>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x?x2x64xf16>, tensor<?x2x?xf32>
}
