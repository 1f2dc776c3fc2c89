// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx | FileCheck %s

// Of products by blocks of 1024 threads ptxas would have two on a multiprocessor, of 32 registers each thread, whatever it spills.

// CHECK: .reqntid 1024
// CHECK-NEXT: .minnctapersm 1
func.func @largest(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>)
    -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 512, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 8, stages = 1>>)
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
