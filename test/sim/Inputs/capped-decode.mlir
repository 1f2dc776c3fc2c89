// One query of grouped heads under a soft cap, over parts of its keys.

func.func @capped(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x4x64xbf16> {attn.name = "out"}, tensor<?x4x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> (tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>
}
