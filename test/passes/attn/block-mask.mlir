// RUN: attnc-opt %s --attn-infer-bounds --attn-to-tile --canonicalize --cse -split-input-file | FileCheck %s

// Where only data says which tiles of keys a mask keeps, `block_mask` makes a program that lists them before the kernel runs.
// Heads have one list where the mask does not know them.

// CHECK-DAG: #[[LISTS:.*]] = affine_map<()[s0, s1, s2] -> ((s0 ceildiv 128) * s1)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0, s1, s2] -> (((s0 ceildiv 128) * s1) * 8)>

// CHECK: tile.program @documents_block_mask(
// CHECK-SAME: %[[LIST:[a-z0-9]+]]: memref<?x?xi32, strided<[?, 1]>>, %[[ROW:[a-z0-9]+]]: index)
// CHECK-SAME: grid = #[[LISTS]]
// CHECK-SAME: #attn.warps<
// CHECK-SAME: workspaces = [#tile.workspace<"steps", ()[s0, s1, s2] -> ((s0 ceildiv 128) * s1, (s2 ceildiv 64) * 2 + 3)>]
// What is the same for all steps stands before them: the ids of the queries. No row of a box is longer than its tile.
// CHECK: %[[LEAST:.*]], %[[MOST:.*]] = tile.min_max %[[IDS:[a-z0-9]+]][{{.*}} {most = 128 : i64}
// CHECK: tile.block_mask %[[LIST]][%[[ROW]]] from %{{.*}} to %{{.*}} step %c64 {
// CHECK: ^bb0(%[[J:.*]]: index):
// CHECK: tile.min_max %[[IDS]][{{.*}} {most = 64 : i64}
// CHECK-NOT: tile.min_max
// CHECK: tile.yield %{{.*}}, %{{.*}} : i1, i1

// CHECK: tile.program @documents_tile(
// CHECK-SAME: %[[LIST:[a-z0-9]+]]: memref<?x?xi32, strided<[?, 1]>>, %{{[a-z0-9]+}}: index)
// CHECK-SAME: grid = #[[TILES]]
// CHECK-SAME: workspaces = [#tile.workspace<"steps", ()[s0, s1, s2] -> ((s0 ceildiv 128) * s1, (s2 ceildiv 64) * 2 + 3)>]
// CHECK: %[[FULL:.*]] = memref.load %[[LIST]][%[[ROW:.*]], %c0]
// CHECK: %[[HIGH:.*]] = arith.index_cast %[[FULL]]
// CHECK: %[[ALL:.*]] = memref.load %[[LIST]][%[[ROW]], %c1]
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[ALL]]
// CHECK: scf.for %[[PLACE:.*]] = %c0 to %[[COUNT]] step %c1
// CHECK-NOT: scf.if
// CHECK: %[[COLUMN:.*]] = arith.addi %[[PLACE]], %c2
// CHECK: %[[START:.*]] = memref.load %[[LIST]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[J:.*]] = arith.index_cast %[[START]]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[J]], %{{.*}}, %c0]
// CHECK: tile.mask {{.*}} at(%{{.*}}, %[[J]]) full(%c0, %[[HIGH]]) listed(%[[PLACE]])
func.func @documents(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>,
                     %ids: tensor<?x?xi32>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi32>
      %keep = arith.cmpi eq, %x, %y : i32
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct, block_mask = true>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Rows without a segment keep no keys. That would bound the range by their ids; the range has both, so that the first
// loads wait for nothing, and the region says it of each step.

// CHECK-LABEL: tile.program @segments_block_mask(
// CHECK-NOT: arith.cmpi
// CHECK: %[[LEAST:.*]], %[[MOST:.*]] = tile.min_max
// CHECK-NOT: arith.cmpi
// CHECK: tile.block_mask %{{.*}} from %c0 to %{{.*}} step %c64 {
// CHECK: arith.cmpi sge, %[[MOST]], %c0_i32
func.func @segments(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>,
                    %ids: tensor<?x?xi32>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%b, %i] : tensor<?x?xi32>
      %y = attn.load %ids[%b, %j] : tensor<?x?xi32>
      %zero = arith.constant 0 : i32
      %same = arith.cmpi eq, %x, %y : i32
      %live = arith.cmpi sge, %x, %zero : i32
      %keep = arith.andi %same, %live : i1
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct, block_mask = true>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// A mask of its own for each head: as many lists as tiles.

// CHECK: #[[TILES:.*]] = affine_map<()[s0, s1, s2] -> (((s0 ceildiv 128) * s1) * 8)>
// CHECK: tile.program @dense_block_mask(
// CHECK-SAME: grid = #[[TILES]]
// CHECK: tile.block_mask
// CHECK: tile.program @dense_tile(
// CHECK-SAME: grid = #[[TILES]]
func.func @dense(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>,
                 %keep: tensor<?x8x?x?xi1>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %x = attn.load %keep[%b, %h, %i, %j] : tensor<?x8x?x?xi1>
      attn.yield %x : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct, block_mask = true>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// A mask that the positions decide needs none, whatever the schedule says.

// CHECK-NOT: block_mask(
// CHECK: tile.program @causal_tile(
// CHECK-NOT: workspace
func.func @causal(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct, block_mask = true>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}
