func.func @kernel(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %kept = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
  %out = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.load %kept[%j] : tensor<4xi1>
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %out : tensor<?x?x2x8xf32>
}
