func.func @kernel(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %first, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x?xf32>)
  %out = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %biased = attn.bias %s, %lse[%b, %h, %i] : tensor<?x2x?xf32>
      attn.yield %biased : f32
    }
    : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %out : tensor<?x?x2x8xf32>
}
