func.func @gpt2_training(%q: tensor<?x?x12x64xf16> {attn.name = "q"}, %k: tensor<?x?x12x64xf16> {attn.name = "k"},
                         %v: tensor<?x?x12x64xf16> {attn.name = "v"}, %seed: i64 {attn.name = "seed"})
    -> (tensor<?x?x12x64xf16> {attn.name = "out"}, tensor<?x12x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v dropout(0.1, %seed)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x12x64xf16>, tensor<?x?x12x64xf16>, tensor<?x?x12x64xf16>)
    -> (tensor<?x?x12x64xf16>, tensor<?x12x?xf32>)
  return %o, %lse : tensor<?x?x12x64xf16>, tensor<?x12x?xf32>
}
