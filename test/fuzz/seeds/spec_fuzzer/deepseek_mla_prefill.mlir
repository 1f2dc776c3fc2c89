func.func @deepseek_mla_prefill(%q: tensor<?x?x128x192xbf16> {attn.name = "q"},
                                %k: tensor<?x?x128x192xbf16> {attn.name = "k"},
                                %v: tensor<?x?x128x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x128x128xbf16> {attn.name = "out"}, tensor<?x128x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v scale(0.13523378)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x128x192xbf16>, tensor<?x?x128x192xbf16>, tensor<?x?x128x128xbf16>)
    -> (tensor<?x?x128x128xbf16>, tensor<?x128x?xf32>)
  return %o, %lse : tensor<?x?x128x128xbf16>, tensor<?x128x?xf32>
}
