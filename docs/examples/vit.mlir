// ViT-H/14: full attention in f32, head dim 80, 257 tokens.
//
// Neither 80 nor 257 is a multiple of a usual tile. Padding is the kernel's business: the tensors keep their sizes
// (S14). f32 inputs keep the probabilities in f32 for the product with the values (S13).
//
// DEMO: --shape B=2,Sq=257,Sk=257
func.func @vit(%q: tensor<?x?x16x80xf32> {attn.name = "q"}, %k: tensor<?x?x16x80xf32> {attn.name = "k"},
               %v: tensor<?x?x16x80xf32> {attn.name = "v"})
    -> (tensor<?x?x16x80xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x16x80xf32>, tensor<?x?x16x80xf32>, tensor<?x?x16x80xf32>) -> tensor<?x?x16x80xf32>
  return %o : tensor<?x?x16x80xf32>
}
