// Elements that are added to sums in memory: a reduction each, under a predicate, of which nothing comes back.

// RUN: attnc compile %s --backward --target nvptx:sm_90a --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --backward --target nvptx:sm_80 --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --backward --target nvrtc:sm_90a --emit cuda -o - | FileCheck %s --check-prefix=CUDA

// A step of a warpgroup has 64 rows of 32 keys: 16 elements a thread, each of which adds what came before it where it goes
// elsewhere. What is left at the end is one addition of the warp, where all lanes have it for the same place. Distances are
// first added up along diagonals, between lanes.
// CHECK-LABEL: .visible .entry kernel_backward_clear_scattered_0_entry(
// CHECK: st.global.b32
// CHECK-LABEL: .visible .entry kernel_backward_dscattered_entry(
// CHECK: mma.sync
// CHECK-COUNT-20: shfl.sync.idx.b32
// CHECK-COUNT-15: @%p{{[0-9]+}} red.global.add.f32 [%rd{{[0-9]+}}], %r{{[0-9]+}};
// CHECK: vote.sync.any
// CHECK: @%p{{[0-9]+}} red.global.add.f32
// CHECK: mma.sync
// CHECK-LABEL: .visible .entry kernel_backward_dsums_0_entry(
// CHECK-NOT: red.global
// CHECK: cvt.rn.bf16.f32

// CUDA: red.global.add.f32 [%1], %2;

func.func @kernel(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                  %table: tensor<2047x2xbf16> {attn.requires_grad}) -> tensor<?x?x2x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %c = arith.constant 1023 : index
      %d = arith.subi %i, %j : index
      %n = arith.addi %d, %c : index
      %x = attn.bias %s, %table[%n, %h] : tensor<2047x2xbf16>
      attn.yield %x : f32
    }
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}
