// A condition of a tile that keeps bits in several loops becomes a mask before the first. ptxas would make the mask in
// the first loop, and read it in the others where the first had no step.

// RUN: attnc compile %s --entry heads --target nvptx:sm_80 --emit ptx -o - | FileCheck %s --check-prefix HEADS
// RUN: attnc compile %s --entry shifted --target nvptx:sm_90a --emit ptx -o - | FileCheck %s --check-prefix SHIFTED

!q = tensor<?x?x12x40xf32>
!k = tensor<?x?x3x40xf32>

// HEADS: setp.gt.u32 %[[HEAD:p[0-9]+]], %{{.*}}, 7;
// HEADS: selp.b32 %[[MASK:r[0-9]+]], -1, 0, %[[HEAD]];
// HEADS-COUNT-4: and.b32 %{{.*}}, %{{.*}}, %[[MASK]];
func.func @heads(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.forward %q, %k, %v align(top_left)
    schedule(#attn.schedule<query_tile = 64, key_tile = 48, panel = 64,
                            pipeline = #attn.warps<consumers = 1, stages = 2>>)
    mask (%b, %h, %i, %j) {
      %low = arith.index_cast %h : index to i8
      %c8 = arith.constant 8 : i8
      %known = arith.cmpi sge, %low, %c8 : i8
      %causal = attn.causal %i, %j
      %keep = arith.andi %known, %causal : i1
      attn.yield %keep : i1
    } : (!q, !k, !k) -> !q
  return %o : !q
}

// So do bits found by a shift, where an `and` reads their selection.

// SHIFTED: setp.gt.u32 %[[BATCH:p[0-9]+]], %{{.*}}, 3;
// SHIFTED: selp.b32 %[[MASK:r[0-9]+]], -1, 0, %[[BATCH]];
// SHIFTED-COUNT-4: and.b32 %{{.*}}, %{{.*}}, %[[MASK]];
!queries = tensor<?x?x2x8xf32>
!keys = tensor<?x?x1x8xf32>

func.func @shifted(%q: !queries, %k: !keys, %v: !keys) -> !queries {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64,
                            pipeline = #attn.warps<consumers = 1, stages = 2>>)
    mask (%b, %h, %i, %j) {
      %c1 = arith.constant 1 : index
      %known = arith.cmpi ugt, %b, %c1 : index
      %window = attn.window %i, %j left(%b)
      %keep = arith.andi %known, %window : i1
      attn.yield %keep : i1
    } : (!queries, !keys, !keys) -> !queries
  return %o : !queries
}
