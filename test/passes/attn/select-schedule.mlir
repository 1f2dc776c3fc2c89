// RUN: attnc-opt %s --attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// A panel is three registers of rows, and divides the query tile, on every target. The query tile is at most 240 rows,
// fewer where their state would fill more than half of the L2 cache. As many queries as one register has have a tile of one.

// CHECK: attn.target = #attn.cpu<cpu = "x86-64"
// CHECK-LABEL: func.func @sse(
// CHECK: schedule(#attn.schedule<query_tile = 4, key_tile = 32, panel = 4, when = <queries = to 4>>, #attn.schedule<query_tile = 240, key_tile = 64, panel = 12>)
module attributes {attn.target = #attn.cpu<cpu = "x86-64", features = "+sse2", vector_bits = 128, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @sse(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    %o = attn.forward %q, %q, %q
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// CHECK-LABEL: func.func @avx2(
// CHECK: attn.forward
// CHECK-SAME: schedule(#attn.schedule<query_tile = 8, key_tile = 32, panel = 8, when = <queries = to 8>>, #attn.schedule<query_tile = 240, key_tile = 64, panel = 24>)
// CHECK: attn.weights
// CHECK-SAME: schedule(#attn.schedule<query_tile = 240, key_tile = 64, panel = 24>)
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @avx2(%q: tensor<?x?x4x64xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x4x?x?xf32>) {
    %o = attn.forward %q, %q, %q
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    %w = attn.weights %q, %q : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x4x?x?xf32>
    return %o, %w : tensor<?x?x4x64xf32>, tensor<?x4x?x?xf32>
  }
}

// -----

// CHECK-LABEL: func.func @avx512(
// CHECK: schedule(#attn.schedule<query_tile = 16, key_tile = 32, panel = 16, when = <queries = to 16>>, #attn.schedule<query_tile = 240, key_tile = 64, panel = 48>)
module attributes {attn.target = #attn.cpu<cpu = "znver4", features = "+avx512f", vector_bits = 512, vector_registers = 32, l1_bytes = 32768, l2_bytes = 1048576>} {
  func.func @avx512(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    %o = attn.forward %q, %q, %q
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// A cache too small for one panel gets one panel all the same.

// CHECK-LABEL: func.func @tiny_cache(
// CHECK: #attn.schedule<query_tile = 24, key_tile = 64, panel = 24>)
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 1024, l2_bytes = 1024>} {
  func.func @tiny_cache(%q: tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32> {
    %o = attn.forward %q, %q, %q
      : (tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32>
    return %o : tensor<?x?x4x256xf32>
  }
}

// -----

// A schedule of the spec's own that suits the registers is kept: one register of rows, two, three.

// CHECK-LABEL: func.func @own(
// CHECK: schedule(#attn.schedule<query_tile = 8, key_tile = 8, panel = 8>)
// CHECK: schedule(#attn.schedule<query_tile = 80, key_tile = 32, panel = 16>)
// CHECK: schedule(#attn.schedule<query_tile = 24, key_tile = 256, panel = 24>)
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @own(%q: tensor<?x?x4x64xf32>) -> (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) {
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 8, key_tile = 8, panel = 8>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    %p = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 80, key_tile = 32, panel = 16>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    %r = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 24, key_tile = 256, panel = 24>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o, %p, %r : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>
  }
}

// -----

// A panel that is no whole number of registers.

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @part_of_a_register(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected the schedule's panel to be 8, 16 or 24 rows for 256-bit registers, got 12}}
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 24, key_tile = 64, panel = 12>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// One that needs more registers than there are; the same panel is fine with wider ones.

module attributes {attn.target = #attn.cpu<cpu = "x86-64", features = "+sse2", vector_bits = 128, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @too_many_registers(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected the schedule's panel to be 4, 8 or 12 rows for 128-bit registers, got 24}}
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @odd_key_tile(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected the schedule's key_tile to be a multiple of 8 up to 4096, got 60}}
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 60, panel = 24>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @large_query_tile(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected the schedule's query_tile to be at most 65536, got 96000}}
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96000, key_tile = 64, panel = 24>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

func.func @no_target(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  // expected-error@+1 {{expected the module to carry attn.target; attnc sets it from --target}}
  %o = attn.forward %q, %q, %q
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// -----

// 120 rows of 256 + 256 f32 are the most panels of 24 in half of 512 KiB.

// CHECK-LABEL: func.func @wide_heads(
// CHECK: #attn.schedule<query_tile = 120, key_tile = 64, panel = 24>)
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @wide_heads(%q: tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32> {
    %o = attn.forward %q, %q, %q
      : (tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32>
    return %o : tensor<?x?x4x256xf32>
  }
}

// -----

// Heads of a group share a register of rows: four of twelve, since a register has a power of two. Not where dropout, or a
// region, knows the head.

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  // CHECK-LABEL: func.func @groups(
  // CHECK: schedule(#attn.schedule<query_tile = 8, key_tile = 32, panel = 8, when = <queries = to 2>, heads = 4>, #attn.schedule<query_tile = 240, key_tile = 64, panel = 24>)
  func.func @groups(%q: tensor<?x?x12x64xf32>, %k: tensor<?x?x1x64xf32>) -> tensor<?x?x12x64xf32> {
    %o = attn.forward %q, %k, %k : (tensor<?x?x12x64xf32>, tensor<?x?x1x64xf32>, tensor<?x?x1x64xf32>) -> tensor<?x?x12x64xf32>
    return %o : tensor<?x?x12x64xf32>
  }
  // CHECK-LABEL: func.func @known_head(
  // CHECK: schedule(#attn.schedule<query_tile = 8, key_tile = 32, panel = 8, when = <queries = to 8>>,
  func.func @known_head(%q: tensor<?x?x12x64xf32>, %k: tensor<?x?x1x64xf32>, %s: tensor<12xf32>) -> tensor<?x?x12x64xf32> {
    %o = attn.forward %q, %k, %k
      score (%x, %b, %h, %i, %j) {
        %y = attn.alibi %x, %s[%h], %i, %j : tensor<12xf32>
        attn.yield %y : f32
      }
      : (tensor<?x?x12x64xf32>, tensor<?x?x1x64xf32>, tensor<?x?x1x64xf32>) -> tensor<?x?x12x64xf32>
    return %o : tensor<?x?x12x64xf32>
  }
  // Few queries by the type, and many.
  // CHECK-LABEL: func.func @one_query(
  // CHECK: schedule(#attn.schedule<query_tile = 8, key_tile = 32, panel = 8, heads = 4>)
  func.func @one_query(%q: tensor<?x1x12x64xf32>, %k: tensor<?x?x1x64xf32>) -> tensor<?x1x12x64xf32> {
    %o = attn.forward %q, %k, %k : (tensor<?x1x12x64xf32>, tensor<?x?x1x64xf32>, tensor<?x?x1x64xf32>) -> tensor<?x1x12x64xf32>
    return %o : tensor<?x1x12x64xf32>
  }
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @heads_of_no_group(%q: tensor<?x?x12x64xf32>) -> tensor<?x?x12x64xf32> {
    // expected-error@+1 {{expected heads to divide 1, the heads that a register of rows can hold together here, got 2}}
    %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 8, key_tile = 32, panel = 8, heads = 2>)
      : (tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>) -> tensor<?x?x12x64xf32>
    return %o : tensor<?x?x12x64xf32>
  }
}
