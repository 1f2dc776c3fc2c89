// Positions that a region computes, past 32 bits.

func.func @alibi(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                 %t: tensor<2xf32>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %far = arith.constant 2147483648 : index
      %p = arith.muli %i, %far : index
      %x = attn.alibi %s, %t[%h], %p, %j : tensor<2xf32>
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @window(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %far = arith.constant 1099511627776 : index
      %x = arith.addi %i, %far : index
      %keep = attn.window %x, %j left(2147483648) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @apart(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %far = arith.constant 1099511627776 : index
      %x = arith.addi %i, %far : index
      %never = attn.window %x, %j left(5)
      %causal = attn.causal %i, %j
      %keep = arith.ori %never, %causal : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}
