// What kernels are left with when functions and structured control flow are written out: one conversion takes all of
// it to the LLVM dialect, and leaves what LLVM knows of NVVM.

// RUN: attnc-opt %s --nvptx-to-llvm --reconcile-unrealized-casts | FileCheck %s

// CHECK-LABEL: llvm.func @kernel
// CHECK-NOT: {{(arith|cf|math|vector|builtin)\.}}
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.intr.fma
// CHECK: llvm.fcmp "ogt"
// CHECK: llvm.cond_br %{{.*}}, ^[[SOME:.*]](%{{.*}} : f32), ^[[SOME]](%{{.*}} : f32)
// CHECK: ^[[SOME]](%{{.*}}: f32):
// CHECK: llvm.return
llvm.func @kernel(%out: !llvm.ptr<1>, %x: f32, %n: i32) attributes {nvvm.kernel} {
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %two = arith.constant 2 : i32
  %half = arith.ceildivui %n, %two : i32
  %place = arith.index_cast %half : i32 to index
  %offset = arith.index_cast %place : index to i64
  %y = math.fma %x, %x, %x : f32
  %pair = vector.from_elements %x, %y : vector<2xf32>
  %last = vector.extract %pair[1] : f32 from vector<2xf32>
  %more = arith.cmpf ogt, %last, %x : f32
  cf.cond_br %more, ^some(%last : f32), ^some(%x : f32)
^some(%value: f32):
  %address = llvm.getelementptr %out[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  llvm.store %value, %address : f32, !llvm.ptr<1>
  llvm.return
}
