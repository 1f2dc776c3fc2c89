// REQUIRES: ptxas, nvdisasm
// RUN: attnc-opt %s --nvptx-print=as=sass -o %t | FileCheck %s

// CHECK: .text.kernel
// CHECK: MUFU.EX2

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  llvm.func @kernel(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %y = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
