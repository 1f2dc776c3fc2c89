// RUN: attnc verify %s --entry padded --shape B=1,Sq=20,Sk=45 --dim t.0=45 | FileCheck %s
// RUN: attnc verify %s --entry padded --shape B=1,Sq=45,Sk=20 --dim t.0=45 | FileCheck %s
// RUN: attnc verify %s --entry masked --shape B=2,Sq=20,Sk=45 --dim ids.1=45 | FileCheck %s
// RUN: attnc verify %s --entry bands --shape B=1,Sq=70,Sk=200 | FileCheck %s
// CHECK: out {{.*}} right

// An index that simplifies to a bare coordinate still is a position: it moves with the alignment, and is clamped.

func.func @padded(%q: tensor<?x?x2x16xf32> {attn.name = "q"}, %k: tensor<?x?x2x16xf32> {attn.name = "k"},
                  %v: tensor<?x?x2x16xf32> {attn.name = "v"}, %t: tensor<?xf32> {attn.name = "t"})
    -> (tensor<?x?x2x16xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %at = arith.addi %i, %c0 : index
      %x = attn.load %t[%at] : tensor<?xf32>
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      %y = arith.mulf %x, %f : f32
      %z = arith.addf %s, %y : f32
      attn.yield %z : f32
    }
    : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) -> tensor<?x?x2x16xf32>
  return %o : tensor<?x?x2x16xf32>
}

// The same in a mask, whose bounds are derived from ranges of positions.

func.func @masked(%q: tensor<?x?x2x16xf32> {attn.name = "q"}, %k: tensor<?x?x2x16xf32> {attn.name = "k"},
                  %v: tensor<?x?x2x16xf32> {attn.name = "v"}, %ids: tensor<?x?xi32> {attn.name = "ids"})
    -> (tensor<?x?x2x16xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c0 = arith.constant 0 : index
      %qat = arith.addi %i, %c0 : index
      %kat = arith.addi %j, %c0 : index
      %keep = attn.same_segment %ids[%b, %qat], %ids[%b, %kat] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) -> tensor<?x?x2x16xf32>
  return %o : tensor<?x?x2x16xf32>
}

// Sides of a window as wide as an integer can be.

func.func @bands(%q: tensor<?x?x2x16xf32> {attn.name = "q"}, %k: tensor<?x?x2x16xf32> {attn.name = "k"},
                 %v: tensor<?x?x2x16xf32> {attn.name = "v"}, %near: index {attn.name = "near"})
    -> (tensor<?x?x2x16xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %x = attn.window %i, %j left(5) right(9223372036854775807)
      %y = attn.window %i, %j left(%near) right(%near)
      %keep = arith.andi %x, %y : i1
      attn.yield %keep : i1
    }
    : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) -> tensor<?x?x2x16xf32>
  return %o : tensor<?x?x2x16xf32>
}
