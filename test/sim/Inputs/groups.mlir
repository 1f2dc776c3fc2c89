// Query heads that share key heads.

func.func @causal8(%q: tensor<?x?x16x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"},
                   %v: tensor<?x?x2x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x16x64xbf16> {attn.name = "out"}, tensor<?x16x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>
}

// A window, and a head dim of two panels.
func.func @causal4(%q: tensor<?x?x8x128xbf16> {attn.name = "q"}, %k: tensor<?x?x2x128xbf16> {attn.name = "k"},
                   %v: tensor<?x?x2x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x8x128xbf16> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(140) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>)
      -> (tensor<?x?x8x128xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x128xbf16>, tensor<?x8x?xf32>
}

// Each head has sinks of its own; six heads of a group leave pairs.
func.func @sinks(%q: tensor<?x?x12x64xf16> {attn.name = "q"}, %k: tensor<?x?x2x64xf16> {attn.name = "k"},
                 %v: tensor<?x?x2x64xf16> {attn.name = "v"}, %n: tensor<12x2xf32> {attn.name = "n"})
    -> (tensor<?x?x12x64xf16> {attn.name = "out"}, tensor<?x12x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v sinks(%n : tensor<12x2xf32>)
    : (tensor<?x?x12x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>)
      -> (tensor<?x?x12x64xf16>, tensor<?x12x?xf32>)
  return %o, %lse : tensor<?x?x12x64xf16>, tensor<?x12x?xf32>
}

func.func @lengths(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"},
                   %v: tensor<?x?x2x64xbf16> {attn.name = "v"}, %ql: tensor<?xi32> {attn.name = "ql"},
                   %kl: tensor<?xi32> {attn.name = "kl"})
    -> (tensor<?x?x8x64xbf16> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}

func.func @varlen(%q: tensor<?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x2x64xbf16> {attn.name = "k"},
                  %v: tensor<?x2x64xbf16> {attn.name = "v"}, %qo: tensor<?xi32> {attn.name = "qo"},
                  %ko: tensor<?xi32> {attn.name = "ko"})
    -> (tensor<?x8x64xbf16> {attn.name = "out"}, tensor<8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) -> (tensor<?x8x64xbf16>, tensor<8x?xf32>)
  return %o, %lse : tensor<?x8x64xbf16>, tensor<8x?xf32>
}

// A list of steps for the queries of a tile, and ids that a tile reads for each query.
func.func @segments(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"},
                    %v: tensor<?x?x2x64xbf16> {attn.name = "v"}, %qs: tensor<?x?xi32> {attn.name = "qs"},
                    %ks: tensor<?x?xi32> {attn.name = "ks"})
    -> (tensor<?x?x8x64xbf16> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}

func.func @float(%q: tensor<?x?x8x40xf32> {attn.name = "q"}, %k: tensor<?x?x2x40xf32> {attn.name = "k"},
                 %v: tensor<?x?x2x40xf32> {attn.name = "v"})
    -> (tensor<?x?x8x40xf32> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x8x40xf32>, tensor<?x?x2x40xf32>, tensor<?x?x2x40xf32>) -> (tensor<?x?x8x40xf32>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x40xf32>, tensor<?x8x?xf32>
}

func.func @weights(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"})
    -> (tensor<?x8x?x?xbf16> {attn.name = "out"}) {
  %w = attn.weights %q, %k : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x8x?x?xbf16>
  return %w : tensor<?x8x?x?xbf16>
}

func.func @slopes(%q: tensor<?x?x8x128xbf16> {attn.name = "q"}, %k: tensor<?x?x2x128xbf16> {attn.name = "k"},
                  %v: tensor<?x?x2x128xbf16> {attn.name = "v"}, %slopes: tensor<8xf32> {attn.name = "slopes"})
    -> (tensor<?x?x8x128xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<8xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x?x8x128xbf16>
  return %o : tensor<?x?x8x128xbf16>
}
