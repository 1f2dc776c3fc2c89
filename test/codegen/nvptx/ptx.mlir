// A kernel of the form that tile-to-nvvm writes, from the dialects that it leaves to PTX.

// RUN: attnc-opt %s --attnc-nvvm-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: attnc-opt %s --attnc-nvvm-to-llvm --nvptx-print -o %t | FileCheck %s
// RUN: attnc-opt %s --attnc-nvvm-to-llvm --nvptx-print=as=llvm -o %t | FileCheck %s --check-prefix=IR

// LLVM-LABEL: llvm.func @kernel_entry
// LLVM-NOT: {{scf|arith|math|cf|vector|index|builtin}}.
// LLVM: llvm.return

// IR: target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
// IR: target triple = "nvptx64-nvidia-cuda"
// Assembly that synchronises stays where it is.
// IR: asm sideeffect "setmaxnreg{{.*}} #[[ASM:[0-9]+]]
// IR: attributes #[[ASM]] = { convergent

// CHECK: .version 8.3
// CHECK: .target sm_90a
// CHECK: .visible .entry kernel_entry(
// CHECK-DAG: .param .align 8 .b8 kernel_entry_param_0[24],
// CHECK-DAG: .param .align 64 .b8 kernel_entry_param_1[128],
// CHECK-DAG: .param .u64 kernel_entry_param_2
// CHECK: .reqntid 128
// CHECK: .minnctapersm 1
// A map that is copied to the stack cannot be read by copies of boxes.
// CHECK-NOT: .local
// CHECK: setmaxnreg.dec.sync.aligned.u32 24;
// CHECK: cp.async.bulk.prefetch.tensor
// Only what says so is fused.
// CHECK: fma.rn.f32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ex2.approx.ftz.f32

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
module attributes {attn.target = #gpu} {
  llvm.func @kernel_entry(%args: !llvm.ptr {llvm.byval = !llvm.array<3 x i64>, nvvm.grid_constant},
                          %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                          %tiles: i64)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.minctasm = 1 : i32,
                  tile.launch = #tile.launch<threads = 128, persistent = true>} {
    llvm.inline_asm has_side_effects "setmaxnreg.dec.sync.aligned.u32 24;", "" : () -> ()
    %zero = arith.constant 0 : i32
    nvvm.cp.async.bulk.tensor.prefetch %map, box[%zero, %zero] : !llvm.ptr
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %address = llvm.load %args : !llvm.ptr -> i64
    %out = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    %first = arith.index_cast %block : i32 to index
    %step = arith.index_cast %blocks : i32 to index
    %end = arith.index_cast %tiles : i64 to index
    %scale = arith.constant 1.25 : f32
    scf.for %tile = %first to %end step %step {
      %number = arith.index_cast %tile : index to i32
      %x = arith.sitofp %number : i32 to f32
      %y = arith.sitofp %thread : i32 to f32
      %fused = arith.mulf %x, %scale fastmath<contract> : f32
      %sum = arith.addf %fused, %y fastmath<contract> : f32
      %rounded = arith.mulf %sum, %y : f32
      %plain = arith.addf %rounded, %x : f32
      %pair = vector.from_elements %plain, %y : vector<2xf32>
      %powers = math.exp2 %pair : vector<2xf32>
      %a = vector.extract %powers[0] : f32 from vector<2xf32>
      %b = vector.extract %powers[1] : f32 from vector<2xf32>
      %both = arith.maximumf %a, %b : f32
      %place = llvm.getelementptr %out[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %both, %place : f32, !llvm.ptr<1>
      scf.yield
    }
    llvm.return
  }
}
