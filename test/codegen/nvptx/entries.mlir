// Kernels of one module are made into PTX one by one, at the same time, and joined: one header, one name for the shared
// memory, the same text each time.

// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o %t.1
// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: FileCheck %s < %t.1
// RUN: %if ptxas %{ attnc compile %s --target nvptx:sm_90a --emit cubin -o %t.cubin %}

// CHECK: .version
// CHECK: .target sm_90a
// CHECK: .address_size 64
// CHECK: .extern .shared {{.*}} attnc_shared[];
// CHECK-NOT: {{Generated|\.version|\.target|\.address_size|\.extern}}
// CHECK: .entry two_tile_queries_to_99_entry(
// CHECK: .reqntid 256
// CHECK-NOT: {{Generated|\.version|\.target|\.address_size|\.extern}}
// CHECK: .entry two_tile_queries_from_100_entry(
// CHECK: .reqntid 384
// CHECK-NOT: {{Generated|\.version|\.target|\.address_size|\.extern|\.entry}}

func.func @two(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 99>,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>,
             #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = from 100>,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
