func.func @vit(%q: tensor<?x?x16x80xf32> {attn.name = "q"}, %k: tensor<?x?x16x80xf32> {attn.name = "k"},
               %v: tensor<?x?x16x80xf32> {attn.name = "v"})
    -> (tensor<?x?x16x80xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x16x80xf32>, tensor<?x?x16x80xf32>, tensor<?x?x16x80xf32>) -> tensor<?x?x16x80xf32>
  return %o : tensor<?x?x16x80xf32>
}
