// A remainder of floating point is written out in steps that each read the one before more than once. A search of LLVM's
// for checksums in loops followed each path through them, for ever.
// RUN: timeout 40 attnc verify %s --target cpu --shape B=1,Sq=67,Sk=90 | FileCheck %s
// CHECK: out {{.*}} right

func.func @remainders(
    %q: tensor<?x?x1x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"},
    %v: tensor<?x?x1x64xbf16> {attn.name = "v"}) -> (tensor<?x?x1x64xbf16> {attn.name = "out"}) {
  %out = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %j32 = arith.index_cast %j : index to i32
      %number = arith.sitofp %j32 : i32 to f32
      %tenth = arith.constant 0.1 : f32
      %rest = arith.remf %number, %tenth : f32
      %sum = arith.addf %s, %rest : f32
      attn.yield %sum : f32
    }
    mask (%b, %h, %i, %j) {
      %near = attn.window %i, %j left(24) right(20)
      attn.yield %near : i1
    }
    : (tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> tensor<?x?x1x64xbf16>
  return %out : tensor<?x?x1x64xbf16>
}
