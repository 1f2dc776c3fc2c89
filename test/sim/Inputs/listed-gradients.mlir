// Segments of queries and of keys, in f16; two heads share keys.
func.func @segments(%q: tensor<?x?x4x64xf16> {attn.name = "q"}, %k: tensor<?x?x2x64xf16> {attn.name = "k"},
                    %v: tensor<?x?x2x64xf16> {attn.name = "v"}, %of_q: tensor<?x?xi32>, %of_k: tensor<?x?xi32>)
    -> (tensor<?x?x4x64xf16>, tensor<?x4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %of_q[%b, %i], %of_k[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> (tensor<?x?x4x64xf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x64xf16>, tensor<?x4x?xf32>
}
