func.func @gpt_oss_local(%q: tensor<?x?x64x64xbf16> {attn.name = "q"}, %k: tensor<?x?x8x64xbf16> {attn.name = "k"},
                         %v: tensor<?x?x8x64xbf16> {attn.name = "v"}, %sinks: tensor<64x1xf32> {attn.name = "sinks"})
    -> (tensor<?x?x64x64xbf16> {attn.name = "out"}, tensor<?x64x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v sinks(%sinks : tensor<64x1xf32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(127) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x64x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>)
    -> (tensor<?x?x64x64xbf16>, tensor<?x64x?xf32>)
  return %o, %lse : tensor<?x?x64x64xbf16>, tensor<?x64x?xf32>
}
