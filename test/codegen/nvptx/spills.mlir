// Accumulators of f32 fill the registers; what is spilled beside them is next to nothing.

// REQUIRES: ptxas
// RUN: attnc compile %s --target nvptx:sm_90a --entry d128 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s --check-prefix=NONE
// RUN: attnc compile %s --target nvptx:sm_80 --entry d192 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry d192 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_80 --entry d256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry d256 --emit nvvm | attnc-opt --nvptx-print=as=report | FileCheck %s

// NONE: barriers, 0 bytes of spill stores, 0 bytes of spill loads, 0 bytes of stack
// CHECK: barriers, {{[0-9]|[12][0-9]|3[0-2]}} bytes of spill stores, {{[0-9]|[12][0-9]|3[0-2]}} bytes of spill loads

func.func @d128(%q: tensor<?x?x4x128xf32>, %k: tensor<?x?x4x128xf32>, %v: tensor<?x?x4x128xf32>)
    -> tensor<?x?x4x128xf32> {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x128xf32>, tensor<?x?x4x128xf32>, tensor<?x?x4x128xf32>) -> tensor<?x?x4x128xf32>
  return %o : tensor<?x?x4x128xf32>
}

func.func @d192(%q: tensor<?x?x4x192xf32>, %k: tensor<?x?x4x192xf32>, %v: tensor<?x?x4x192xf32>)
    -> tensor<?x?x4x192xf32> {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x192xf32>, tensor<?x?x4x192xf32>, tensor<?x?x4x192xf32>) -> tensor<?x?x4x192xf32>
  return %o : tensor<?x?x4x192xf32>
}

func.func @d256(%q: tensor<?x?x4x256xf32>, %k: tensor<?x?x4x256xf32>, %v: tensor<?x?x4x256xf32>)
    -> tensor<?x?x4x256xf32> {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32>
  return %o : tensor<?x?x4x256xf32>
}
