// RUN: attnc-opt %s --nvrtc-print -o /dev/null | FileCheck %s

// Numbers, control flow, memory and instructions as CUDA C++.

// CHECK: #include "attnc_device.cuh"

// One function for each instruction; offsets are template arguments, and what goes in and comes out is one operand.
// CHECK: template <int number>
// CHECK-NEXT: ATTNC_DEVICE f32 loadSharedFloat(u32 a0) {
// CHECK: asm volatile("ld.shared.f32 %0, [%1+%2];"
// CHECK-NEXT: : "=f"(d)
// CHECK-NEXT: : "r"(a0), "n"(number)
// CHECK-NEXT: : "memory");
// CHECK: ATTNC_DEVICE void waitProducts1(Array<f32, 4> &d) {
// CHECK: : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
// CHECK: ATTNC_DEVICE u32 loadIf(u64 a0, bool a1) {
// CHECK: "setp.ne.u32 condition2, %2, 0;\n"
// CHECK: "@condition2 ld.global.b32 %0, [%1];\n"
// CHECK: "l"(a0), "r"(u32(a1))

// CHECK: extern __shared__ __align__(1024) u8 attnc_shared[];
llvm.mlir.global external @attnc_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK: extern "C" __global__ void __launch_bounds__(128, 1)
// CHECK-NEXT: kernel(const __grid_constant__ Words<2> arguments0,
// CHECK-NEXT: const __grid_constant__ TensorMap map0,
// CHECK-NEXT: u64 n0) {
llvm.func @kernel(%args: !llvm.ptr {llvm.byval = !llvm.array<2 x i64>, nvvm.grid_constant},
                  %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                  %count: i64)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.minctasm = 1 : i32} {
  %zero = arith.constant 0.0 : f32
  %third = arith.constant 0.333333343 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %slot = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, i64
  // CHECK: f32 *{{p[0-9]+}} = globalPointer<f32>(arguments0.word[1]);
  %word = llvm.load %slot : !llvm.ptr -> i64
  %out = llvm.inttoptr %word : i64 to !llvm.ptr<1>
  %n = arith.trunci %count : i64 to i32
  %shared = llvm.mlir.addressof @attnc_shared : !llvm.ptr<3>
  // CHECK: const u32 [[BASE:n[0-9]+]] = u32(__cvta_generic_to_shared(attnc_shared));
  %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
  // CHECK: const f32 [[X:x[0-9]+]] = loadSharedFloat<512>([[BASE]]);
  %x = llvm.inline_asm has_side_effects "ld.shared.f32 $0, [$1+512];", "=f,r,~{memory}" %base : (i32) -> f32 loc("loadSharedFloat")
  // The same function.
  // CHECK: loadSharedFloat<8>([[BASE]]);
  %y = llvm.inline_asm has_side_effects "ld.shared.f32 $0, [$1+8];", "=f,r,~{memory}" %base : (i32) -> f32 loc("loadSharedFloat")

  // Values of one type that a loop carries are an array; all are assigned at once.
  // CHECK: Array<f32, 4> [[T:tile[0-9]+]];
  // CHECK-NEXT: u32 [[A:n[0-9]+]];
  // CHECK-NEXT: u32 [[B:n[0-9]+]];
  // CHECK-NEXT: [[T]].fill(0.0f);
  // CHECK: #pragma unroll 1
  // CHECK-NEXT: for (u32 [[I:i[0-9]+]] = 0u; i32([[I]]) < i32(u32(n0)); [[I]] += 1u) {
  %r:6 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %zero, %q = %zero, %s = %zero, %t = %zero, %a = %c0, %b = %c1)
      -> (f32, f32, f32, f32, i32, i32) : i32 {
    // CHECK: Array<f32, 4> [[W:tile[0-9]+]] = [[T]];
    // CHECK-NEXT: waitProducts1([[W]]);
    %w = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %p, %q, %s, %t : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)> loc("waitProducts1")
    %w0 = llvm.extractvalue %w[0] : !llvm.struct<(f32, f32, f32, f32)>
    %w1 = llvm.extractvalue %w[1] : !llvm.struct<(f32, f32, f32, f32)>
    %w2 = llvm.extractvalue %w[2] : !llvm.struct<(f32, f32, f32, f32)>
    %w3 = llvm.extractvalue %w[3] : !llvm.struct<(f32, f32, f32, f32)>
    // CHECK-DAG: const auto before{{[0-9]+}} = [[B]];
    // CHECK-DAG: const auto before{{[0-9]+}} = [[A]];
    // CHECK: [[T]] = [[W]];
    // CHECK: [[A]] = before{{[0-9]+}};
    // CHECK: [[B]] = before{{[0-9]+}};
    scf.yield %w0, %w1, %w2, %w3, %b, %a : f32, f32, f32, f32, i32, i32
  }

  // Signs are read where they count; what is unordered is the opposite of what is ordered.
  // CHECK: const bool [[BELOW:is[0-9]+]] = i32([[A]]) < i32(u32(-1));
  %isBelow = arith.cmpi slt, %r#4, %minus : i32
  %isLess = arith.cmpf ult, %r#0, %third : f32
  %both = arith.andi %isBelow, %isLess : i1
  // CHECK: if ([[BELOW]] & !([[T]][0] >= 0.333333343f)) {
  scf.if %both {
    %f = math.fma %r#0, %x, %infinity : f32
    // CHECK: p0[i64(sext64([[B]]))] = fmaRn([[T]][0], [[X]], asF32(0x7f800000u));
    %wide = arith.extsi %r#5 : i32 to i64
    %at = llvm.getelementptr %out[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %f, %at : f32, !llvm.ptr<1>
  } else {
    // CHECK: } else {
    // CHECK: loadIf(u64(p0), [[BELOW]]);
    %g = llvm.inline_asm has_side_effects "mov.b32 $0, 0;\0A@$2 ld.global.b32 $0, [$1];", "=r,l,b,~{memory}" %out, %isBelow : (!llvm.ptr<1>, i1) -> i32 loc("loadIf")
    %h = arith.bitcast %g : i32 to f32
    %sum = arith.addf %h, %y : f32
    llvm.store %sum, %out : f32, !llvm.ptr<1>
    // CHECK: __syncwarp(u32(-1));
    nvvm.bar.warp.sync %minus : i32
  }
  llvm.return
}

// What orders threads, copies and products has functions of the device header.
// CHECK-LABEL: order(
llvm.func @order(%counter: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  %c2 = arith.constant 2 : i32
  %threads = arith.constant 256 : i32
  // CHECK: fenceBarrierInit();
  nvvm.fence.mbarrier.init
  // CHECK: __syncthreads();
  nvvm.barrier
  // CHECK: barrierArrive(2u, 256u);
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c2, %threads) : (i32, i32) -> ()
  // CHECK: barrierSync(2u, 256u);
  nvvm.barrier id = %c2 number_of_threads = %threads
  // CHECK: fenceProducts();
  nvvm.wgmma.fence.aligned
  // CHECK: commitProducts();
  nvvm.wgmma.commit.group.sync.aligned
  // CHECK: commitPieces();
  nvvm.cp.async.commit.group
  // CHECK: waitPieces<1>();
  nvvm.cp.async.wait.group 1
  // CHECK: fenceAsync();
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK: commitStores();
  nvvm.cp.async.bulk.commit.group
  // CHECK: waitStoresRead<0>();
  nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK: waitStores<0>();
  nvvm.cp.async.bulk.wait_group 0
  // Nothing that has an effect is left out, or moved.
  // CHECK: = incrementCounter(u64(n0), n1);
  %ticket = llvm.atomicrmw uinc_wrap %counter, %n syncscope("device") monotonic : !llvm.ptr<1>, i32
  // CHECK-NEXT: }
  llvm.return
}
