// Llama 4 Scout, local layer: causal attention within chunks of 8192.
//
// Query and key must lie in the same chunk: i / 8192 == j / 8192, in plain arith. Division rounds down, so that
// positions below zero (more queries than keys, S2) fall into chunks of their own.
//
// The demo asks for the last 4 positions of a sequence of 8194: two in the first chunk, two in the second.
//
// DEMO: --shape B=1,Sq=4,Sk=8194
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
