// Pre-training on packed documents: several documents in one row, none sees another.
//
// Each position carries the number of its document; -1 marks padding, which sees nothing and is seen by nothing (S12).
// One tensor serves queries and keys, so Sq and Sk are one size, named Sq. Tiles whose ids cannot meet are skipped: a
// small pre-pass finds the least and the greatest id of each tile at run time.
//
// DEMO: --shape B=1,Sq=256
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
