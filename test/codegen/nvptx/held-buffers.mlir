// Where a role gets a buffer before it releases the one before, it waits for the next stage and reads that: with scores
// within known bounds, values of the second tile are got before the product of the first has ended.

// RUN: attnc compile %s --target nvptx:sm_90a --emit tile -o - | FileCheck %s --check-prefix=TILE
// RUN: attnc compile %s --target nvptx:sm_90a --emit ptx -o - | FileCheck %s

// TILE: tile.role <consumer>
// TILE: %[[FIRST:.*]] = tile.get %[[VALUES:.*]] : <4 x vector<64x72xbf16>>
// TILE: tile.start %{{.*}}, %[[FIRST]],
// TILE-NOT: tile.release %[[VALUES]]
// TILE: %[[SECOND:.*]] = tile.get %[[VALUES]] : <4 x vector<64x72xbf16>>
// TILE: tile.release %[[VALUES]]
// TILE: tile.start %{{.*}}, %[[SECOND]],

// A ring of one buffer has no second one to get: the first product ends before, or all would wait for ever.
//
// RUN: attnc compile %s --target nvptx:sm_90a --emit tile -o - --schedule '#attn.schedule<query_tile = 128, \
// RUN:     key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24, \
// RUN:     consumer_registers = 240, epilogue = direct>>' | FileCheck %s --check-prefix=ONE
//
// ONE: tile.role <consumer>
// ONE: %[[FIRST:.*]] = tile.get %[[VALUES:.*]] : <1 x vector<64x72xbf16>>
// ONE: tile.start %{{.*}}, %[[FIRST]],
// ONE-NOT: tile.get %[[VALUES]]
// ONE: tile.release %[[VALUES]]
// ONE: %[[SECOND:.*]] = tile.get %[[VALUES]] : <1 x vector<64x72xbf16>>
// ONE: tile.start %{{.*}}, %[[SECOND]],

// CHECK: attnc_wait_4:
// CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 p, [%{{.*}}], [[PARITY:%[a-z0-9]+]];
// CHECK: wgmma.mma_async.sync.aligned.m64n72k16
// CHECK: xor.b32 [[NEXT:%[a-z0-9]+]], [[PARITY]],
// CHECK: attnc_wait_5:
// CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 p, [%{{.*}}], [[NEXT]];
// CHECK: wgmma.mma_async.sync.aligned.m64n72k16

func.func @kernel(%q: tensor<?x?x1x16xbf16>, %k: tensor<?x65x1x16xbf16>, %v: tensor<?x65x1x72xbf16>)
    -> tensor<?x?x1x72xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %zero = arith.constant 0.0 : f32
      attn.yield %zero : f32
    }
    : (tensor<?x?x1x16xbf16>, tensor<?x65x1x16xbf16>, tensor<?x65x1x72xbf16>) -> (tensor<?x?x1x72xbf16>)
  return %o : tensor<?x?x1x72xbf16>
}
