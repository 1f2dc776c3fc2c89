// RUN: attnc-opt %s --attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// Kernels that start before the one before them has ended.

// Where only data says which tiles are kept, the kernel starts while they are listed, on GPUs that can.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true, early_start = true>} {
  // CHECK-LABEL: func.func @dense_early(
  // CHECK: block_mask = true, early = true, headroom = 60>>)
  func.func @dense_early(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>, %keep: tensor<?x1x?x?xi1>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %x = attn.load %keep[%b, %h, %i, %j] : tensor<?x1x?x?xi1>
        attn.yield %x : i1
      }
      bounds (%b, %h, %first, %last) {
        %zero = arith.constant 0 : index
        %all = arith.constant 1073741824 : index
        attn.yield %zero, %zero, %zero, %all : index, index, index, index
      }
      blocks (%b, %h, %first, %last, %low, %high) {
        %least, %most = attn.load_range %keep[%b, %h, %first to %last, %low to %high] : tensor<?x1x?x?xi1>
        attn.yield %most, %least : i1, i1
      }
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @early(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected no early = true: on sm_80 a kernel starts when the one before it has ended}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 2, block_mask = true, early = true>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}
