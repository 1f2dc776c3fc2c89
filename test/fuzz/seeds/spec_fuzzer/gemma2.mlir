func.func @gemma2_local(%q: tensor<?x?x16x256xbf16> {attn.name = "q"}, %k: tensor<?x?x8x256xbf16> {attn.name = "k"},
                        %v: tensor<?x?x8x256xbf16> {attn.name = "v"})
    -> (tensor<?x?x16x256xbf16> {attn.name = "out"}, tensor<?x16x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v scale(0.0625)
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 50.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %causal = attn.causal %i, %j
      %local = attn.window %i, %j left(4095)
      %keep = arith.andi %causal, %local : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x256xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>)
    -> (tensor<?x?x16x256xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x256xbf16>, tensor<?x16x?xf32>
}
