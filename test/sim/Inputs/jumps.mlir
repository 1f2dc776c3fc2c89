// Logits that jump at two places, from the last keys to the first: by JUMP on the way, by JUMP again at the first of
// a row's last step. Tests put a number there, in natural units, and a type for TYPE.

func.func @jump64(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %far = arith.constant 200 : index
      %near = arith.constant 40 : index
      %jump = arith.constant JUMP : f32
      %isFar = arith.cmpi slt, %j, %far : index
      %isNear = arith.cmpi slt, %j, %near : index
      %once = arith.addf %s, %jump : f32
      %x = arith.select %isFar, %once, %s : f32
      %twice = arith.addf %x, %jump : f32
      %y = arith.select %isNear, %twice, %x : f32
      attn.yield %y : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

// Under a causal mask, for odd rows only, at the first of a row's last step.
func.func @jump128(%q: tensor<?x?x2x128xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x128xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x128xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x128xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %two = arith.constant 2 : index
      %zero = arith.constant 0 : index
      %phase = arith.remui %i, %two : index
      %even = arith.cmpi eq, %phase, %zero : index
      %far = arith.constant 40 : index
      %jump = arith.constant JUMP : f32
      %isFar = arith.cmpi slt, %j, %far : index
      %once = arith.addf %s, %jump : f32
      %x = arith.select %isFar, %once, %s : f32
      %y = arith.select %even, %s, %x : f32
      attn.yield %y : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xTYPE>, tensor<?x?x1x128xTYPE>, tensor<?x?x1x128xTYPE>)
    -> (tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>
}

// Under dropout f16 has less room.
func.func @dropped(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"}, %seed: i64 {attn.name = "seed"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v dropout(0.95, %seed)
    score (%s, %b, %h, %i, %j) {
      %far = arith.constant 128 : index
      %jump = arith.constant JUMP : f32
      %isFar = arith.cmpi slt, %j, %far : index
      %once = arith.addf %s, %jump : f32
      %x = arith.select %isFar, %once, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}
