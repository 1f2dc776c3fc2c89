// RUN: attnc compile %s --target nvptx:sm_80 --entry window --emit tile | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry window --emit tile | FileCheck %s
// RUN: attnc compile %s --target cpu --entry window --backward --emit tile | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry slope --emit tile | FileCheck %s

// Sums of sums have more ways from the last to the first than anyone waits for: each operation is looked at once.

// CHECK: tile.program
func.func @window(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %w: index) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c0 = arith.addi %w, %w : index
      %c1 = arith.addi %c0, %w : index
      %c2 = arith.addi %c1, %c0 : index
      %c3 = arith.addi %c2, %c1 : index
      %c4 = arith.addi %c3, %c2 : index
      %c5 = arith.addi %c4, %c3 : index
      %c6 = arith.addi %c5, %c4 : index
      %c7 = arith.addi %c6, %c5 : index
      %c8 = arith.addi %c7, %c6 : index
      %c9 = arith.addi %c8, %c7 : index
      %c10 = arith.addi %c9, %c8 : index
      %c11 = arith.addi %c10, %c9 : index
      %c12 = arith.addi %c11, %c10 : index
      %c13 = arith.addi %c12, %c11 : index
      %c14 = arith.addi %c13, %c12 : index
      %c15 = arith.addi %c14, %c13 : index
      %c16 = arith.addi %c15, %c14 : index
      %c17 = arith.addi %c16, %c15 : index
      %c18 = arith.addi %c17, %c16 : index
      %c19 = arith.addi %c18, %c17 : index
      %c20 = arith.addi %c19, %c18 : index
      %c21 = arith.addi %c20, %c19 : index
      %c22 = arith.addi %c21, %c20 : index
      %c23 = arith.addi %c22, %c21 : index
      %c24 = arith.addi %c23, %c22 : index
      %c25 = arith.addi %c24, %c23 : index
      %c26 = arith.addi %c25, %c24 : index
      %c27 = arith.addi %c26, %c25 : index
      %c28 = arith.addi %c27, %c26 : index
      %c29 = arith.addi %c28, %c27 : index
      %c30 = arith.addi %c29, %c28 : index
      %c31 = arith.addi %c30, %c29 : index
      %c32 = arith.addi %c31, %c30 : index
      %c33 = arith.addi %c32, %c31 : index
      %c34 = arith.addi %c33, %c32 : index
      %c35 = arith.addi %c34, %c33 : index
      %c36 = arith.addi %c35, %c34 : index
      %c37 = arith.addi %c36, %c35 : index
      %c38 = arith.addi %c37, %c36 : index
      %c39 = arith.addi %c38, %c37 : index
      %c40 = arith.addi %c39, %c38 : index
      %c41 = arith.addi %c40, %c39 : index
      %c42 = arith.addi %c41, %c40 : index
      %c43 = arith.addi %c42, %c41 : index
      %d = arith.subi %i, %j : index
      %keep = arith.cmpi sle, %d, %c43 : index
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}

func.func @slope(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %n = arith.index_cast %i : index to i32
      %x = arith.sitofp %n : i32 to f32
      %c0 = arith.addf %x, %x : f32
      %c1 = arith.addf %c0, %x : f32
      %c2 = arith.addf %c1, %c0 : f32
      %c3 = arith.addf %c2, %c1 : f32
      %c4 = arith.addf %c3, %c2 : f32
      %c5 = arith.addf %c4, %c3 : f32
      %c6 = arith.addf %c5, %c4 : f32
      %c7 = arith.addf %c6, %c5 : f32
      %c8 = arith.addf %c7, %c6 : f32
      %c9 = arith.addf %c8, %c7 : f32
      %c10 = arith.addf %c9, %c8 : f32
      %c11 = arith.addf %c10, %c9 : f32
      %c12 = arith.addf %c11, %c10 : f32
      %c13 = arith.addf %c12, %c11 : f32
      %c14 = arith.addf %c13, %c12 : f32
      %c15 = arith.addf %c14, %c13 : f32
      %c16 = arith.addf %c15, %c14 : f32
      %c17 = arith.addf %c16, %c15 : f32
      %c18 = arith.addf %c17, %c16 : f32
      %c19 = arith.addf %c18, %c17 : f32
      %c20 = arith.addf %c19, %c18 : f32
      %c21 = arith.addf %c20, %c19 : f32
      %c22 = arith.addf %c21, %c20 : f32
      %c23 = arith.addf %c22, %c21 : f32
      %c24 = arith.addf %c23, %c22 : f32
      %c25 = arith.addf %c24, %c23 : f32
      %c26 = arith.addf %c25, %c24 : f32
      %c27 = arith.addf %c26, %c25 : f32
      %c28 = arith.addf %c27, %c26 : f32
      %c29 = arith.addf %c28, %c27 : f32
      %c30 = arith.addf %c29, %c28 : f32
      %c31 = arith.addf %c30, %c29 : f32
      %c32 = arith.addf %c31, %c30 : f32
      %c33 = arith.addf %c32, %c31 : f32
      %c34 = arith.addf %c33, %c32 : f32
      %c35 = arith.addf %c34, %c33 : f32
      %c36 = arith.addf %c35, %c34 : f32
      %c37 = arith.addf %c36, %c35 : f32
      %c38 = arith.addf %c37, %c36 : f32
      %c39 = arith.addf %c38, %c37 : f32
      %c40 = arith.addf %c39, %c38 : f32
      %c41 = arith.addf %c40, %c39 : f32
      %c42 = arith.addf %c41, %c40 : f32
      %c43 = arith.addf %c42, %c41 : f32
      %r = arith.mulf %s, %c43 : f32
      attn.yield %r : f32
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
