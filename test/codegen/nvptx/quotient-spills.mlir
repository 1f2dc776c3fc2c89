// A score with a quotient has a schedule that leaves room for what refines it: nothing is spilled.

// REQUIRES: ptxas
// RUN: attnc compile %s --target nvptx:sm_90a --entry d64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry d128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry d256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry d64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry d128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry d256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s

// CHECK-NOT: barriers, {{[1-9][0-9]*}} bytes of spill stores
// CHECK: barriers, 0 bytes of spill stores, 0 bytes of spill loads
// CHECK-NOT: barriers, {{[1-9][0-9]*}} bytes of spill stores

func.func @d64(%q: tensor<?x?x16x64xbf16>, %k: tensor<?x?x16x64xbf16>, %v: tensor<?x?x16x64xbf16>, %t: f32)
    -> tensor<?x?x16x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>) -> tensor<?x?x16x64xbf16>
  return %o : tensor<?x?x16x64xbf16>
}

func.func @d128(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>, %t: f32)
    -> tensor<?x?x16x128xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> tensor<?x?x16x128xbf16>
  return %o : tensor<?x?x16x128xbf16>
}

func.func @d256(%q: tensor<?x?x16x256xbf16>, %k: tensor<?x?x16x256xbf16>, %v: tensor<?x?x16x256xbf16>, %t: f32)
    -> tensor<?x?x16x256xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x256xbf16>, tensor<?x?x16x256xbf16>, tensor<?x?x16x256xbf16>) -> tensor<?x?x16x256xbf16>
  return %o : tensor<?x?x16x256xbf16>
}
