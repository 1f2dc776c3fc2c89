func.func @bert_with_weights(%q: tensor<?x?x12x64xf32> {attn.name = "q"}, %k: tensor<?x?x12x64xf32> {attn.name = "k"},
                             %v: tensor<?x?x12x64xf32> {attn.name = "v"},
                             %lengths: tensor<?xi32> {attn.name = "lengths"})
    -> (tensor<?x?x12x64xf32> {attn.name = "out"}, tensor<?x12x?x?xf32> {attn.name = "weights"}) {
  %o = attn.forward %q, %k, %v lengths(key = %lengths : tensor<?xi32>)
    : (tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>) -> tensor<?x?x12x64xf32>
  %w = attn.weights %q, %k lengths(key = %lengths : tensor<?xi32>)
    : (tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>) -> tensor<?x12x?x?xf32>
  return %o, %w : tensor<?x?x12x64xf32>, tensor<?x12x?x?xf32>
}
