// On a CPU with AMX, products of bf16 go by tile registers: queries and weights as pairs of columns, keys as they lie, values
// turned. All registers have one shape, and four of them hold sums. Other types, and head dims that are no whole tiles, go by
// multiply-adds.

// RUN: attnc-opt %s --attnc-attn --attnc-tile --tile-to-cpu --split-input-file | FileCheck %s

// CHECK-LABEL: @whole_tile_entry
// Keys keep their rows, and values become rows of columns, two by two.
// CHECK-DAG: memref.view %{{.*}} : memref<?xi8> to memref<128x64xbf16>
// CHECK-DAG: memref.view %{{.*}} : memref<?xi8> to memref<64x128xbf16>
// Weights of 128 keys and 32 queries.
// CHECK-DAG: memref.view %{{.*}} : memref<?xi8> to memref<64x64xbf16>
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK-COUNT-8: amx.tile_mulf %{{.*}}, %{{.*}}, %{{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// CHECK-COUNT-4: amx.tile_store
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// The output is added to: 128 keys are four steps.
// CHECK-COUNT-4: amx.tile_load %{{.*}} : {{.*}}f32{{.*}} into !amx.tile<16x16xf32>
// CHECK-COUNT-16: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "sapphirerapids", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152, bf16_tiles = true>} {
  func.func @whole(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// CHECK-LABEL: @rest_tile_queries_to_16_entry
// CHECK-NOT: amx.
// CHECK: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "sapphirerapids", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152, bf16_tiles = true>} {
  func.func @rest(%q: tensor<?x?x4x72xbf16>, %k: tensor<?x?x4x72xbf16>, %v: tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16>
    return %o : tensor<?x?x4x72xbf16>
  }
}

// -----

// CHECK-LABEL: @halves_tile_queries_to_16_entry
// CHECK-NOT: amx.
// CHECK: vector.fma
module attributes {attn.target = #attn.cpu<cpu = "sapphirerapids", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152, bf16_tiles = true>} {
  func.func @halves(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }
}
