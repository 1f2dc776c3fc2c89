// BERT base with its attention weights as a second result.
//
// attn.weights gives the probabilities that attn.forward multiplies the values with. Its clauses are those of the
// forward, written again. The result takes Sq * Sk elements a head, so it is for looking at, not for training.
//
// DEMO: --shape B=2,Sq=128,Sk=128
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
