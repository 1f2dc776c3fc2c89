func.func @packed_documents(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"},
                            %v: tensor<?x?x8x128xbf16> {attn.name = "v"}, %ids: tensor<?x?xi32> {attn.name = "ids"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %causal = attn.causal %i, %j
      %same = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      %keep = arith.andi %causal, %same : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
