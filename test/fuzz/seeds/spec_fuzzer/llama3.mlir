func.func @llama3(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"},
                  %v: tensor<?x?x8x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
