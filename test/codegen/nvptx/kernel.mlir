// A kernel for sm_90a from spec to PTX, with a schedule of its own: the roles, rings and products that it says.

// RUN: attnc compile %s --target nvptx:sm_90a --entry kernel --emit nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: attnc compile %s --target nvptx:sm_90a --entry kernel --emit ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=COUNTER < %t.ptx
// RUN: FileCheck %s --check-prefix=DESCRIPTORS --implicit-check-not='mov.b64 d' < %t.ptx
// RUN: FileCheck %s --check-prefix=COUNT --implicit-check-not=wgmma.mma_async < %t.ptx
// RUN: attnc compile %s --target nvptx:sm_90a --entry fixed --emit ptx -o - | FileCheck %s --check-prefix=FIXED

// Tensor maps are parameters that the copy engine reads where they are. Boxes are a panel wide; the output leaves by
// warpgroups.
// NVVM: llvm.func @kernel_tile_entry(
// NVVM-SAME: {llvm.align = 8 : i64, llvm.byval = !llvm.array<{{[0-9]+}} x i64>, nvvm.grid_constant}
// NVVM-COUNT-4: {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// NVVM-SAME: i64, %{{.*}}: !llvm.ptr<1>)
// NVVM-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384>
// Warpgroups have roles, of which back ends are told.
// NVVM-SAME: passthrough = ["attnc-roles"]
// NVVM-SAME: tile.launch = #tile.launch<threads = 384, shared_bytes = 163968, persistent = true, counter = true,
// NVVM-SAME: tensor_maps = [#tile.tensor_map<arg = 1, box = [1, 96, 1, 64], swizzle = 128>, #tile.tensor_map<arg = 0, box = [1, 128, 1, 64], swizzle = 128>, #tile.tensor_map<arg = 2, box = [1, 96, 1, 64], swizzle = 128>, #tile.tensor_map<arg = 3, box = [1, 16, 1, 64], swizzle = 128>]>

// CHECK: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 attnc_shared[];
// CHECK: .visible .entry kernel_tile_entry(
// CHECK: .param .align 8 .b8 kernel_tile_entry_param_0[{{[0-9]+}}],
// CHECK-NEXT: .param .align 64 .b8 kernel_tile_entry_param_1[128],
// CHECK-NEXT: .param .align 64 .b8 kernel_tile_entry_param_2[128],
// CHECK-NEXT: .param .align 64 .b8 kernel_tile_entry_param_3[128],
// CHECK-NEXT: .param .align 64 .b8 kernel_tile_entry_param_4[128],
// CHECK-NEXT: .param .u64 kernel_tile_entry_param_5,
// CHECK-NEXT: .param .u64 .ptr .global .align 1 kernel_tile_entry_param_6
// CHECK: .reqntid 384
// CHECK: .minnctapersm 1
// Neither parameters nor rings' states are in local memory.
// CHECK-NOT: .local
//
// Two barriers for each of two stages of keys, values and numbers, and of one of queries.
// CHECK-COUNT-14: mbarrier.init.shared::cta.b64
// CHECK-NOT: mbarrier.init
// CHECK: fence.mbarrier_init.release.cluster
//
// Consumers.
// CHECK: setmaxnreg.inc.sync.aligned.u32 240;
// CHECK: wgmma.fence.sync.aligned;
// CHECK: wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// In the loop: logits, then the output in registers, then the wait for the first.
// CHECK: wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
// The output goes through its buffer.
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: cp.async.bulk.tensor.4d.global.shared::cta.bulk_group
// CHECK: cp.async.bulk.commit_group;
//
// The producer. Two panels of 96 rows of keys are 24576 bytes, and of 128 rows of queries 32768.
// CHECK: setmaxnreg.dec.sync.aligned.u32 24;
// CHECK-DAG: mov.b32 %r{{[0-9]+}}, 24576;
// CHECK-DAG: mov.b32 %r{{[0-9]+}}, 32768;
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
// CHECK-COUNT-2: cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
// COUNTER: atom.global.inc.u32

// The upper half of each descriptor is a constant: 1024 bytes from eight rows to the next (in 16 bytes), and a
// permutation of 128 bytes. The first logits, two loops (8 products of two descriptors, 6 of one) and the last output.
// DESCRIPTORS-COUNT-66: mov.b64 d{{[ab], [{](%r[0-9]+|word),}} 0x40000040};

// COUNT-COUNT-42: wgmma.mma_async.sync.aligned.m64n{{96|128}}k16.f32.bf16.bf16

// Without a counter, a block works on every n-th tile, and has nothing to fetch.
// FIXED: .visible .entry fixed_tile_entry(
// FIXED-NOT: .global
// FIXED: .reqntid 256
// FIXED-NOT: atom.
// FIXED: setmaxnreg.inc.sync.aligned.u32 160;
// FIXED-NOT: bar.arrive
// FIXED: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// Output straight from registers.
// FIXED-NOT: cp.async.bulk.tensor.4d.global
// FIXED: st.global
// FIXED: setmaxnreg.dec.sync.aligned.u32 32;
// FIXED: ret;

func.func @kernel(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>)
    -> tensor<?x?x16x128xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 96, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, ping_pong = true, epilogue = staged, dynamic = true, section_bytes = 31457280>>)
    : (tensor<?x?x16x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x16x128xbf16>
  return %o : tensor<?x?x16x128xbf16>
}

func.func @fixed(%q: tensor<?x?x16x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>)
    -> tensor<?x?x16x64xf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 32,
                                        consumer_registers = 160, epilogue = direct>>)
    : (tensor<?x?x16x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x16x64xf16>
  return %o : tensor<?x?x16x64xf16>
}
