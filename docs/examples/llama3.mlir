// Llama 3 8B: causal attention with grouped queries.
//
// 32 query heads share 8 key heads: query head h reads key head h / 4 (S10). The scale is 1/sqrt(128), the default
// (S1). Alignment is bottom_right, the default (S2): with more keys than queries, as in a continued prompt, the last
// query still sees every key.
//
// DEMO: --shape B=1,Sq=256,Sk=256
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
