// The main loops of default schedules as the machine sees them: a head dim of 128, the usual case.

// REQUIRES: ptxas, nvdisasm
// RUN: attnc compile %s --target nvptx:sm_90a --entry full --emit ptx -o %t.full.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry full --emit tile -o %t.full.tile
// RUN: %python %S/sass_loop.py %t.full.ptx %t.full.tile | FileCheck %s --check-prefix=FULL
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit ptx -o %t.causal.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit tile -o %t.causal.tile
// RUN: %python %S/sass_loop.py %t.causal.ptx %t.causal.tile | FileCheck %s --check-prefix=CAUSAL
// RUN: attnc compile %s --target nvptx:sm_90a --entry window --emit ptx -o %t.window.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry window --emit tile -o %t.window.tile
// RUN: %python %S/sass_loop.py %t.window.ptx %t.window.tile | FileCheck %s --check-prefix=WINDOW

// One loop without a mask; with it, one for the tiles that it cuts and one for those below, for short sequences and for
// long ones. A window has tiles that it cuts on both sides, and two schedules as well.
// FULL: 1 loops: 8 and
// CAUSAL: 4 loops: 8 and
// WINDOW: 6 loops: 8 and

func.func @full(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}

func.func @causal(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}

func.func @window(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(1024) right(0)
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>)
    -> (tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>)
  return %o, %lse : tensor<?x?x16x128xbf16>, tensor<?x16x?xf32>
}
