// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-choose-uniform))" | FileCheck %s

// Numbers of tiles go to uniform registers where a second producer receives them, not where the first posts them, and not
// of consumers, which have registers enough. Loops in loops have stages there as well.
// CHECK-LABEL: tile.program @nested(
// CHECK-SAME: tile.uniform_stages
tile.program @nested(%v: memref<?x?xbf16>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, dynamic = true>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %numbers = tile.ring : !tile.ring<2 x index>
  // CHECK: tile.role <producer> {{.*}} warp 0
  tile.role <producer> warpgroups 1 registers 24 warp 0 {
    // CHECK-NEXT: tile.persistent
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
      // CHECK: scf.for
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %i step %c1 {
        }
      }
    // CHECK: {{^    }$}}
    }
  }
  // CHECK: tile.role <producer> {{.*}} warp 1
  tile.role <producer> warpgroups 1 registers 24 warp 1 {
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
    // CHECK: } {tile.uniform_number}
    }
  }
  // CHECK: tile.role <consumer>
  tile.role <consumer> warpgroups 1 registers 240 {
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
    // CHECK-NOT: tile.uniform_number
    }
  }
  tile.return
}

// Consumers that share tiles have few registers, and a reducer has fewer.
// CHECK-LABEL: tile.program @shared(
// CHECK-NOT: tile.uniform_stages
tile.program @shared(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, dynamic = true, gradients = <reducer_registers = 72>>} {
  %m = arith.constant dense<0.0> : vector<64x64xbf16>
  %numbers = tile.ring : !tile.ring<2 x index>
  %shared = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  // CHECK: tile.role <producer>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
    }
  }
  // CHECK: tile.role <consumer>
  tile.role <consumer> warpgroups 1 registers 240 {
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
      tile.share %m to %shared : !tile.ring<2 x vector<64x64xbf16>> : vector<64x64xbf16>
    // CHECK: } {tile.uniform_number}
    }
  }
  // CHECK: tile.role <reducer>
  tile.role <reducer> warpgroups 1 registers 72 {
    tile.persistent from %numbers : !tile.ring<2 x index> {
    ^bb0(%n: index):
      %s = tile.get %shared : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
    // CHECK: } {tile.uniform_number}
    }
  }
  tile.return
}

// Without roles there are no rings to have numbers or stages from.
// CHECK-LABEL: tile.program @warps(
// CHECK-NOT: uniform
tile.program @warps(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %tile step %c1 {
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  tile.return
}
