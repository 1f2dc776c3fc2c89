// Integers of 16 bits that ptxas 13.0 gets wrong are found in 32.

// RUN: attnc compile %s --target nvptx:sm_80 --entry extremes --emit ptx -o - | FileCheck %s --check-prefix=EXTREMES --implicit-check-not='{{min|max}}.{{u|s}}16'
// RUN: attnc compile %s --target nvptx:sm_80 --entry magnitudes --emit ptx -o - | FileCheck %s --check-prefix=MAGNITUDES --implicit-check-not='{{abs|neg|sub}}.s16'
// RUN: attnc compile %s --target nvptx:sm_80 --entry negations --emit ptx -o - | FileCheck %s --check-prefix=NEGATIONS --implicit-check-not='{{abs|neg|sub}}.s16'

!t = tensor<?x?x1x8xbf16>

// It makes one instruction of a minimum and its comparison with an operand, and reads the wrong half of the answer.
// EXTREMES: and.b32 %[[SHORT:.*]], %{{.*}}, 65535;
// EXTREMES: min.u32 %{{.*}}, %[[SHORT]], 32767;
func.func @extremes(%q: !t, %k: !t, %v: !t) -> (!t, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) mask (%b, %h, %i, %j) {
      %low = arith.index_cast %i : index to i16
      %greatest = arith.constant 32767 : i16
      %least = arith.minui %low, %greatest : i16
      %keep = arith.cmpi sge, %least, %greatest : i16
      attn.yield %keep : i1
    } : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}

// It takes the magnitude of -32768, which is -32768, for 32768 where it is compared.
// MAGNITUDES: abs.s32
func.func @magnitudes(%q: !t, %k: !t, %v: !t) -> (!t, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) mask (%b, %h, %i, %j) {
      %low = arith.index_cast %i : index to i16
      %places = arith.constant 8 : i16
      %shifted = arith.shli %low, %places : i16
      %magnitude = math.absi %shifted : i16
      %limit = arith.constant 8192 : i16
      %keep = arith.cmpi sle, %magnitude, %limit : i16
      attn.yield %keep : i1
    } : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}

// So it does with negations, also those of wide integers whose low half alone is used, which LLVM narrows.
// NEGATIONS: neg.s32
// NEGATIONS: neg.s32
func.func @negations(%q: !t, %k: !t, %v: !t) -> (!t, tensor<?x1x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v align(top_left) mask (%b, %h, %i, %j) {
      %low = arith.index_cast %i : index to i16
      %places = arith.constant 11 : i16
      %shifted = arith.shli %low, %places : i16
      %zero = arith.constant 0 : i16
      %negative = arith.subi %zero, %shifted : i16
      %wide = arith.index_cast %j : index to i32
      %zero32 = arith.constant 0 : i32
      %negative32 = arith.subi %zero32, %wide : i32
      %half = arith.trunci %negative32 : i32 to i16
      %limit = arith.constant 8192 : i16
      %few = arith.cmpi sle, %negative, %limit : i16
      %others = arith.cmpi slt, %half, %limit : i16
      %keep = arith.andi %few, %others : i1
      attn.yield %keep : i1
    } : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}
