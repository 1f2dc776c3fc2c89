func.func @dilated_sinks(%q: tensor<?x?x16x64xbf16> {attn.name = "q"}, %k: tensor<?x?x16x64xbf16> {attn.name = "k"},
                         %v: tensor<?x?x16x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x16x64xbf16> {attn.name = "out"}, tensor<?x16x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %distance = arith.subi %i, %j : index

      %first = arith.cmpi slt, %j, %c4 : index
      %recent = arith.cmpi slt, %distance, %c16 : index

      %near = arith.cmpi slt, %distance, %c256 : index
      %phase = arith.remsi %distance, %c4 : index
      %on_step = arith.cmpi eq, %phase, %c0 : index
      %dilated = arith.andi %near, %on_step : i1

      %column = arith.remsi %j, %c64 : index
      %on_column = arith.cmpi eq, %column, %c0 : index

      %local = arith.ori %recent, %dilated : i1
      %global = arith.ori %first, %on_column : i1
      %either = arith.ori %local, %global : i1
      %causal = attn.causal %i, %j
      %keep = arith.andi %causal, %either : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>)
    -> (tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x64xbf16>, tensor<?x16x?xf32>
}
