// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-insert-sync))" -split-input-file \
// RUN:   | FileCheck %s

// Products go on while the program does: they start where they stand, and are awaited where what they read or write is
// next touched. Buffers are released right behind the wait for the last product that reads them.

// A skewed step, in turns.

// CHECK-LABEL: tile.program @sync(
// CHECK: %[[Q:.*]] = tile.ring
// CHECK: %[[K:.*]] = tile.ring
// CHECK: %[[V:.*]] = tile.ring
// CHECK: tile.role <consumer>
//
// The first logits have nothing to run beside.
// CHECK: %[[KS:.*]] = tile.get %[[K]]
// CHECK-NEXT: %[[QS:.*]] = tile.get %[[Q]]
// CHECK-NEXT: tile.ping_pong <wait>
// CHECK-NEXT: %[[S:.*]] = tile.start %[[QS]], %[[KS]], %{{.*}} transposed
// CHECK-NEXT: tile.ping_pong <arrive>
// CHECK-NEXT: %[[L:.*]] = tile.await %[[S]]
// CHECK-NEXT: tile.release %[[K]]
// CHECK-NEXT: tile.reduce <max> %[[L]]
// CHECK-NOT: tile.sched_barrier
//
// CHECK: scf.for {{.*}} %[[W:[a-z0-9]+]] = %{{[a-z0-9]+}}) ->
// CHECK-NEXT: %[[KS:.*]] = tile.get %[[K]]
// Both products start in one turn.
// CHECK-NEXT: tile.ping_pong <wait>
// CHECK-NEXT: %[[S:.*]] = tile.start %[[QS]], %[[KS]], %{{.*}} transposed
// CHECK-NEXT: %[[VS:.*]] = tile.get %[[V]]
// CHECK-NEXT: %[[A:.*]] = tile.start %[[W]], %[[VS]], %{{.*}} :
// CHECK-NEXT: tile.ping_pong <arrive>
// CHECK-NEXT: %[[L:.*]] = tile.await %[[S]]
// CHECK-NEXT: tile.release %[[K]]
// CHECK-NEXT: %[[M:.*]] = tile.reduce <max> %[[L]]
// The other wait stays behind the maxima,
// CHECK-NEXT: %[[SHRINK:.*]] = arith.subf
// CHECK-NEXT: %[[P:.*]]:2 = tile.map tiles(%[[L]] :
// behind the exponentials, whose results in f32 do not touch the registers that the product reads, and behind the sum.
// CHECK: tile.reduce <add> %[[P]]#0,
// CHECK-NEXT: %[[O:.*]] = tile.await %[[A]]
// CHECK-NEXT: tile.release %[[V]]
// CHECK-NEXT: %[[N:.*]] = tile.map tiles(%[[P]]#1 : vector<128x64xf32>) rows() cols()
// CHECK: arith.truncf
// CHECK: -> vector<128x64xbf16>
// CHECK-NEXT: %[[U:.*]] = tile.map tiles(%[[O]] : vector<128x128xf32>) rows(%[[SHRINK]] :
// CHECK: scf.yield %[[U]], %[[M]], %{{.*}}, %[[N]] :
// CHECK-NEXT: }
//
// Queries are needed until the loop's end, by no product behind it.
// CHECK-NEXT: tile.release %[[Q]]
// A product alone, on what was there before, takes no turn.
// CHECK-NEXT: %[[VS:.*]] = tile.get %[[V]]
// CHECK-NEXT: %[[A:.*]] = tile.start
// CHECK-NEXT: %[[O:.*]] = tile.await %[[A]]
// CHECK-NEXT: tile.release %[[V]]
// CHECK-NEXT: tile.store %[[O]]
tile.program @sync(%V: memref<?x?xbf16>, %O: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, ping_pong = true, epilogue = direct>} {
  %Q = tile.ring : !tile.ring<1 x vector<128x128xbf16>>
  %K = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  %W = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  tile.role <producer> warpgroups 1 registers 24 {
  }
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant dense<0.0> : vector<128x64xf32>
      %out0 = arith.constant dense<0.0> : vector<128x128xf32>
      %none = arith.constant dense<0xFF800000> : vector<128xf32>
      %k0 = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %q = tile.get %Q : !tile.ring<1 x vector<128x128xbf16>> -> !tile.shared<vector<128x128xbf16>>
      %s0 = tile.mma %q, %k0, %zero transposed
        : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
      %m0 = tile.reduce <max> %s0, %none : vector<128x64xf32>, vector<128xf32>
      %p0:2 = tile.map tiles(%s0 : vector<128x64xf32>) rows(%m0 : vector<128xf32>) cols() at(%c0, %c0) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %d = arith.subf %x, %y : f32
        %e = math.exp2 %d : f32
        %b = arith.truncf %e : f32 to bf16
        tile.yield %e, %b : f32, bf16
      } -> (vector<128x64xf32>, vector<128x64xbf16>)
      %t0 = tile.reduce <add> %p0#0, %none : vector<128x64xf32>, vector<128xf32>
      %f:4 = scf.for %t = %c64 to %high step %c64 iter_args(%out = %out0, %max = %m0, %sum = %t0, %w = %p0#1)
          -> (vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>) {
        %k = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %s = tile.mma %q, %k, %zero transposed
          : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
        %v = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %a = tile.mma %w, %v, %out : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
        %m = tile.reduce <max> %s, %max : vector<128x64xf32>, vector<128xf32>
        %shrink = arith.subf %max, %m : vector<128xf32>
        %p:2 = tile.map tiles(%s : vector<128x64xf32>) rows(%m : vector<128xf32>) cols() at(%c0, %t) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %d = arith.subf %x, %y : f32
          %e = math.exp2 %d : f32
          %b = arith.truncf %e : f32 to bf16
          tile.yield %e, %b : f32, bf16
        } -> (vector<128x64xf32>, vector<128x64xbf16>)
        %l = tile.reduce <add> %p#0, %sum : vector<128x64xf32>, vector<128xf32>
        %u = tile.map tiles(%a : vector<128x128xf32>) rows(%shrink : vector<128xf32>) cols() at(%c0, %c0) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %e = arith.mulf %x, %y : f32
          tile.yield %e : f32
        } -> vector<128x128xf32>
        scf.yield %u, %m, %l, %p#1 : vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>
      }
      %v1 = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %a1 = tile.mma %f#3, %v1, %f#0 : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
      tile.store %a1, %O[%c0, %c0] axes [0, 1] below(%high, %c128) : vector<128x128xf32>, memref<?x?xf32>
    }
  }
  tile.return
}

// -----

// With maxima of the steps before, a turn in a loop ends where the wait for the product in flight stands; before the loop
// it ends as soon as the logits have started.

// CHECK-LABEL: tile.program @late(
// CHECK: tile.ping_pong <wait>
// CHECK-NEXT: tile.start
// CHECK-NEXT: tile.ping_pong <arrive>
// CHECK: scf.for
// CHECK: tile.ping_pong <wait>
// CHECK-NOT: tile.ping_pong <arrive>
// CHECK: %[[A:.*]] = tile.start %{{.*}} : vector<128x64xbf16>,
// CHECK-NOT: tile.ping_pong <arrive>
// CHECK: %[[P:.*]]:2 = tile.map
// CHECK: tile.ping_pong <arrive>
// CHECK-NEXT: %[[O:.*]] = tile.await %[[A]]
// CHECK-NEXT: tile.release
// CHECK-NEXT: %[[N:.*]] = tile.map tiles(%[[P]]#1 :
// CHECK: %[[U:.*]] = tile.map tiles(%[[O]] :
// CHECK: -> vector<128x128xf32>
// CHECK: scf.yield %[[U]], %{{.*}}, %[[N]] :
tile.program @late(%V: memref<?x?xbf16>, %O: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_overflow, ping_pong = true, by_row = true, epilogue = direct>} {
  %Q = tile.ring : !tile.ring<1 x vector<128x128xbf16>>
  %K = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  %W = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  tile.role <producer> warpgroups 1 registers 24 {
  }
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant dense<0.0> : vector<128x64xf32>
      %out0 = arith.constant dense<0.0> : vector<128x128xf32>
      %none = arith.constant dense<0xFF800000> : vector<128xf32>
      %k0 = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %q = tile.get %Q : !tile.ring<1 x vector<128x128xbf16>> -> !tile.shared<vector<128x128xbf16>>
      %s0 = tile.mma %q, %k0, %zero transposed
        : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
      %m0 = tile.reduce <max> %s0, %none : vector<128x64xf32>, vector<128xf32>
      %p0:2 = tile.map tiles(%s0 : vector<128x64xf32>) rows(%m0 : vector<128xf32>) cols() at(%c0, %c0) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %d = arith.subf %x, %y : f32
        %e = math.exp2 %d : f32
        %b = arith.truncf %e : f32 to bf16
        tile.yield %e, %b : f32, bf16
      } -> (vector<128x64xf32>, vector<128x64xbf16>)
      %t0 = tile.reduce <add> %p0#0, %none : vector<128x64xf32>, vector<128xf32>
      %f:4 = scf.for %t = %c64 to %high step %c64 iter_args(%out = %out0, %max = %m0, %sum = %t0, %w = %p0#1)
          -> (vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>) {
        %k = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %s = tile.mma %q, %k, %zero transposed
          : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
        %v = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %a = tile.mma %w, %v, %out : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
        %m = tile.reduce <max> %s, %max : vector<128x64xf32>, vector<128xf32>
        %shrink = arith.subf %max, %m : vector<128xf32>
        %p:2 = tile.map tiles(%s : vector<128x64xf32>) rows(%m : vector<128xf32>) cols() at(%c0, %t) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %d = arith.subf %x, %y : f32
          %e = math.exp2 %d : f32
          %b = arith.truncf %e : f32 to bf16
          tile.yield %e, %b : f32, bf16
        } -> (vector<128x64xf32>, vector<128x64xbf16>)
        %l = tile.reduce <add> %p#0, %sum : vector<128x64xf32>, vector<128xf32>
        %u = tile.map tiles(%a : vector<128x128xf32>) rows(%shrink : vector<128xf32>) cols() at(%c0, %c0) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %e = arith.mulf %x, %y : f32
          tile.yield %e : f32
        } -> vector<128x128xf32>
        scf.yield %u, %m, %l, %p#1 : vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>
      }
      %v1 = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %a1 = tile.mma %f#3, %v1, %f#0 : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
      tile.store %a1, %O[%c0, %c0] axes [0, 1] below(%high, %c128) : vector<128x128xf32>, memref<?x?xf32>
    }
  }
  tile.return
}

// -----

// Neither barriers for the assembler nor ping-pong where the schedule has none.

// CHECK-LABEL: tile.program @plain(
// CHECK-NOT: {{tile.(sched_barrier|ping_pong)}}
// CHECK-COUNT-4: tile.await
// CHECK-NOT: {{tile.(sched_barrier|ping_pong)}}
// CHECK: tile.return
tile.program @plain(%V: memref<?x?xbf16>, %O: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, 
                                          epilogue = direct>} {
  %Q = tile.ring : !tile.ring<1 x vector<128x128xbf16>>
  %K = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  %W = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  tile.role <producer> warpgroups 1 registers 24 {
  }
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant dense<0.0> : vector<128x64xf32>
      %out0 = arith.constant dense<0.0> : vector<128x128xf32>
      %none = arith.constant dense<0xFF800000> : vector<128xf32>
      %k0 = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %q = tile.get %Q : !tile.ring<1 x vector<128x128xbf16>> -> !tile.shared<vector<128x128xbf16>>
      %s0 = tile.mma %q, %k0, %zero transposed
        : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
      %m0 = tile.reduce <max> %s0, %none : vector<128x64xf32>, vector<128xf32>
      %p0:2 = tile.map tiles(%s0 : vector<128x64xf32>) rows(%m0 : vector<128xf32>) cols() at(%c0, %c0) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %d = arith.subf %x, %y : f32
        %e = math.exp2 %d : f32
        %b = arith.truncf %e : f32 to bf16
        tile.yield %e, %b : f32, bf16
      } -> (vector<128x64xf32>, vector<128x64xbf16>)
      %t0 = tile.reduce <add> %p0#0, %none : vector<128x64xf32>, vector<128xf32>
      %f:4 = scf.for %t = %c64 to %high step %c64 iter_args(%out = %out0, %max = %m0, %sum = %t0, %w = %p0#1)
          -> (vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>) {
        %k = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %s = tile.mma %q, %k, %zero transposed
          : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
        %v = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
        %a = tile.mma %w, %v, %out : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
        %m = tile.reduce <max> %s, %max : vector<128x64xf32>, vector<128xf32>
        %shrink = arith.subf %max, %m : vector<128xf32>
        %p:2 = tile.map tiles(%s : vector<128x64xf32>) rows(%m : vector<128xf32>) cols() at(%c0, %t) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %d = arith.subf %x, %y : f32
          %e = math.exp2 %d : f32
          %b = arith.truncf %e : f32 to bf16
          tile.yield %e, %b : f32, bf16
        } -> (vector<128x64xf32>, vector<128x64xbf16>)
        %l = tile.reduce <add> %p#0, %sum : vector<128x64xf32>, vector<128xf32>
        %u = tile.map tiles(%a : vector<128x128xf32>) rows(%shrink : vector<128xf32>) cols() at(%c0, %c0) {
        ^bb0(%x: f32, %y: f32, %i: index, %j: index):
          %e = arith.mulf %x, %y : f32
          tile.yield %e : f32
        } -> vector<128x128xf32>
        scf.yield %u, %m, %l, %p#1 : vector<128x128xf32>, vector<128xf32>, vector<128xf32>, vector<128x64xbf16>
      }
      %v1 = tile.get %W : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
      %a1 = tile.mma %f#3, %v1, %f#0 : vector<128x64xbf16>, !tile.shared<vector<64x128xbf16>>, vector<128x128xf32>
      tile.store %a1, %O[%c0, %c0] axes [0, 1] below(%high, %c128) : vector<128x128xf32>, memref<?x?xf32>
    }
  }
  tile.return
}

// -----

// Steps that may be skipped, not skewed: each branch awaits and releases what it started and got.

// CHECK-LABEL: tile.program @branch(
// CHECK: %[[Q:.*]] = tile.ring
// CHECK: %[[K:.*]] = tile.ring
// CHECK: %[[QS:.*]] = tile.get %[[Q]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: %[[KS:.*]] = tile.get %[[K]]
// CHECK-NEXT: %[[S:.*]] = tile.start %[[QS]], %[[KS]]
// CHECK-NEXT: %[[L:.*]] = tile.await %[[S]]
// CHECK-NEXT: tile.release %[[K]]
// CHECK-NEXT: tile.reduce <max> %[[L]]
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: tile.release %[[Q]]
// CHECK-NOT: tile.release
// CHECK: tile.return
tile.program @branch(%S: memref<?xi1>, %O: memref<?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %Q = tile.ring : !tile.ring<1 x vector<128x128xbf16>>
  %K = tile.ring : !tile.ring<2 x vector<64x128xbf16>>
  tile.role <producer> warpgroups 1 registers 24 {
  }
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant dense<0.0> : vector<128x64xf32>
      %none = arith.constant dense<0xFF800000> : vector<128xf32>
      %q = tile.get %Q : !tile.ring<1 x vector<128x128xbf16>> -> !tile.shared<vector<128x128xbf16>>
      %f = scf.for %t = %c0 to %high step %c64 iter_args(%max = %none) -> (vector<128xf32>) {
        %some = memref.load %S[%t] : memref<?xi1>
        %b = scf.if %some -> (vector<128xf32>) {
          %k = tile.get %K : !tile.ring<2 x vector<64x128xbf16>> -> !tile.shared<vector<64x128xbf16>>
          %s = tile.mma %q, %k, %zero transposed
            : !tile.shared<vector<128x128xbf16>>, !tile.shared<vector<64x128xbf16>>, vector<128x64xf32>
          %m = tile.reduce <max> %s, %max : vector<128x64xf32>, vector<128xf32>
          scf.yield %m : vector<128xf32>
        } else {
          scf.yield %max : vector<128xf32>
        }
        scf.yield %b : vector<128xf32>
      }
      tile.store %f, %O[%c0] axes [0] below(%high) : vector<128xf32>, memref<?xf32>
    }
  }
  tile.return
}

// -----

// A program for a CPU stays.

// CHECK-LABEL: tile.program @no_pipeline(
// CHECK-NOT: tile.start
// CHECK: tile.mma
// CHECK-NOT: tile.await
// CHECK: tile.return
tile.program @no_pipeline(%v: memref<?x?xf32>, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 4} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8x8xf32>
  %a = tile.load %v[%c0, %c0] axes [0, 1] below(%high, %high) : memref<?x?xf32> -> vector<8x8xf32>
  %s = tile.mma %a, %a, %zero transposed : vector<8x8xf32>, vector<8x8xf32>, vector<8x8xf32>
  tile.store %s, %v[%c0, %c0] axes [0, 1] below(%high, %high) : vector<8x8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// What is shared is posted. Sums that leave through a buffer wait for that, in any order and in one.

// CHECK-LABEL: tile.program @turns(
// CHECK: tile.store %{{.*}} via %{{.*}} below(%{{.*}}, %{{.*}}) {accumulate, blocked, deferred} :
// CHECK: tile.store %{{.*}} via %{{.*}} order(%{{.*}} after %{{.*}} of %{{.*}}[%{{.*}}] : memref<?xi32>) {accumulate, blocked, deferred} :
// CHECK: tile.share
// CHECK-NEXT: tile.post
tile.program @turns(%S: memref<?x64xf32>, %T: memref<?x64xf32>, %C: memref<?xi32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sums = arith.constant dense<1.0> : vector<64x64xf32>
  %weights = arith.constant dense<1.0> : vector<64x64xbf16>
  %shared = tile.ring : !tile.ring<1 x vector<64x64xbf16>>
  %buffer = tile.buffer : !tile.shared<vector<64x64xf32>>
  tile.role <consumer> warpgroups 1 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      tile.store %sums via %buffer : !tile.shared<vector<64x64xf32>>, %S[%c0, %c0] axes [0, 1] below(%c64, %c64) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
      tile.store %sums via %buffer : !tile.shared<vector<64x64xf32>>, %T[%c0, %c0] axes [0, 1] below(%c64, %c64) order(%n after %c0 of %C[%c0] : memref<?xi32>) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
      tile.share %weights to %shared : !tile.ring<1 x vector<64x64xbf16>> : vector<64x64xbf16>
      %all = tile.get %shared : !tile.ring<1 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
    }
  }
  tile.return
}
