func.func @chunked_prefill(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"},
                           %v: tensor<?x?x8x128xbf16> {attn.name = "v"}, %start: index {attn.name = "start"},
                           %filled: tensor<?xi32> {attn.name = "filled"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) q_offset(%start) lengths(key = %filled : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
