// The lesser of integers of 16 bits is found in 32: the assembler takes its comparison with an operand for another.

// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --implicit-check-not='{{min|max}}.{{u|s}}16'
// CHECK: and.b32 %[[SHORT:.*]], %{{.*}}, 65535;
// CHECK: min.u32 %{{.*}}, %[[SHORT]], 32767;

!t = tensor<?x?x1x8xbf16>
func.func @kernel(%q: !t, %k: !t, %v: !t) -> (!t, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) mask (%b, %h, %i, %j) {
      %low = arith.index_cast %i : index to i16
      %greatest = arith.constant 32767 : i16
      %least = arith.minui %low, %greatest : i16
      %keep = arith.cmpi sge, %least, %greatest : i16
      attn.yield %keep : i1
    } : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}
