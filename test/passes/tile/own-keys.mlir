// RUN: attnc compile %s --entry window --target nvptx:sm_90a --emit tile | FileCheck %s
// RUN: attnc compile %s --entry window --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=PRODUCER
// RUN: attnc compile %s --entry weights --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=WEIGHTS
// RUN: attnc verify %s --entry window --target sim:sm_90a --shape B=1,Sq=300,Sk=700 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry window --target sim:sm_90a --shape B=1,Sq=200,Sk=77 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry window --target sim:sm_90a --shape B=2,Sq=129,Sk=64 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry steep --target sim:sm_90a --shape B=1,Sq=128,Sk=1024 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry falling --target sim:sm_90a --shape B=1,Sq=128,Sk=900 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry one_stage --target sim:sm_90a --shape B=1,Sq=128,Sk=200 | FileCheck %s --check-prefix=RIGHT
// RUN: attnc verify %s --entry weights --target sim:sm_90a --shape B=1,Sq=1200,Sk=150 | FileCheck %s --check-prefix=EVEN

// With `own_keys` each consumer goes over the keys that the mask keeps for its own rows. The producer brings those of
// all rows, in as many steps as before.

// PRODUCER: tile.role <producer>
// PRODUCER-NOT: tile.part
// PRODUCER-NOT: tile.skip
// PRODUCER: tile.role <consumer>

// CHECK: %[[QUERIES:.*]] = tile.ring {{.*}} : <1 x vector<128x64xbf16>>
// CHECK: %[[KEYS:.*]] = tile.ring {{.*}} : <3 x vector<64x64xbf16>>
// CHECK: %[[VALUES:.*]] = tile.ring {{.*}} : <3 x vector<64x64xbf16>>
// CHECK: tile.role <consumer>
// CHECK: tile.part of 128
// All go the same way: whether the tile has keys does not depend on the part.
// CHECK: scf.if
// Steps before the first, and after the last, that only others need, in the producer's order: keys before the values of
// the step before, and each step of keys with its turn.
// CHECK: scf.if
// CHECK-NEXT: %[[K0:.*]] = tile.get %[[KEYS]]
// CHECK-NEXT: tile.ping_pong <wait>
// CHECK-NEXT: tile.ping_pong <arrive>
// CHECK-NEXT: tile.skip %[[K0]] transposed
// CHECK-NEXT: tile.release %[[KEYS]]
// CHECK: scf.for
// CHECK-NEXT: %[[K1:.*]] = tile.get %[[KEYS]]
// CHECK-NEXT: tile.ping_pong <wait>
// CHECK-NEXT: tile.ping_pong <arrive>
// CHECK-NEXT: tile.skip %[[K1]] transposed
// CHECK-NEXT: tile.release %[[KEYS]]
// CHECK-NEXT: %[[V0:.*]] = tile.get %[[VALUES]]
// CHECK-NEXT: tile.skip %[[V0]] :
// CHECK-NEXT: tile.release %[[VALUES]]
// CHECK: tile.get %[[KEYS]]
// CHECK: tile.get %[[QUERIES]]
// CHECK: tile.start {{.*}} transposed
// CHECK: scf.if
// CHECK-NEXT: %[[V1:.*]] = tile.get %[[VALUES]]
// CHECK-NEXT: tile.skip %[[V1]] :
// CHECK-NEXT: tile.release %[[VALUES]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.release %[[QUERIES]]
// CHECK: tile.get %[[VALUES]]
// CHECK: tile.await
// What comes of the tile does not wait for keys that only others need.
// CHECK: tile.store {{.*}} via
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NEXT: %[[K2:.*]] = tile.get %[[KEYS]]
// CHECK: tile.skip %[[K2]] transposed
// CHECK: scf.for
// CHECK-NEXT: %[[K3:.*]] = tile.get %[[KEYS]]
// CHECK: tile.skip %[[K3]] transposed
// CHECK-NEXT: tile.release %[[KEYS]]
// CHECK-NEXT: %[[V2:.*]] = tile.get %[[VALUES]]
// CHECK-NEXT: tile.skip %[[V2]] :
// CHECK-NEXT: tile.release %[[VALUES]]
// CHECK: scf.if
// CHECK-NEXT: %[[V3:.*]] = tile.get %[[VALUES]]
// CHECK-NEXT: tile.skip %[[V3]] :
// CHECK-NEXT: tile.release %[[VALUES]]

// RIGHT: out {{.*}} right

!t = tensor<?x?x1x64xbf16>

func.func @window(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(100) right(0)
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, own_keys = true,
                                        ping_pong = true, by_row = true, epilogue = staged, dynamic = true>>)
    : (!t, !t, !t) -> !t
  return %o : !t
}

// Consumers that leave out more steps than rings have stages, before their first step and after their last.

func.func @steep(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v align(top_left)
    mask (%b, %h, %i, %j) {
      %eight = arith.constant 8 : index
      %end = arith.muli %i, %eight : index
      %keep = arith.cmpi sle, %j, %end : index
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, own_keys = true,
                                        ping_pong = true, by_row = true, epilogue = staged, dynamic = true>>)
    : (!t, !t, !t) -> !t
  return %o : !t
}

func.func @falling(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v align(top_left)
    mask (%b, %h, %i, %j) {
      %eight = arith.constant 8 : index
      %first = arith.muli %i, %eight : index
      %keep = arith.cmpi sge, %j, %first : index
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, own_keys = true,
                                        ping_pong = true, by_row = true, epilogue = staged, dynamic = true>>)
    : (!t, !t, !t) -> !t
  return %o : !t
}

func.func @one_stage(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v align(top_left)
    mask (%b, %h, %i, %j) {
      %three = arith.constant 3 : index
      %first = arith.subi %i, %three : index
      %low = arith.cmpi sge, %j, %first : index
      %high = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %low, %high : i1
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 16, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, own_keys = true, ping_pong = true,
                                        epilogue = direct>>)
    : (!t, !t, !t) -> !t
  return %o : !t
}

// A loop that is not skewed drops nothing, so it goes over the keys of the whole tile in every consumer; only where its
// masked stretch begins depends on a consumer's rows.

// WEIGHTS: own_keys = true
// WEIGHTS: tile.role <consumer>
// WEIGHTS: tile.part
// WEIGHTS-NOT: tile.skip
// WEIGHTS: tile.return

// EVEN: weights {{.*}} right

func.func @weights(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"})
    -> (tensor<?x1x?x?xbf16> {attn.name = "weights"}) {
  %w = attn.weights %q, %k
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (!t, !t) -> tensor<?x1x?x?xbf16>
  return %w : tensor<?x1x?x?xbf16>
}
