// Mistral 7B v0.1: causal sliding window of 4096 keys, grouped queries.
//
// A query sees itself and the 4095 keys before it (S5). A window whose right side is 0 is causal, so no attn.causal is
// written. Tiles of keys that lie wholly outside the window are never loaded.
//
// The demo asks for the last 8 positions of a sequence of 4352, where the window drops keys.
//
// DEMO: --shape B=1,Sq=8,Sk=4352
func.func @mistral(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"},
                   %v: tensor<?x?x8x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(4095) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
