// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit ptx | FileCheck %s

// A reducer takes registers that the producer gives away, where it has more than threads start with.

// CHECK: .entry wide_backward_dq_entry
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 24
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 240
// CHECK: .entry wide_backward_dkdv_entry
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 40
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232
func.func @wide(%q: tensor<?x?x2x256xbf16>, %k: tensor<?x?x2x256xbf16>, %v: tensor<?x?x2x256xbf16>) -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v : (tensor<?x?x2x256xbf16>, tensor<?x?x2x256xbf16>, tensor<?x?x2x256xbf16>) -> (tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>)
  return %o, %lse : tensor<?x?x2x256xbf16>, tensor<?x2x?xf32>
}
