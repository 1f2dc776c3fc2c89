func.func @llama4_local(%q: tensor<?x?x40x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"},
                        %v: tensor<?x?x8x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x40x128xbf16> {attn.name = "out"}, tensor<?x40x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %chunk = arith.constant 8192 : index
      %query_chunk = arith.floordivsi %i, %chunk : index
      %key_chunk = arith.floordivsi %j, %chunk : index
      %same = arith.cmpi eq, %query_chunk, %key_chunk : index
      %causal = attn.causal %i, %j
      %keep = arith.andi %causal, %same : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x40x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>)
    -> (tensor<?x?x40x128xbf16>, tensor<?x40x?xf32>)
  return %o, %lse : tensor<?x?x40x128xbf16>, tensor<?x40x?xf32>
}
