// Where a CPU adds two products of bf16 to f32 in one instruction (AVX512-BF16), they go by pairs: of queries' columns, and
// of keys, whose weights are rounded and stored side by side. One register of rows, other types, and head dims that are no
// whole pieces go by multiply-adds.

// RUN: attnc-opt %s --attnc-attn --attnc-tile --tile-to-cpu --split-input-file | FileCheck %s

// CHECK-LABEL: @whole_tile_queries_to_16_entry
// CHECK-NOT: x86vector
// CHECK: vector.fma
// CHECK-LABEL: @whole_tile_entry
// Keys keep their rows, and values become rows of columns.
// CHECK-DAG: memref.view %{{.*}} : memref<?xi8> to memref<64x64xbf16>
// Weights of 64 keys and 48 queries.
// CHECK-DAG: memref.view %{{.*}} : memref<?xi8> to memref<32x96xbf16>
// CHECK: vector.load %{{.*}} : {{.*}} vector<32xbf16>
// CHECK: vector.load %{{.*}} : memref<64x64xbf16>, vector<2xbf16>
// CHECK-COUNT-96: x86vector.avx512.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK-COUNT-96: x86vector.avx512.dot
#cpu = #attn.cpu<cpu = "znver4", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576, bf16_dots = true>
module attributes {attn.target = #cpu} {
  func.func @whole(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// CHECK-LABEL: @rest_tile_entry
// CHECK-NOT: x86vector
// CHECK: vector.fma
#cpu = #attn.cpu<cpu = "znver4", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576, bf16_dots = true>
module attributes {attn.target = #cpu} {
  func.func @rest(%q: tensor<?x?x4x72xbf16>, %k: tensor<?x?x4x72xbf16>, %v: tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16>
    return %o : tensor<?x?x4x72xbf16>
  }
}

// -----

// CHECK-LABEL: @halves_tile_entry
// CHECK-NOT: x86vector
// CHECK: vector.fma
#cpu = #attn.cpu<cpu = "znver4", features = "+avx512f,+avx512bw,+avx512vl,+avx512bf16", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576, bf16_dots = true>
module attributes {attn.target = #cpu} {
  func.func @halves(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
    %o = attn.forward %q, %k, %v : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }
}
