// Grouped heads under a causal mask, whose gradients one program can compute.
func.func @small(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x1x64xbf16>, %v: tensor<?x?x1x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v mask (%b, %h, %i, %j) {
    %keep = arith.cmpi sge, %i, %j : index
    attn.yield %keep : i1
  } : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}
