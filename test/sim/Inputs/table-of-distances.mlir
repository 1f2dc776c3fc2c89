func.func @table(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"},
                 %v: tensor<?x?x2x64xbf16> {attn.name = "v"}, %near: tensor<?xi1> {attn.name = "near"})
    -> tensor<?x?x2x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %keep = attn.load %near[%d] : tensor<?xi1>
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}
