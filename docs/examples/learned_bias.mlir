// A bias that is learned, one for each head, query and key, which all batch entries share, and ALiBi slopes that are
// learned too. In addition to the gradients of queries, keys and values, `--backward` gives those of both (S15):
//
//   attnc verify docs/examples/learned_bias.mlir --backward --shape B=2,Sq=256,Sk=256
//
// DEMO: --shape B=2,Sq=256,Sk=256
func.func @learned_bias(%q: tensor<?x?x8x64xbf16> {attn.name = "q"},
                        %k: tensor<?x?x8x64xbf16> {attn.name = "k"},
                        %v: tensor<?x?x8x64xbf16> {attn.name = "v"},
                        %bias: tensor<8x?x?xbf16> {attn.name = "bias", attn.requires_grad},
                        %slopes: tensor<8xf32> {attn.name = "slopes", attn.requires_grad})
    -> (tensor<?x?x8x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%h, %i, %j] : tensor<8x?x?xbf16>
      %y = attn.alibi %x, %slopes[%h], %i, %j : tensor<8xf32>
      attn.yield %y : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}
