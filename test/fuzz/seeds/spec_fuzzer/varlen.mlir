func.func @varlen(%q: tensor<?x14x64xbf16> {attn.name = "q"}, %k: tensor<?x2x64xbf16> {attn.name = "k"},
                  %v: tensor<?x2x64xbf16> {attn.name = "v"}, %q_offsets: tensor<?xi32> {attn.name = "q_offsets"},
                  %k_offsets: tensor<?xi32> {attn.name = "k_offsets"})
    -> (tensor<?x14x64xbf16> {attn.name = "out"}, tensor<14x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %q_offsets : tensor<?xi32>, key = %k_offsets : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x14x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) -> (tensor<?x14x64xbf16>, tensor<14x?xf32>)
  return %o, %lse : tensor<?x14x64xbf16>, tensor<14x?xf32>
}
