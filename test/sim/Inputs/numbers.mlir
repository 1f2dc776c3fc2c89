// Scores with large numbers. Tests put one for NUMBER, and a type for TYPE.

func.func @past(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %c = arith.cmpi sgt, %j, %i : index
      %x = arith.select %c, %n, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

func.func @rows(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %place = arith.constant 100 : index
      %c = arith.cmpi slt, %i, %place : index
      %x = arith.select %c, %n, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

func.func @first(%q: tensor<?x?x2x128xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x128xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x128xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x128xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %place = arith.constant 100 : index
      %c = arith.cmpi slt, %j, %place : index
      %x = arith.select %c, %n, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x128xTYPE>, tensor<?x?x1x128xTYPE>, tensor<?x?x1x128xTYPE>)
    -> (tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>
}

func.func @last(%q: tensor<?x?x2x128xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x128xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x128xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x128xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %place = arith.constant 100 : index
      %c = arith.cmpi sge, %j, %place : index
      %x = arith.select %c, %n, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x128xTYPE>, tensor<?x?x1x128xTYPE>, tensor<?x?x1x128xTYPE>)
    -> (tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xTYPE>, tensor<?x2x?xf32>
}

func.func @added(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %x = arith.addf %s, %n : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

func.func @added_to_some(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %place = arith.constant 100 : index
      %c = arith.cmpi sge, %j, %place : index
      %zero = arith.constant 0.0 : f32
      %a = arith.select %c, %n, %zero : f32
      %x = arith.addf %s, %a : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

func.func @times(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %x = arith.mulf %s, %n : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

func.func @steep(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.constant NUMBER : f32
      %d = arith.subi %i, %j : index
      %m = arith.index_cast %d : index to i32
      %f = arith.sitofp %m : i32 to f32
      %g = arith.mulf %f, %n : f32
      %x = arith.subf %s, %g : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>)
    -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}

// The same number for all keys: limits as narrow as can be.
func.func @alone(%q: tensor<?x?x2x64xTYPE> {attn.name = "q"}, %k: tensor<?x?x1x64xTYPE> {attn.name = "k"}, %v: tensor<?x?x1x64xTYPE> {attn.name = "v"})
    -> (tensor<?x?x2x64xTYPE> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %number = arith.constant NUMBER : f32
      attn.yield %number : f32
    }
    : (tensor<?x?x2x64xTYPE>, tensor<?x?x1x64xTYPE>, tensor<?x?x1x64xTYPE>) -> (tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xTYPE>, tensor<?x2x?xf32>
}
