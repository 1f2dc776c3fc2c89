func.func @runtime_scalars(%q: tensor<?x?x16x128xbf16> {attn.name = "q"}, %k: tensor<?x?x4x128xbf16> {attn.name = "k"},
                           %v: tensor<?x?x4x128xbf16> {attn.name = "v"}, %scale: f32 {attn.name = "scale"},
                           %window: index {attn.name = "window"}, %cap: f32 {attn.name = "cap"})
    -> (tensor<?x?x16x128xbf16> {attn.name = "out"}, tensor<?x16x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v scale(%scale)
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, %cap
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(%window) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}
