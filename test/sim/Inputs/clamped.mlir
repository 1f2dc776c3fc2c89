// Scores between two limits. Tests put a number for LIMIT.

func.func @clamped(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x4x64xbf16> {attn.name = "k"}, %v: tensor<?x?x4x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x4x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %high = arith.constant LIMIT : f32
      %low = arith.negf %high : f32
      %x = math.clampf %s to [%low, %high] : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
