// RUN: attnc compile %s --entry full --target nvptx:sm_90a --emit tile | FileCheck %s
// RUN: attnc compile %s --entry window --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=STAY
// RUN: attnc verify %s --entry full --target sim:sm_90a --shape B=2,Sq=140,Sk=130 | FileCheck %s --check-prefix=RIGHT

// What is a row's is finished beside the last product: between its start and the wait for it, kept there by pins.

// CHECK: tile.role <consumer>
// CHECK: %[[TILE:.*]]:2 = scf.if
// CHECK: scf.for
// CHECK: tile.release {{.*}} : <1 x vector<128x64xbf16>>
// CHECK: %[[LAST:.*]] = tile.start
// CHECK-NEXT: tile.sched_barrier
// CHECK-NEXT: %[[SUM:.*]] = tile.warp_reduce
// CHECK: arith.divf
// CHECK: %[[FACTOR:.*]] = arith.select {{.*}} : vector<128xi1>, vector<128xf32>
// CHECK: math.log %[[SUM]]
// CHECK: tile.store {{.*}}, %arg4
// CHECK-NEXT: tile.sched_barrier
// CHECK-NEXT: %[[OUT:.*]] = tile.await %[[LAST]]
// CHECK: scf.yield %[[OUT]], %[[FACTOR]]

// A tile without keys has rows too.
// CHECK: } else {
// CHECK: tile.warp_reduce
// CHECK: tile.store {{.*}}, %arg4
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.map tiles(%[[TILE]]#0 {{.*}} rows(%[[TILE]]#1
// CHECK-NOT: tile.warp_reduce
// CHECK: tile.store {{.*}} via

// RIGHT: out {{.*}} right
// RIGHT: lse {{.*}} right

!t = tensor<?x?x1x64xbf16>

func.func @full(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}, tensor<?x1x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, by_row = true,
                                        epilogue = staged, dynamic = true>>)
    : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}

// Where keys are left out behind the loop, only stores stay where they are.

// STAY: tile.role <consumer>
// STAY: tile.sched_barrier
// STAY-NEXT: tile.warp_reduce
// STAY-NOT: tile.store
// STAY: tile.sched_barrier
// STAY: } else {
// STAY-NOT: tile.store
// STAY: tile.store {{.*}} via
// STAY: tile.store {{.*}}, %arg4
// STAY: tile.skip

func.func @window(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"})
    -> (!t {attn.name = "out"}, tensor<?x1x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(100) right(0)
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_overflow, own_keys = true,
                                        by_row = true, epilogue = staged, dynamic = true>>)
    : (!t, !t, !t) -> (!t, tensor<?x1x?xf32>)
  return %o, %lse : !t, tensor<?x1x?xf32>
}
