// Causal attention with a bias that is learnt: one number for each head and distance, and one for all distances of 31 and
// more. train_block.py runs it and its gradients.
func.func @block(%q: tensor<?x?x4x16xf32> {attn.name = "q"}, %k: tensor<?x?x4x16xf32> {attn.name = "k"},
                 %v: tensor<?x?x4x16xf32> {attn.name = "v"},
                 %table: tensor<32x4xf32> {attn.name = "table", attn.requires_grad})
    -> (tensor<?x?x4x16xf32> {attn.name = "out"}, tensor<?x4x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      // Distances past the end are clamped to it, as every computed index is.
      %distance = arith.subi %i, %j : index
      %biased = attn.bias %s, %table[%distance, %h] : tensor<32x4xf32>
      attn.yield %biased : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x16xf32>, tensor<?x4x?xf32>
}
