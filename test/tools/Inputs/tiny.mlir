// Causal attention with a run-time scale, small enough for tests.
func.func @tiny(%q: tensor<?x?x2x8xf32> {attn.name = "q"}, %k: tensor<?x?x1x8xf32> {attn.name = "k"},
                %v: tensor<?x?x1x8xf32> {attn.name = "v"}, %scale: f32 {attn.name = "scale"})
    -> (tensor<?x?x2x8xf32> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v scale(%scale)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x8xf32>, tensor<?x2x?xf32>
}
