// In f16, a score with a slope of three.
func.func @steep(%q: tensor<?x?x1x64xf16>, %k: tensor<?x?x1x64xf16>, %v: tensor<?x?x1x64xf16>) -> (tensor<?x?x1x64xf16>, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
    %three = arith.constant 3.0 : f32
    %steeper = arith.mulf %s, %three : f32
    attn.yield %steeper : f32
  } : (tensor<?x?x1x64xf16>, tensor<?x?x1x64xf16>, tensor<?x?x1x64xf16>) -> (tensor<?x?x1x64xf16>, tensor<?x1x?xf32>)
  return %o, %lse : tensor<?x?x1x64xf16>, tensor<?x1x?xf32>
}
