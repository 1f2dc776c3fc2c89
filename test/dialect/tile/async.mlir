// RUN: attnc-opt %s | attnc-opt | FileCheck %s
// RUN: attnc-opt %s --mlir-print-op-generic | attnc-opt | FileCheck %s
// RUN: attnc-opt %s > %t.text
// RUN: attnc-opt %s --emit-bytecode -o %t.bc
// RUN: attnc-opt %t.bc > %t.back
// RUN: diff %t.text %t.back

// What GPUs add: rings, buffers, roles, products in flight and parts of rows; as the custom syntax prints it after one
// more reading, and then through bytecode.

// CHECK-LABEL: tile.program @roles(
// CHECK-SAME: %[[V:[a-z0-9]+]]: memref<?x?xbf16>, %[[O:[a-z0-9]+]]: memref<?x?xbf16>
// CHECK-SAME: pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, epilogue = slabs, dynamic = true, section_bytes = 4096, gradients = <reducer_registers = 72>>
// CHECK-SAME: shared_bytes = 1024 : i64
tile.program @roles(%v: memref<?x?xbf16>, %o: memref<?x?xbf16>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64, shared_bytes = 1024,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, ping_pong = true, epilogue = slabs, dynamic = true, section_bytes = 4096, gradients = <reducer_registers = 72>>} {
  %zero = arith.constant dense<0.0> : vector<128x64xf32>
  %rows = arith.constant dense<0.0> : vector<128xf32>
  // CHECK: %[[Q:.*]] = tile.ring : <1 x vector<128x64xbf16>>
  %q = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  // CHECK: %[[K:.*]] = tile.ring {barriers = 512 : i64, offset = 0 : i64} : <2 x vector<64x64xbf16>>
  %k = tile.ring {offset = 0, barriers = 512} : !tile.ring<2 x vector<64x64xbf16>>
  // CHECK: %[[T:.*]] = tile.ring : <2 x index>
  %t = tile.ring : !tile.ring<2 x index>
  // CHECK: %[[B:.*]] = tile.buffer {offset = 1024 : i64} : <vector<128x32xbf16>>
  %b = tile.buffer {offset = 1024} : !tile.shared<vector<128x32xbf16>>
  // CHECK: tile.role <producer> warpgroups 1 registers 24 {
  // CHECK-NEXT: tile.persistent from %[[T]] : !tile.ring<2 x index> {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: index):
  // CHECK-NEXT: tile.put %[[Q]], %[[V]][%[[N]], %[[N]]] axes [0, 1] below(%[[N]], %[[N]]) : <1 x vector<128x64xbf16>>, memref<?x?xbf16>
  // CHECK-NEXT: tile.put %[[K]], %[[V]][%[[N]], %[[N]]] axes [0, 1] below(%[[N]], %[[N]]) {note = "kept"} : <2 x vector<64x64xbf16>>, memref<?x?xbf16>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent from %t : !tile.ring<2 x index> {
    ^bb0(%n: index):
      tile.put %q, %v[%n, %n] axes [0, 1] below(%n, %n) : !tile.ring<1 x vector<128x64xbf16>>, memref<?x?xbf16>
      tile.put %k, %v[%n, %n] axes [0, 1] below(%n, %n) {note = "kept"}
        : !tile.ring<2 x vector<64x64xbf16>>, memref<?x?xbf16>
    }
  }
  // CHECK: tile.role <reducer> warpgroups 1 registers 72 {
  tile.role <reducer> warpgroups 1 registers 72 {
  }
  // CHECK: tile.role <producer> warpgroups 1 registers 24 warp 0 {
  tile.role <producer> warpgroups 1 registers 24 warp 0 {
  }
  // CHECK: tile.role <producer> warpgroups 1 registers 24 warp 1 {
  tile.role <producer> warpgroups 1 registers 24 warp 1 {
  }
  // CHECK: tile.role <consumer> warpgroups 2 registers 240 {
  // CHECK-NEXT: tile.persistent {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: index):
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      // CHECK-NEXT: %{{.*}}, %{{.*}} = tile.part of 128
      %first, %end = tile.part of 128
      // CHECK-NEXT: %[[QS:.*]] = tile.get %[[Q]] : <1 x vector<128x64xbf16>> -> <vector<128x64xbf16>>
      %qs = tile.get %q : !tile.ring<1 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>
      // CHECK-NEXT: %[[KS:.*]] = tile.get %[[K]] : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
      %ks = tile.get %k : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
      // CHECK-NEXT: tile.get %[[K]] kept : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
      %kept = tile.get %k kept : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
      // CHECK-NEXT: tile.held %[[K]] : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
      %held = tile.held %k : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
      // CHECK-NEXT: tile.ping_pong <wait>
      tile.ping_pong <wait>
      // CHECK-NEXT: %[[S:.*]] = tile.start %[[QS]], %[[KS]], %{{.*}} transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
      %s = tile.start %qs, %ks, %zero transposed
        : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32>
        -> !tile.pending<vector<128x64xf32>>
      // CHECK-NEXT: tile.ping_pong <arrive>
      tile.ping_pong <arrive>
      // CHECK-NEXT: tile.skip %[[KS]] transposed : !tile.shared<vector<64x64xbf16>>
      tile.skip %ks transposed : !tile.shared<vector<64x64xbf16>>
      // CHECK-NEXT: tile.sched_barrier
      tile.sched_barrier
      // CHECK-NEXT: %[[L:.*]] = tile.await %[[S]] : <vector<128x64xf32>> -> vector<128x64xf32>
      %l = tile.await %s : !tile.pending<vector<128x64xf32>> -> vector<128x64xf32>
      // CHECK-NEXT: tile.release %[[K]] : <2 x vector<64x64xbf16>>
      tile.release %k : !tile.ring<2 x vector<64x64xbf16>>
      // A product that is not in flight may read shared memory too.
      // CHECK-NEXT: %[[P:.*]] = tile.mma %[[QS]], %[[KS]], %[[L]] : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32>
      %p = tile.mma %qs, %ks, %l
        : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32>
      // CHECK-NEXT: %[[PARTS:.*]] = tile.lane_partial %{{.*}} : vector<128xf32>
      %parts = tile.lane_partial %rows : vector<128xf32>
      // CHECK-NEXT: %[[MORE:.*]] = tile.reduce <add> %[[L]], %[[PARTS]] partial : vector<128x64xf32>, vector<128xf32>
      %more = tile.reduce <add> %l, %parts partial : vector<128x64xf32>, vector<128xf32>
      // CHECK-NEXT: %[[SUM:.*]] = tile.warp_reduce %[[MORE]] : vector<128xf32>
      %sum = tile.warp_reduce %more : vector<128xf32>
      // CHECK-NEXT: %[[OUT:.*]] = tile.map tiles(%[[P]] : vector<128x64xf32>) rows(%[[SUM]] : vector<128xf32>) cols() at(%[[N]], %[[N]]) {
      // CHECK: } {mostly_one} -> vector<128x64xbf16>
      %out = tile.map tiles(%p : vector<128x64xf32>) rows(%sum : vector<128xf32>) cols() at(%n, %n) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %z = arith.mulf %x, %y : f32
        %w = arith.truncf %z : f32 to bf16
        tile.yield %w : bf16
      } {mostly_one} -> vector<128x64xbf16>
      // CHECK: tile.store %[[OUT]] via %[[B]] : !tile.shared<vector<128x32xbf16>>, %[[O]][%[[N]], %[[N]]] axes [0, 1] below(%[[N]], %[[N]]) : vector<128x64xbf16>, memref<?x?xbf16>
      tile.store %out via %b : !tile.shared<vector<128x32xbf16>>, %o[%n, %n] axes [0, 1] below(%n, %n)
        : vector<128x64xbf16>, memref<?x?xbf16>
    }
  }
  tile.return
}

// What consumers share, turned operands, vectors of a ring, and sums in memory.

// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[G:[a-z0-9]+]]: vector<128x64xbf16>, %[[K:[a-z0-9]+]]: !tile.shared<vector<128x64xbf16>>, %[[R:[a-z0-9]+]]: !tile.ring<2 x vector<128x64xbf16>>
func.func @shared(%g: vector<128x64xbf16>, %k: !tile.shared<vector<128x64xbf16>>, %r: !tile.ring<2 x vector<128x64xbf16>>,
                  %w: !tile.shared<vector<2x64xf32>>, %b: !tile.shared<vector<64x64xf32>>, %s: memref<?x64xf32>, %turns: memref<?x?xi32>, %n: index) {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  // CHECK: tile.share %[[G]] : vector<128x64xbf16>
  tile.share %g : vector<128x64xbf16>
  // CHECK: tile.share %[[G]] to %[[R]] : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16>
  tile.share %g to %r : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16>
  // CHECK: tile.post %[[R]] : <2 x vector<128x64xbf16>>
  tile.post %r : !tile.ring<2 x vector<128x64xbf16>>
  // CHECK: %[[ALONE:.*]] = tile.take : <vector<128x64xbf16>>
  %alone = tile.take : !tile.shared<vector<128x64xbf16>>
  // CHECK: tile.sync
  tile.sync
  // CHECK: tile.row 1 of %{{.*}} : !tile.shared<vector<2x64xf32>> -> vector<1x64xf32>
  %row = tile.row 1 of %w : !tile.shared<vector<2x64xf32>> -> vector<1x64xf32>
  // CHECK: tile.read %[[K]] : !tile.shared<vector<128x64xbf16>> -> vector<128x64xbf16>
  %read = tile.read %k : !tile.shared<vector<128x64xbf16>> -> vector<128x64xbf16>
  // CHECK: %[[M:.*]] = tile.mma %[[ALONE]], %[[K]], %{{.*}} left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32>
  %m = tile.mma %alone, %k, %zero left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32>
  // CHECK: tile.start %[[ALONE]], %[[K]], %[[M]] left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32> -> <vector<64x64xf32>>
  %p = tile.start %alone, %k, %m left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
  %t = tile.await %p : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} axes [0, 1] below(%{{.*}}, %{{.*}}) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
  tile.store %t, %s[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
  // CHECK: tile.store %{{.*}} via %{{.*}} : !tile.shared<vector<64x64xf32>>, %{{.*}} axes [0, 1] below(%{{.*}}, %{{.*}}) {accumulate, blocked, deferred} : vector<64x64xf32>, memref<?x64xf32>
  tile.store %t via %b : !tile.shared<vector<64x64xf32>>, %s[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked, deferred} : vector<64x64xf32>, memref<?x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} axes [0, 1] below(%{{.*}}, %{{.*}}) order(%[[TURN:[a-z0-9]+]] after %[[TURN]] of %{{.*}}[%[[TURN]], %[[TURN]]] : memref<?x?xi32>) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
  tile.store %t, %s[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %turns[%n, %n] : memref<?x?xi32>) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
  // CHECK: tile.load %{{.*}} axes [0, 1] below(%{{.*}}, %{{.*}}) {blocked} : memref<?x64xf32> -> vector<64x64xf32>
  %l = tile.load %s[%n, %n] axes [0, 1] below(%n, %n) {blocked} : memref<?x64xf32> -> vector<64x64xf32>
  return
}

// Parts of f32, which products take for the f32 itself.

// CHECK-LABEL: func @parts
func.func @parts(%k: !tile.shared<vector<16x8xf32>>, %ring: !tile.ring<1 x vector<3x16x8xbf16>>, %acc: vector<16x16xf32>) {
  // CHECK: tile.split %[[K:.*]] to %[[R:.*]] : <vector<16x8xf32>> to <1 x vector<3x16x8xbf16>>
  tile.split %k to %ring : !tile.shared<vector<16x8xf32>> to !tile.ring<1 x vector<3x16x8xbf16>>
  // CHECK: %[[P:.*]] = tile.get %[[R]] : <1 x vector<3x16x8xbf16>> -> <vector<3x16x8xbf16>>
  %p = tile.get %ring : !tile.ring<1 x vector<3x16x8xbf16>> -> !tile.shared<vector<3x16x8xbf16>>
  // CHECK: tile.mma %[[K]], %[[P]], %{{.*}} transposed : !tile.shared<vector<16x8xf32>>, !tile.shared<vector<3x16x8xbf16>>, vector<16x16xf32>
  %m = tile.mma %k, %p, %acc transposed : !tile.shared<vector<16x8xf32>>, !tile.shared<vector<3x16x8xbf16>>, vector<16x16xf32>
  return
}

// Types by themselves.

// CHECK: func.func private @types(!tile.ring<3 x vector<8x16xf16>>, !tile.ring<1 x index>, !tile.shared<vector<8x16xf16>>, !tile.pending<vector<8x16xf32>>)
func.func private @types(!tile.ring<3 x vector<8x16xf16>>, !tile.ring<1 x index>, !tile.shared<vector<8x16xf16>>,
                         !tile.pending<vector<8x16xf32>>)

// CHECK: func.func private @attributes() attributes {x.r = #tile.role_kind<consumer>, x.t = #tile.ping_pong_kind<arrive>}
func.func private @attributes() attributes {x.r = #tile.role_kind<consumer>, x.t = #tile.ping_pong_kind<arrive>}
