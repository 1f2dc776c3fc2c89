// Trailing zeros of words of 64 bits that LLVM knows not to be 0, as numbers of odd columns are, compared with 1 and 2: LLVM
// 22 crashed ("Copy one register into another with a different width").

// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --emit ptx -o - | FileCheck %s

// CHECK: .entry f_tile
// CHECK: popc.b64
// CHECK-NOT: brev

func.func @f(%q: tensor<?x?x1x16xbf16>, %k: tensor<?x?x1x16xbf16>, %v: tensor<?x?x1x16xbf16>) -> tensor<?x?x1x16xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %word = arith.index_cast %j : index to i64
      %zeros = math.cttz %word : i64
      %ones = math.ctpop %i : index
      %count = arith.index_castui %ones : index to i64
      %fewer = arith.cmpi slt, %count, %word : i64
      %chosen = arith.select %fewer, %zeros, %word : i64
      %two = arith.constant 2 : i64
      %keep = arith.cmpi uge, %chosen, %two : i64
      attn.yield %keep : i1
    }
    : (tensor<?x?x1x16xbf16>, tensor<?x?x1x16xbf16>, tensor<?x?x1x16xbf16>) -> tensor<?x?x1x16xbf16>
  return %o : tensor<?x?x1x16xbf16>
}
