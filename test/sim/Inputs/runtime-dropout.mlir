// The probability is an argument: what weights are multiplied by is known to the launch.
func.func @runtime_dropout(%q: tensor<?x?x2x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %p: f32,
                           %seed: i64) -> (tensor<?x?x2x64xf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v dropout(%p, %seed)
    : (tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> (tensor<?x?x2x64xf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xf16>, tensor<?x2x?xf32>
}
