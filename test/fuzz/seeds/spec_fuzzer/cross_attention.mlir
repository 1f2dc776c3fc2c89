func.func @cross_attention(%q: tensor<?x?x16x64xbf16> {attn.name = "q"}, %k: tensor<?x?x16x64xbf16> {attn.name = "k"},
                           %v: tensor<?x?x16x64xbf16> {attn.name = "v"}, %mask: tensor<?x1x?x?xi1> {attn.name = "mask"},
                           %key_lengths: tensor<?xi32> {attn.name = "key_lengths"})
    -> (tensor<?x?x16x64xbf16> {attn.name = "out"}, tensor<?x16x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) lengths(key = %key_lengths : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.load %mask[%b, %h, %i, %j] : tensor<?x1x?x?xi1>
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>)
    -> (tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>
}
