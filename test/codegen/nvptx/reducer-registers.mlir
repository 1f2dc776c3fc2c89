// RUN: attnc compile %s --entry wide --backward --target nvptx:sm_90a --emit ptx | FileCheck %s
// RUN: attnc compile %s --entry unrolled --backward --target nvptx:sm_90a --emit ptx | FileCheck %s --check-prefix=UNROLLED

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

// Steps that follow each other without a loop: a product is awaited ahead of the next that adds to it.
// UNROLLED: .entry unrolled_backward_dkdv_entry
func.func @unrolled(%q: tensor<?x129x1x192xbf16>, %k: tensor<?x?x1x192xbf16>, %v: tensor<?x?x1x192xbf16>) -> (tensor<?x129x1x192xbf16>, tensor<?x1x129xf32>) {
  %o, %lse = attn.forward %q, %k, %v : (tensor<?x129x1x192xbf16>, tensor<?x?x1x192xbf16>, tensor<?x?x1x192xbf16>) -> (tensor<?x129x1x192xbf16>, tensor<?x1x129xf32>)
  return %o, %lse : tensor<?x129x1x192xbf16>, tensor<?x1x129xf32>
}
