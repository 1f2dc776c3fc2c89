// GPT-2, training in f16: causal attention with dropout 0.1 on the weights.
//
// Whether a weight is dropped depends on the seed and on its place in the tensors, and on nothing else (S9): not on
// tiles, not on the machine. The seed is an argument, so that a new one for each step compiles nothing.
//
// DEMO: --shape B=2,Sq=256,Sk=256
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
