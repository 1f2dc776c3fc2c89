// Formulas say where integers are taken as numbers without a sign, and what cuts them off.

// RUN: attnc explain %s | FileCheck %s

// CHECK: mask     i - j <ᵤ 9 and remui(j, 4) ≤ 2 and divui(i, 3) ≠ 5 and minui(i, j) ≥ 0 and i8(i) < 100 and u32(i32(j)) ≠ 7
func.func @unsigned(%q: tensor<?x?x2x8xf32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c7 = arith.constant 7 : i64
      %c9 = arith.constant 9 : index
      %c100 = arith.constant 100 : i8
      %d = arith.subi %i, %j : index
      %near = arith.cmpi ult, %d, %c9 : index
      %r = arith.remui %j, %c4 : index
      %some = arith.cmpi sle, %r, %c2 : index
      %q3 = arith.divui %i, %c3 : index
      %third = arith.cmpi ne, %q3, %c5 : index
      %m = arith.minui %i, %j : index
      %both = arith.cmpi sge, %m, %c0 : index
      %i32 = arith.index_cast %i : index to i32
      %i8 = arith.trunci %i32 : i32 to i8
      %low = arith.cmpi slt, %i8, %c100 : i8
      %j64 = arith.index_cast %j : index to i64
      %j32 = arith.trunci %j64 : i64 to i32
      %wide = arith.extui %j32 : i32 to i64
      %not = arith.cmpi ne, %wide, %c7 : i64
      %a = arith.andi %near, %some : i1
      %a2 = arith.andi %a, %third : i1
      %a3 = arith.andi %a2, %both : i1
      %a4 = arith.andi %a3, %low : i1
      %a5 = arith.andi %a4, %not : i1
      attn.yield %a5 : i1
    }
    : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}
