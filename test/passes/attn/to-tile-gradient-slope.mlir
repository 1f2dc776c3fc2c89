// RUN: attnc-opt %s --attnc-attn --attn-to-tile --canonicalize --cse --split-input-file | FileCheck %s

// Weights are multiplied by the slope of the score before their gradients are there: neither logits nor slopes are kept until then.
// A weight of 0 stays 0, whatever the slope is. A soft cap's is finite, so that what it is multiplied with may be 0.

// CHECK-LABEL: tile.program @capped_dkdv(
// CHECK: %[[SCORES:.*]]:2 = tile.map tiles(%{{.*}} : vector<32x16xf32>)
// CHECK: math.tanh
// CHECK: %[[WEIGHTS:.*]]:2 = tile.map tiles(%{{.*}}, %[[SCORES]]#1
// CHECK: %[[P:.*]] = math.exp2
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[P]],
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[P]],
// CHECK: %[[SLOPED:.*]] = arith.select %[[NONE]], %{{.*}}, %[[PRODUCT]]
// CHECK: tile.yield %[[P]], %[[SLOPED]]
// CHECK: %[[DV:.*]] = tile.map tiles(%[[WEIGHTS]]#0 :
// CHECK: tile.map tiles(%[[WEIGHTS]]#1, %{{.*}} : {{.*}}) rows() cols(
// CHECK-NOT: arith.select
// CHECK: tile.yield
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @capped(%q: tensor<?x?x2x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x16xbf16>,
                  %o: tensor<?x?x2x16xbf16>, %lse: tensor<?x2x?xf32>, %do: tensor<?x?x2x16xbf16>)
    -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 30.0
      attn.yield %x : f32
    }
    : (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x2x?xf32>,
       tensor<?x?x2x16xbf16>) -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>)
  return %dq, %dk, %dv : tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>
}
}

// -----

// That of a square root may be infinite.

// CHECK-LABEL: tile.program @root_dkdv(
// CHECK: math.exp2
// CHECK: tile.map tiles(%{{.*}}, %{{.*}} : {{.*}}) rows() cols(
// CHECK: %[[DIFFERENCE:.*]] = arith.subf
// CHECK: %[[GRADIENT:.*]] = arith.mulf %{{.*}}, %[[DIFFERENCE]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[DIFFERENCE]],
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[GRADIENT]]
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @root(%q: tensor<?x?x2x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x16xbf16>,
                %o: tensor<?x?x2x16xbf16>, %lse: tensor<?x2x?xf32>, %do: tensor<?x?x2x16xbf16>)
    -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    score (%s, %b, %h, %i, %j) {
      %a = math.absf %s : f32
      %x = math.sqrt %a : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x2x?xf32>,
       tensor<?x?x2x16xbf16>) -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>)
  return %dq, %dk, %dv : tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>
}
}

// -----

// Both gradients know by the signs of weights which ones dropout drops: their random numbers are there once.

// CHECK-LABEL: tile.program @dropped_dkdv(
// CHECK: %[[NUMBERS:.*]] = tile.philox
// CHECK: %[[MARKED:.*]] = tile.map tiles(%{{.*}}, %[[NUMBERS]] :
// CHECK: %[[KEPT:.*]] = arith.cmpi uge
// What is no number may have any sign.
// CHECK: %[[POSITIVE:.*]] = math.absf
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[POSITIVE]]
// CHECK: arith.select %[[KEPT]], %[[POSITIVE]], %[[NEGATIVE]]
// CHECK: tile.map tiles(%[[MARKED]] :
// CHECK: arith.bitcast
// CHECK: arith.cmpi sge
// CHECK: tile.map tiles(%[[MARKED]], %{{.*}} :
// CHECK: arith.cmpi sge
// CHECK: math.absf
// CHECK-NOT: tile.philox
module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
func.func @dropped(%q: tensor<?x?x2x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x16xbf16>,
                   %o: tensor<?x?x2x16xbf16>, %lse: tensor<?x2x?xf32>, %do: tensor<?x?x2x16xbf16>, %seed: i64)
    -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do dropout(0.1, %seed)
    schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 32, panel = 16, program = dkdv>)
    : (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x2x?xf32>,
       tensor<?x?x2x16xbf16>) -> (tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>)
  return %dq, %dk, %dv : tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>
}
}
