func.func @kernel(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>)
    -> (tensor<?x?x2x8xf32> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %seed = arith.constant -5 : i64
  %out, %lse = attn.forward %q, %k, %v dropout(0.5, %seed)
    : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x2x?xf32>)
  return %out, %lse : tensor<?x?x2x8xf32>, tensor<?x2x?xf32>
}
