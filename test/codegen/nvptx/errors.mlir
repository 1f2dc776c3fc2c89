// What LLVM refuses is an error of the module, and the compiler goes on.

// RUN: not attnc-opt %s --split-input-file --nvptx-print -o %t 2>&1 | FileCheck %s

// CHECK: error: LLVM cannot write the code: {{.*}}constraint
#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
module attributes {attn.target = #gpu} {
  llvm.func @kernel(%x: f32) attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "use $0;", "y" %x : (f32) -> ()
    llvm.return
  }
}

// -----

// CHECK: error: expected a GPU in the attribute 'attn.target'
module {
}
