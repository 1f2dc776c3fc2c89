func.func @bloom(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x?x32x128xbf16> {attn.name = "k"},
                 %v: tensor<?x?x32x128xbf16> {attn.name = "v"}, %slopes: tensor<32xf32> {attn.name = "slopes"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %penalised = attn.alibi %s, %slopes[%h], %i, %j : tensor<32xf32>
      attn.yield %penalised : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x?x32x128xbf16>, tensor<?x?x32x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
