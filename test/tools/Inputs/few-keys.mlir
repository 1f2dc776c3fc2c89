// Few keys of few rows: what rounds alike may be a quarter further off in the mean, or nearer.
func.func @few_keys(%q: tensor<?x?x2x64xf32> {attn.name = "q"}, %k: tensor<?x?x2x64xf32> {attn.name = "k"},
                    %v: tensor<?x?x2x64xf32> {attn.name = "v"}) -> (tensor<?x?x2x64xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %end = arith.constant 16 : index
      %keep = arith.cmpi ult, %j, %end : index
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32>
  return %o : tensor<?x?x2x64xf32>
}
