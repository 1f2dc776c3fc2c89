// Tiles that hold several heads of a group: boxes take the heads of each query, and no element costs a division.

// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit ptx -o - | FileCheck %s
// RUN: attnc compile %s --target nvptx:sm_90a --entry rows --emit ptx -o - | FileCheck %s --check-prefix=ROWS
// RUN: attnc compile %s --target nvptx:sm_90a --entry weights --emit nvvm -o - | FileCheck %s --check-prefix=WEIGHTS
// RUN: attnc compile %s --target nvptx:sm_80 --entry rows --emit ptx -o - | FileCheck %s --check-prefix=PIECES
// RUN: attnc compile %s --target nvptx:sm_80 --entry sums --emit nvvm -o - | tac | FileCheck %s --check-prefix=SUMS

// 64 rows are sixteen queries of four heads; the 16 that a warp stores are four.
// NVVM: tile.launch = #tile.launch<threads = 256,
// NVVM-SAME: tensor_maps = [
// NVVM-SAME: #tile.tensor_map<arg = 0, box = [1, 16, 4, 64], swizzle = 128>
// NVVM-SAME: #tile.tensor_map<arg = 3, box = [1, 4, 4, 64], swizzle = 128>]

// CHECK: .visible .entry causal_tile_entry(
// CHECK: setmaxnreg.inc
// The thread's row of the tile: its query once before the loops, and the same row eight later, two queries on.
// CHECK: wgmma.mma_async
// CHECK-NOT: div.
// CHECK-NOT: rem.
// CHECK: st.global.b32
func.func @causal(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, heads = 4,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = staged>>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}

// Sinks of each row's head, and rows that are queries. Pieces of one row go to one head: r / 4 queries and r % 4 heads
// further.
// ROWS: .visible .entry rows_tile_queries_to_{{[0-9]+}}_entry(
// ROWS: and.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, 3;
// ROWS: wgmma.mma_async
// PIECES: .visible .entry rows_tile_queries_to_{{[0-9]+}}_entry(
// PIECES: and.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, 3;
// PIECES: cp.async.cg.shared.global
func.func @rows(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                %n: tensor<8x2xf32>, %ql: tensor<?xi32>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v lengths(query = %ql : tensor<?xi32>) sinks(%n : tensor<8x2xf32>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// Heads lie outside of queries in weights, and inside in a tile, so in boxes too: 16 rows are eight queries of two heads.
// WEIGHTS: tile.launch = #tile.launch<threads = 256,
// WEIGHTS-SAME: #tile.tensor_map<arg = 2, box = [1, 2, 8, 64], swizzle = 128, order = [0, 2, 1, 3]>
func.func @weights(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x128x1x64xbf16>) -> tensor<?x2x?x128xbf16> {
  %w = attn.weights %q, %k : (tensor<?x?x2x64xbf16>, tensor<?x128x1x64xbf16>) -> tensor<?x2x?x128xbf16>
  return %w : tensor<?x2x?x128xbf16>
}

// Where the LSE of a row goes: its head and its query are selected, never taken from a row that was selected. Read from
// the end on.
// SUMS: llvm.store {{.*}} : f32, !llvm.ptr<1>
// SUMS: llvm.sext [[QUERY:%.*]] : i32 to i64
// SUMS: llvm.sext [[HEAD:%.*]] : i32 to i64
// SUMS-NOT: llvm.{{urem|udiv}}
// SUMS: [[QUERY]] = llvm.select [[IS_SECOND:%[0-9]+]], {{.*}} : i1, i32
// SUMS-NEXT: [[HEAD]] = llvm.select [[IS_SECOND]], {{.*}} : i1, i32
func.func @sums(%q: tensor<?x?x4x8xf16>, %k: tensor<?x?x1x8xf16>, %v: tensor<?x?x1x80xf16>)
    -> (tensor<?x?x4x80xf16>, tensor<?x4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, heads = 2,
                            pipeline = #attn.warps<consumers = 1, stages = 2>>)
    : (tensor<?x?x4x8xf16>, tensor<?x?x1x8xf16>, tensor<?x?x1x80xf16>) -> (tensor<?x?x4x80xf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x80xf16>, tensor<?x4x?xf32>
}
