// One small kernel for each head dimension and kind of mask that schedules differ by. Two query heads, one key head
// where queries are grouped.

func.func @full64(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"}, %v: tensor<?x?x2x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @causal64(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @window64(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(70) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @softcap64(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 50.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @full128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x2x128xbf16> {attn.name = "k"}, %v: tensor<?x?x2x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

func.func @causal128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"}, %v: tensor<?x?x1x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

// Consumers leave out several of the steps that others take.
func.func @steep128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"}, %v: tensor<?x?x1x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v align(top_left)
    mask (%b, %h, %i, %j) {
      %six = arith.constant 6 : index
      %some = arith.constant 100 : index
      %rise = arith.muli %i, %six : index
      %last = arith.addi %rise, %some : index
      %keep = arith.cmpi sle, %j, %last : index
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

func.func @window128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"}, %v: tensor<?x?x1x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(70) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

func.func @softcap128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"}, %v: tensor<?x?x1x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 50.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

func.func @full256(%q: tensor<?x?x2x256xbf16> {attn.name = "q"}, %k: tensor<?x?x2x256xbf16> {attn.name = "k"}, %v: tensor<?x?x2x256xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x256xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x2x256xbf16>, tensor<?x?x2x256xbf16>, tensor<?x?x2x256xbf16>)
    -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>
}

func.func @causal256(%q: tensor<?x?x2x256xbf16> {attn.name = "q"}, %k: tensor<?x?x1x256xbf16> {attn.name = "k"}, %v: tensor<?x?x1x256xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x256xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>)
    -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>
}

func.func @window256(%q: tensor<?x?x2x256xbf16> {attn.name = "q"}, %k: tensor<?x?x1x256xbf16> {attn.name = "k"}, %v: tensor<?x?x1x256xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x256xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(70) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>)
    -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>
}

func.func @softcap256(%q: tensor<?x?x2x256xbf16> {attn.name = "q"}, %k: tensor<?x?x1x256xbf16> {attn.name = "k"}, %v: tensor<?x?x1x256xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x256xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 50.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x256xbf16>, tensor<?x?x1x256xbf16>, tensor<?x?x1x256xbf16>)
    -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>
}

func.func @half(%q: tensor<?x?x2x128xf16> {attn.name = "q"}, %k: tensor<?x?x1x128xf16> {attn.name = "k"}, %v: tensor<?x?x1x128xf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xf16>, tensor<?x?x1x128xf16>, tensor<?x?x1x128xf16>)
    -> (tensor<?x?x2x128xf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xf16>, tensor<?x2x?xf32>
}

func.func @wide(%q: tensor<?x?x2x64xf32> {attn.name = "q"}, %k: tensor<?x?x1x64xf32> {attn.name = "k"}, %v: tensor<?x?x1x64xf32> {attn.name = "v"})
    -> (tensor<?x?x2x64xf32> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xf32>, tensor<?x?x1x64xf32>, tensor<?x?x1x64xf32>)
    -> (tensor<?x?x2x64xf32>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xf32>, tensor<?x2x?xf32>
}

func.func @varlen(%q: tensor<?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x1x128xbf16> {attn.name = "k"},
                  %v: tensor<?x1x128xbf16> {attn.name = "v"}, %q_offsets: tensor<?xi32> {attn.name = "q_offsets"},
                  %k_offsets: tensor<?xi32> {attn.name = "k_offsets"})
    -> (tensor<?x2x128xbf16> {attn.name = "out"}, tensor<2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %q_offsets : tensor<?xi32>, key = %k_offsets : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x2x128xbf16>, tensor<?x1x128xbf16>, tensor<?x1x128xbf16>) -> (tensor<?x2x128xbf16>, tensor<2x?xf32>)
  return %o, %lse : tensor<?x2x128xbf16>, tensor<2x?xf32>
}

// The same for packed sequences.
func.func @steep_varlen(%q: tensor<?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x1x128xbf16> {attn.name = "k"},
                  %v: tensor<?x1x128xbf16> {attn.name = "v"}, %q_offsets: tensor<?xi32> {attn.name = "q_offsets"},
                  %k_offsets: tensor<?xi32> {attn.name = "k_offsets"})
    -> (tensor<?x2x128xbf16> {attn.name = "out"}, tensor<2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) varlen(query = %q_offsets : tensor<?xi32>, key = %k_offsets : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %six = arith.constant 6 : index
      %some = arith.constant 100 : index
      %rise = arith.muli %i, %six : index
      %last = arith.addi %rise, %some : index
      %keep = arith.cmpi sle, %j, %last : index
      attn.yield %keep : i1
    }
    : (tensor<?x2x128xbf16>, tensor<?x1x128xbf16>, tensor<?x1x128xbf16>) -> (tensor<?x2x128xbf16>, tensor<2x?xf32>)
  return %o, %lse : tensor<?x2x128xbf16>, tensor<2x?xf32>
}

func.func @lengths(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"},
                   %v: tensor<?x?x1x64xbf16> {attn.name = "v"}, %q_lengths: tensor<?xi32> {attn.name = "q_lengths"},
                   %k_lengths: tensor<?xi32> {attn.name = "k_lengths"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v lengths(query = %q_lengths : tensor<?xi32>, key = %k_lengths : tensor<?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @middle64(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %low = arith.constant 40 : index
      %high = arith.constant 170 : index
      %before = arith.cmpi slt, %j, %low : index
      %behind = arith.cmpi sge, %j, %high : index
      %keep = arith.ori %before, %behind : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @biases(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"}, %v: tensor<?x?x1x64xbf16> {attn.name = "v"},
                  %t: tensor<?xf32> {attn.name = "t"}, %bias: tensor<?x?x?x?xf32> {attn.name = "bias"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %t[%d] : tensor<?xf32>
      %y = attn.bias %x, %bias[%b, %h, %i, %j] : tensor<?x?x?x?xf32>
      attn.yield %y : f32
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @growing128(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"}, %v: tensor<?x?x1x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x2x128xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %m = arith.index_cast %d : index to i32
      %f = arith.sitofp %m : i32 to f32
      %r = arith.constant 0.5 : f32
      %g = arith.mulf %f, %r : f32
      %x = arith.addf %s, %g : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>, tensor<?x?x1x128xbf16>)
    -> (tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x128xbf16>, tensor<?x2x?xf32>
}

func.func @growing64(%q: tensor<?x?x2x64xf16> {attn.name = "q"}, %k: tensor<?x?x1x64xf16> {attn.name = "k"}, %v: tensor<?x?x1x64xf16> {attn.name = "v"})
    -> (tensor<?x?x2x64xf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %m = arith.index_cast %d : index to i32
      %f = arith.sitofp %m : i32 to f32
      %r = arith.constant 0.04 : f32
      %g = arith.mulf %f, %r : f32
      %x = arith.addf %s, %g : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xf16>, tensor<?x?x1x64xf16>, tensor<?x?x1x64xf16>)
    -> (tensor<?x?x2x64xf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xf16>, tensor<?x2x?xf32>
}

func.func @twenty_heads(%q: tensor<?x?x20x16xbf16> {attn.name = "q"}, %k: tensor<?x?x20x16xbf16> {attn.name = "k"}, %v: tensor<?x?x20x16xbf16> {attn.name = "v"})
    -> (tensor<?x?x20x16xbf16> {attn.name = "out"}, tensor<?x20x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, own_keys = true,
                                        ping_pong = true, by_row = true, epilogue = staged, dynamic = true,
                                        section_bytes = 65536>>)
    : (tensor<?x?x20x16xbf16>, tensor<?x?x20x16xbf16>, tensor<?x?x20x16xbf16>)
    -> (tensor<?x?x20x16xbf16>, tensor<?x20x?xf32>)
  return %o, %lse : tensor<?x?x20x16xbf16>, tensor<?x20x?xf32>
}

func.func @causal_weights(%q: tensor<?x?x2x128xbf16> {attn.name = "q"}, %k: tensor<?x?x1x128xbf16> {attn.name = "k"})
    -> (tensor<?x2x?x?xbf16> {attn.name = "weights"}) {
  %w = attn.weights %q, %k
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x128xbf16>, tensor<?x?x1x128xbf16>) -> tensor<?x2x?x?xbf16>
  return %w : tensor<?x2x?x?xbf16>
}

func.func @pages(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x16x1x64xbf16> {attn.name = "k"},
                 %v: tensor<?x16x1x64xbf16> {attn.name = "v"}, %table: tensor<?x?xi32> {attn.name = "table"},
                 %k_lengths: tensor<?xi32> {attn.name = "k_lengths"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v paged(%table : tensor<?x?xi32>) lengths(key = %k_lengths : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
      pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                  rescaling = each_step, epilogue = direct, dynamic = true>>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x16x1x64xbf16>, tensor<?x16x1x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

// A bias of 16 bits for each head, that may be one for all batch entries.
func.func @tile_bias(%q: tensor<?x?x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x2x64xbf16> {attn.name = "k"}, %v: tensor<?x?x2x64xbf16> {attn.name = "v"},
                     %bias: tensor<?x2x?x?xbf16> {attn.name = "bias"})
    -> (tensor<?x?x2x64xbf16> {attn.name = "out"}, tensor<?x2x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x2x?x?xbf16>
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>
}

func.func @shared_bias(%q: tensor<?x?x4x32xbf16> {attn.name = "q"}, %k: tensor<?x?x2x32xbf16> {attn.name = "k"}, %v: tensor<?x?x2x32xbf16> {attn.name = "v"},
                       %bias: tensor<1x4x?x?xbf16> {attn.name = "bias", attn.requires_grad})
    -> (tensor<?x?x4x32xbf16> {attn.name = "out"}, tensor<?x4x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<1x4x?x?xbf16>
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x32xbf16>, tensor<?x?x2x32xbf16>, tensor<?x?x2x32xbf16>) -> (tensor<?x?x4x32xbf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x32xbf16>, tensor<?x4x?xf32>
}
