func.func @t5_encoder(%q: tensor<?x?x12x64xf32> {attn.name = "q"}, %k: tensor<?x?x12x64xf32> {attn.name = "k"},
                      %v: tensor<?x?x12x64xf32> {attn.name = "v"}, %table: tensor<32x12xf32> {attn.name = "table"})
    -> (tensor<?x?x12x64xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v scale(1.0)
    score (%s, %b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c15 = arith.constant 15 : index
      %c16 = arith.constant 16 : index
      %distance = arith.subi %j, %i : index
      %n = math.absi %distance : index

      %eighth = arith.constant 0.125 : f32
      %two_over_ln2 = arith.constant 2.88539 : f32
      %nudge = arith.constant 0.01 : f32
      %n_far = arith.maxsi %n, %c8 : index
      %n_i32 = arith.index_cast %n_far : index to i32
      %n_f32 = arith.sitofp %n_i32 : i32 to f32
      %ratio = arith.mulf %n_f32, %eighth : f32
      %log = math.log %ratio : f32
      %steps = arith.mulf %log, %two_over_ln2 : f32
      %settled = arith.addf %steps, %nudge : f32
      %floor = arith.fptosi %settled : f32 to i32
      %step = arith.index_cast %floor : i32 to index
      %far_open = arith.addi %step, %c8 : index
      %far = arith.minsi %far_open, %c15 : index

      %is_near = arith.cmpi slt, %n, %c8 : index
      %within_half = arith.select %is_near, %n, %far : index
      %is_behind = arith.cmpi sgt, %distance, %c0 : index
      %half = arith.select %is_behind, %c16, %c0 : index
      %bucket = arith.addi %half, %within_half : index

      %biased = attn.bias %s, %table[%bucket, %h] : tensor<32x12xf32>
      attn.yield %biased : f32
    }
    : (tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>) -> tensor<?x?x12x64xf32>
  return %o : tensor<?x?x12x64xf32>
}
