// What becomes of a kernel whose warps share registers unevenly: the count that it starts with, machine code, no
// warning.

// REQUIRES: ptxas
// RUN: attnc-opt %s --nvptx-print=as=report -o %t | FileCheck %s --implicit-check-not=C75

// CHECK: kernel: 168 registers, {{[0-9]+}} barriers, 0 bytes of spill stores, 0 bytes of spill loads, 0 bytes of stack

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
module attributes {attn.target = #gpu} {
  llvm.func @kernel(%out: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %bound = llvm.mlir.constant(128 : i32) : i32
    %producer = llvm.icmp "ult" %thread, %bound : i32
    llvm.cond_br %producer, ^produce, ^consume
  ^produce:
    nvvm.setmaxregister decrease 24
    llvm.return
  ^consume:
    nvvm.setmaxregister increase 240
    llvm.store %thread, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
