// RUN: attnc-opt %s --attn-infer-bounds --attn-to-tile --canonicalize --cse -split-input-file | FileCheck %s

// Tiles that hold several heads of a group: 64 rows are 16 queries of four heads.

// CHECK: #[[$GRID:.*]] = affine_map<()[s0, s1] -> (((s0 ceildiv 16) * s1) * 2)>
// CHECK-LABEL: tile.program @causal_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x8x64xbf16, {{[^,]*, [^,]*, [^,]*, [^>]*}}>>, %[[K:[a-z0-9]+]]: memref<?x?x2x64xbf16
// CHECK-SAME: %[[SINKS:[a-z0-9]+]]: memref<8x1xf32
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x?x8x64xbf16, {{[^,]*, [^,]*, [^,]*, [^>]*}}>>, %[[LSE:[a-z0-9]+]]: memref<?x8x?xf32
// CHECK-SAME: %[[T:[a-z0-9]+]]: index) attributes {grid = #[[$GRID]]
// CHECK: %[[TILES:.*]] = arith.ceildivui %{{.*}}, %c16 : index
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c16 : index
// CHECK: %[[NUMBER:.*]] = arith.remui %{{.*}}, %c2 : index
// CHECK: %[[H:.*]] = arith.muli %[[NUMBER]], %c4 : index
// CHECK: %[[KH:.*]] = arith.divui %[[H]], %c4 : index
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[ROW]] : index
// CHECK: %[[LIVE:.*]] = arith.muli %[[LEFT]], %c4 : index
// CHECK: arith.minsi %[[LIVE]], %c64 : index
// CHECK: tile.live_rows
// CHECK: tile.load %[[Q]][%{{.*}}, %[[ROW]], %[[H]], %c0] axes [1, 3] group [4, 2] below(
// Sinks are those of each row's head.
// CHECK: %[[ROWS:.*]] = vector.step : vector<64xindex>
// CHECK: %[[HEADS:.*]] = arith.remui %[[ROWS]], %{{.*}} : vector<64xindex>
// CHECK: memref.load %[[SINKS]][%[[H]], %c0]
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[HEADS]], %{{.*}} : vector<64xindex>
// CHECK: %[[H1:.*]] = arith.addi %[[H]], %c1 : index
// CHECK: memref.load %[[SINKS]][%[[H1]], %c0]
// CHECK: arith.select %[[SECOND]], %{{.*}}, %{{.*}} : vector<64xi1>, vector<64xf32>
// CHECK: tile.load %[[K]][%{{.*}}, %{{.*}}, %[[KH]], %c0] axes [1, 3] below(
// CHECK: tile.mask
// CHECK: } {group = 4 : i64} -> vector<64x32xf32>
// CHECK: tile.store %{{.*}}, %[[OUT]][%{{.*}}, %[[ROW]], %[[H]], %c0] axes [1, 3] group [4, 2] below(
// CHECK: tile.store %{{.*}}, %[[LSE]][%{{.*}}, %[[H]], %[[ROW]]] axes [2] group [4, 1] below(
func.func @causal(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                  %n: tensor<8x1xf32>) -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v sinks(%n : tensor<8x1xf32>)
    schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, heads = 4,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
      -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}

// -----

// Packed sequences, and a tensor that is read for each query.

// CHECK-LABEL: tile.program @varlen_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x8x64xbf16
// CHECK-SAME: %{{[a-z0-9]+}}: memref<?xi32, {{[^,]*}}>, %{{[a-z0-9]+}}: memref<?xi32, {{[^,]*}}>, %[[IDS:[a-z0-9]+]]: memref<?xi32
// CHECK: tile.load %[[IDS]][%{{.*}}] axes [0] group [4] below({{.*}} -> vector<64xi32>
// CHECK: tile.load %[[Q]][%{{.*}}, %{{.*}}, %c0] axes [0, 2] group [4, 1] below(
// CHECK: tile.store %{{.*}} axes [0, 2] group [4, 1] below(
func.func @varlen(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>, %v: tensor<?x2x64xbf16>, %qo: tensor<?xi32>,
                  %ko: tensor<?xi32>, %ids: tensor<?xi32>, %keyIds: tensor<?xi32>) -> tensor<?x8x64xbf16> {
  %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, heads = 4,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    mask (%b, %h, %i, %j) {
      %x = attn.load %ids[%i] : tensor<?xi32>
      %y = attn.load %keyIds[%j] : tensor<?xi32>
      %keep = arith.cmpi eq, %x, %y : i32
      attn.yield %keep : i1
    }
    : (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) -> tensor<?x8x64xbf16>
  return %o : tensor<?x8x64xbf16>
}
