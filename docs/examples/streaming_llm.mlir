// StreamingLLM: the first keys and the recent ones, with nothing between.
//
// Every query sees the first 64 keys and the last 1024 (Xiao et al. 2023). The two stretches are a union with a gap:
// the bounds give their hull, and a decision for each tile finds the gap, so the tiles in it are never loaded. The mask
// is plain arith (S3).
//
// DEMO: --shape B=1,Sq=300,Sk=2048
func.func @streaming_llm(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x8x64xbf16> {attn.name = "k"},
                         %v: tensor<?x?x8x64xbf16> {attn.name = "v"})
    -> (tensor<?x?x8x64xbf16> {attn.name = "out"}, tensor<?x8x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c64 = arith.constant 64 : index
      %c1024 = arith.constant 1024 : index
      %distance = arith.subi %i, %j : index
      %first = arith.cmpi slt, %j, %c64 : index
      %recent = arith.cmpi slt, %distance, %c1024 : index
      %near = arith.ori %first, %recent : i1
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %near, %past : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>)
    -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}
