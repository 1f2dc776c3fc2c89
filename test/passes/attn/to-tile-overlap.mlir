// RUN: attnc-opt %s --attn-infer-bounds --attn-to-tile --canonicalize --cse | FileCheck %s

// Loops over steps say how the steps overlap, by the schedule, where warpgroups have roles.

#forward = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
#sums_late = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>
#logits_ahead = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <overlap = logits_ahead>>
#queries_first = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <logit_stages = 2, overlap = queries_first>>
#warps = #attn.warps<consumers = 2, stages = 2>

// CHECK-LABEL: tile.program @forward_tile(
// CHECK: scf.for
// CHECK: } {tile.overlap = #tile.overlap<weights_ahead>}
// CHECK: tile.return
func.func @forward(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #forward>)
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}

// CHECK-LABEL: tile.program @by_warps_tile(
// CHECK-NOT: tile.overlap
// CHECK: tile.return
func.func @by_warps(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #warps>)
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16>
  return %o : tensor<?x?x2x64xbf16>
}

// One product starts a step of dv: whatever its schedule says, it goes forward's way.

// CHECK-LABEL: tile.program @three_dq(
// CHECK: scf.for
// CHECK: } {tile.overlap = #tile.overlap<sums_late>}
// CHECK-LABEL: tile.program @three_dk(
// CHECK: scf.for
// CHECK: } {tile.overlap = #tile.overlap<logits_ahead>}
// CHECK-LABEL: tile.program @three_dv(
// CHECK: scf.for
// CHECK: } {tile.overlap = #tile.overlap<weights_ahead>}
// CHECK: tile.return
func.func @three(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                 %o: tensor<?x?x2x64xbf16>, %lse: tensor<?x2x?xf32>, %do: tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #sums_late, program = dq>,
             #attn.schedule<query_tile = 64, key_tile = 128, panel = 64, pipeline = #logits_ahead, program = dk>,
             #attn.schedule<query_tile = 64, key_tile = 128, panel = 64, pipeline = #logits_ahead, program = dv>)
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>,
       tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
  return %dq, %dk, %dv : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>
}

// That gradients of queries come first is an order of the rest, which the scores run ahead of. What has no steps says
// nothing.

// CHECK-LABEL: tile.program @one_delta(
// CHECK-NOT: tile.overlap
// CHECK-LABEL: tile.program @one_dqdkdv(
// CHECK: scf.for
// CHECK: } {tile.overlap = #tile.overlap<scores_ahead>}
// CHECK-LABEL: tile.program @one_convert_dq(
// CHECK-NOT: tile.overlap
// CHECK: tile.return
func.func @one(%q: tensor<?x?x2x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
               %o: tensor<?x?x2x64xbf16>, %lse: tensor<?x2x?xf32>, %do: tensor<?x?x2x64xbf16>)
    -> (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #warps, program = delta>,
             #attn.schedule<query_tile = 64, key_tile = 128, panel = 64, pipeline = #queries_first, program = dqdkdv>,
             #attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #warps, program = convert_dq>)
    : (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x2x?xf32>,
       tensor<?x?x2x64xbf16>) -> (tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
  return %dq, %dk, %dv : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>
}
