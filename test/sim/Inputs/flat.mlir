// A score with a slope of 1e-9, at a head dim whose sums two warpgroups have.
func.func @flat(%q: tensor<?x?x1x192xbf16>, %k: tensor<?x?x1x192xbf16>, %v: tensor<?x?x1x192xbf16>) -> (tensor<?x?x1x192xbf16>, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
    %slope = arith.constant 1.0e-9 : f32
    %flatter = arith.mulf %s, %slope : f32
    attn.yield %flatter : f32
  } : (tensor<?x?x1x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x1x192xbf16>) -> (tensor<?x?x1x192xbf16>, tensor<?x1x?xf32>)
  return %o, %lse : tensor<?x?x1x192xbf16>, tensor<?x1x?xf32>
}
