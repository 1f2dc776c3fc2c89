// The magnitude of the least integer is itself. ptxas 13.0 drops comparisons of abs.s32 and abs.s64 with 0, which are found
// as the greater of a number and its negative there, whatever way leads from them to the comparison.

// RUN: attnc compile %s --target nvptx:sm_80 --entry signs --emit ptx -o - | FileCheck %s --check-prefix=SIGNS --implicit-check-not=abs.s
// RUN: attnc compile %s --target nvptx:sm_90a --entry signs --emit ptx -o - | FileCheck %s --check-prefix=SIGNS --implicit-check-not=abs.s
// RUN: attnc compile %s --target nvptx:sm_80 --entry distances --emit ptx -o - | FileCheck %s --check-prefix=DISTANCES

!t = tensor<?x?x1x16xbf16>

// SIGNS-DAG: neg.s32 %[[NEGATIVE:.*]], %[[X:.*]];
// SIGNS-DAG: max.s32 %{{.*}}, %[[X]], %[[NEGATIVE]];
// SIGNS-DAG: neg.s64 %[[WIDE_NEGATIVE:.*]], %[[Y:.*]];
// SIGNS-DAG: max.s64 %{{.*}}, %[[Y]], %[[WIDE_NEGATIVE]];
func.func @signs(%q: !t, %k: !t, %v: !t, %x: i32, %y: i64) -> !t {
  %o = attn.forward %q, %k, %v mask (%b, %h, %i, %j) {
      %a = math.absi %x : i32
      %c = math.absi %y : i64
      %n = arith.index_cast %j : index to i64
      %most = arith.constant 2147483647 : i32
      %zero = arith.constant 0 : i64
      %first = arith.cmpi ugt, %a, %most : i32
      %d = arith.subi %zero, %c : i64
      %second = arith.cmpi sgt, %d, %n : i64
      %keep = arith.andi %first, %second : i1
      attn.yield %keep : i1
    } : (!t, !t, !t) -> !t
  return %o : !t
}

// Magnitudes that are compared with something else, or become floats, are one instruction.
// DISTANCES: abs.s32
func.func @distances(%q: !t, %k: !t, %v: !t, %t: tensor<?xi32>) -> !t {
  %o = attn.forward %q, %k, %v score (%s, %b, %h, %i, %j) {
      %n = attn.load %t[%j] : tensor<?xi32>
      %a = math.absi %n : i32
      %f = arith.sitofp %a : i32 to f32
      %limit = arith.constant 7 : i32
      %near = arith.cmpi slt, %a, %limit : i32
      %y = arith.addf %s, %f : f32
      %x = arith.select %near, %y, %s : f32
      attn.yield %x : f32
    } : (!t, !t, !t) -> !t
  return %o : !t
}
