func.func @paligemma(%q: tensor<?x?x8x256xbf16> {attn.name = "q"}, %k: tensor<?x?x1x256xbf16> {attn.name = "k"},
                     %v: tensor<?x?x1x256xbf16> {attn.name = "v"}, %prefix: tensor<?xi32> {attn.name = "prefix"})
    -> (tensor<?x?x8x256xbf16> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %causal = attn.causal %i, %j
      %in_prefix = attn.prefix %j, %prefix[%b] : tensor<?xi32>
      %keep = arith.ori %causal, %in_prefix : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>)
    -> (tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>
}
