// The main loops of default schedules as the machine sees them: a head dim of 64, small state. Long sequences have three
// consumers, short ones two.

// REQUIRES: ptxas, nvdisasm
// RUN: attnc compile %s --target nvptx:sm_90a --entry full --emit ptx -o %t.full.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry full --emit tile -o %t.full.tile
// RUN: %python %S/sass_loop.py %t.full.ptx %t.full.tile | FileCheck %s --check-prefix=FULL
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit ptx -o %t.causal.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit tile -o %t.causal.tile
// RUN: %python %S/sass_loop.py %t.causal.ptx %t.causal.tile | FileCheck %s --check-prefix=CAUSAL
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal_short --emit ptx -o %t.short.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal_short --emit tile -o %t.short.tile
// RUN: %python %S/sass_loop.py %t.short.ptx %t.short.tile | FileCheck %s --check-prefix=CAUSAL

// One loop without a mask; with it, one for the tiles that it cuts and one for those below.
// FULL: 1 loops: 4 and
// CAUSAL: 2 loops: 4 and

func.func @full(%q: tensor<?x16384x16x64xbf16>, %k: tensor<?x?x16x64xbf16>, %v: tensor<?x?x16x64xbf16>)
    -> (tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<?x16384x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>)
    -> (tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>)
  return %o, %lse : tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>
}

func.func @causal(%q: tensor<?x16384x16x64xbf16>, %k: tensor<?x?x16x64xbf16>, %v: tensor<?x?x16x64xbf16>)
    -> (tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x16384x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>)
    -> (tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>)
  return %o, %lse : tensor<?x16384x16x64xbf16>, tensor<?x16x16384xf32>
}

func.func @causal_short(%q: tensor<?x1024x16x64xbf16>, %k: tensor<?x?x16x64xbf16>, %v: tensor<?x?x16x64xbf16>)
    -> (tensor<?x1024x16x64xbf16>, tensor<?x16x1024xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x1024x16x64xbf16>, tensor<?x?x16x64xbf16>, tensor<?x?x16x64xbf16>)
    -> (tensor<?x1024x16x64xbf16>, tensor<?x16x1024xf32>)
  return %o, %lse : tensor<?x1024x16x64xbf16>, tensor<?x16x1024xf32>
}
