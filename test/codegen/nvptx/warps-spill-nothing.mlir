// Forward by warps in 16 bits, with and without a causal mask: nothing is spilled on GPUs whose blocks have less shared
// memory either.

// REQUIRES: ptxas
// RUN: attnc compile %s --target nvptx:sm_80 --entry full64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry causal64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry full128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry causal128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry full256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry causal256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry full64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry causal64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry full128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry causal128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry full256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_86 --entry causal256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry full64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry causal64 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry full128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry causal128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry full256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_89 --entry causal256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s

// CHECK-NOT: barriers, {{[1-9][0-9]*}} bytes of spill stores
// CHECK: barriers, 0 bytes of spill stores, 0 bytes of spill loads
// CHECK-NOT: barriers, {{[1-9][0-9]*}} bytes of spill stores

func.func @full64(%q: tensor<?x?x32x64xbf16>, %k: tensor<?x?x32x64xbf16>, %v: tensor<?x?x32x64xbf16>)
    -> (tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>) -> (tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>
}

func.func @causal64(%q: tensor<?x?x32x64xbf16>, %k: tensor<?x?x32x64xbf16>, %v: tensor<?x?x32x64xbf16>)
    -> (tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>) -> (tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>
}

func.func @full128(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}

func.func @causal128(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}

func.func @full256(%q: tensor<?x?x8x256xbf16>, %k: tensor<?x?x8x256xbf16>, %v: tensor<?x?x8x256xbf16>)
    -> (tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>) -> (tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>
}

func.func @causal256(%q: tensor<?x?x8x256xbf16>, %k: tensor<?x?x8x256xbf16>, %v: tensor<?x?x8x256xbf16>)
    -> (tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>) -> (tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x256xbf16>, tensor<?x8x?xf32>
}
