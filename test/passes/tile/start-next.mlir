// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile-start-next)" | FileCheck %s
// RUN: attnc compile %examples/llama3.mlir --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=PARTS
// RUN: attnc compile %examples/llama3.mlir --target nvptx:sm_90a --emit ptx | FileCheck %s --check-prefix=PTX
// RUN: attnc compile %examples/llama3.mlir --target nvrtc:sm_90a --emit cuda | FileCheck %s --check-prefix=CUDA

// A program lets the next one start early where that waits for it: not one that waits for none, one that lists steps and so
// waits for all work before it, nor the last; and one that lists steps lets none.

// CHECK: tile.program @parts({{.*}} tile.starts_next
// CHECK-NOT: tile.starts_next

// PARTS: tile.program @llama3_tile_queries_to_16({{.*}} tile.starts_next
// PARTS: tile.program @llama3_combine_queries_to_16(
// PARTS-NOT: tile.starts_next

// PTX: .entry llama3_tile_queries_to_16
// PTX: griddepcontrol.launch_dependents;
// PTX: .entry llama3_combine_queries_to_16
// PTX-NOT: griddepcontrol.launch_dependents;

// CUDA: startKernelAfter();

tile.program @parts(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  tile.return
}
tile.program @combine(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1, early = true>} {
  tile.return
}
tile.program @other(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  tile.return
}
tile.program @lists(%list: memref<?x?xi32>, %b: i1, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1, early = true>} {
  tile.block_mask %list[%tile] from %tile to %tile step %tile {
  ^bb0(%j: index):
    tile.yield %b, %b : i1, i1
  } : memref<?x?xi32>
  tile.return
}
tile.program @listed(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1, early = true>} {
  tile.return
}
