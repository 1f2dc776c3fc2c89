// RUN: sed -e 's/TARGET/cpu = "x86-64", features = "+sse2", vector_bits = 128, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288/' %s > %t.sse.mlir
// RUN: attnc-opt %t.sse.mlir --attnc-attn --attnc-tile --attnc-cpu \
// RUN:   | FileCheck %s -DLANES=4 --implicit-check-not="scf." --implicit-check-not="memref." --implicit-check-not="tile." --implicit-check-not="vector." --implicit-check-not="arith." --implicit-check-not="math." --implicit-check-not="unrealized"
// RUN: sed -e 's/TARGET/cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288/' %s > %t.avx2.mlir
// RUN: attnc-opt %t.avx2.mlir --attnc-attn --attnc-tile --attnc-cpu \
// RUN:   | FileCheck %s -DLANES=8 --implicit-check-not="scf." --implicit-check-not="memref." --implicit-check-not="tile." --implicit-check-not="vector." --implicit-check-not="arith." --implicit-check-not="math." --implicit-check-not="unrealized"
// RUN: sed -e 's/TARGET/cpu = "znver4", features = "+avx512f", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576/' %s > %t.avx512.mlir
// RUN: attnc-opt %t.avx512.mlir --attnc-attn --attnc-tile --attnc-cpu \
// RUN:   | FileCheck %s -DLANES=16 --implicit-check-not="scf." --implicit-check-not="memref." --implicit-check-not="tile." --implicit-check-not="vector." --implicit-check-not="arith." --implicit-check-not="math." --implicit-check-not="unrealized"

// From a spec to the LLVM dialect on every target: nothing of another dialect is left, and lanes are as wide as registers.

// CHECK-LABEL: llvm.func @causal_tile_queries_to_{{[0-9]+}}_entry(
// CHECK-SAME: attn.scratch_bytes = {{[1-9][0-9]*}} : i64
// CHECK: llvm.intr.fmuladd{{.*}} vector<[[LANES]]xf32>
// CHECK: llvm.return
module attributes {attn.target = #attn.cpu<TARGET>} {
  func.func @causal(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>) {
    %o, %lse = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      } : (tensor<?x?x4x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>)
    return %o, %lse : tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>
  }
}
