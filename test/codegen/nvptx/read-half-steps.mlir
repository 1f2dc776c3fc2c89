// Consumers that hold their rows of values in registers take whole steps of sixteen columns, even where the last one has
// only eight: two loads for 24 columns of values, and four for 64 of keys.
//
// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit ptx | FileCheck %s

// CHECK-LABEL: .entry half_steps_backward_dqdkdv_entry
// CHECK-COUNT-6: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: ldmatrix
// CHECK-LABEL: .entry half_steps_backward_convert_dq_entry
func.func @half_steps(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x4x64xbf16> {attn.name = "k"},
                      %v: tensor<?x?x4x24xbf16> {attn.name = "v"})
    -> (tensor<?x?x4x24xbf16> {attn.name = "out"}, tensor<?x4x?xf32> {attn.name = "lse"}) {
  %out, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x24xbf16>)
    -> (tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>)
  return %out, %lse : tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>
}
