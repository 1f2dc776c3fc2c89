// RUN: attnc-opt %s --attnc-attn --attn-to-tile --tile-lower-softmax --canonicalize --cse -split-input-file | FileCheck %s

// Tile programs: the walk over keys, and what each clause adds to it. Schedules are small and given, so that shapes are
// easy to tell apart: 32 rows, 16 keys, head dims of 16 and 24.

// CHECK-LABEL: tile.program @plain_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x4x16xbf16, strided<[?, ?, ?, 1]>>, %[[K:[a-z0-9]+]]: memref<?x?x2x16xbf16, strided<[?, ?, ?, 1]>>, %[[V:[a-z0-9]+]]: memref<?x?x2x24xbf16, strided<[?, ?, ?, 1]>>, %[[O:[a-z0-9]+]]: memref<?x?x4x24xbf16, strided<[?, ?, ?, 1]>>, %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32, strided<{{.*}}>>, %[[T:[a-z0-9]+]]: index)
// CHECK-SAME: grid_sizes = array<i64: 0, 1, 0, 0>, panel = 16 : i64, rows = 32 : i64
// The last rows first; four heads; two query heads a key head.
// CHECK-DAG: %[[SQ:[a-z0-9_]+]] = memref.dim %[[Q]], %c1
// CHECK-DAG: %[[SK:[a-z0-9_]+]] = memref.dim %[[K]], %c1
// CHECK: %[[TILES:[a-z0-9_]+]] = arith.ceildivui %[[SQ]], %c32
// CHECK: %[[FROM_END:[a-z0-9_]+]] = arith.remui %[[T]], %[[TILES]]
// CHECK: %[[REST:[a-z0-9_]+]] = arith.divui %[[T]], %[[TILES]]
// CHECK: %[[LAST:[a-z0-9_]+]] = arith.subi %[[TILES]], %c1
// CHECK: %[[NUMBER:[a-z0-9_]+]] = arith.subi %[[LAST]], %[[FROM_END]]
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %[[NUMBER]], %c32
// CHECK: %[[H:[a-z0-9_]+]] = arith.remui %[[REST]], %c4
// CHECK: %[[B:[a-z0-9_]+]] = arith.divui %[[REST]], %c4
// CHECK: %[[HK:[a-z0-9_]+]] = arith.divui %[[H]], %c2
// CHECK: tile.live_rows
// CHECK: %[[QT:[a-z0-9_]+]] = tile.load %[[Q]][%[[B]], %[[ROW]], %[[H]], %c0] axes [1, 3] below(%[[SQ]], %c16) : {{.*}} -> vector<32x16xbf16>
// CHECK: %[[STATE:[a-z0-9_]+]]:3 = scf.for %[[J:[a-z0-9_]+]] = %c0 to %[[SK]] step %c16 iter_args(%[[ACC:[a-z0-9_]+]] = %{{.*}}, %[[MAX:[a-z0-9_]+]] = %{{.*}}, %[[SUM:[a-z0-9_]+]] = %{{.*}}) -> (vector<32x24xf32>, vector<32xf32>, vector<32xf32>) {
// CHECK: %[[KT:[a-z0-9_]+]] = tile.load %[[K]][%[[B]], %[[J]], %[[HK]], %c0] axes [1, 3] below(%[[SK]], %c16) : {{.*}} -> vector<16x16xbf16>
// CHECK: %[[S:[a-z0-9_]+]] = tile.mma %[[QT]], %[[KT]], %{{.*}} transposed
// Only the end of the keys is masked, and every whole tile of them is full.
// CHECK: %[[SM:[a-z0-9_]+]] = tile.mask tiles(%[[S]] : vector<32x16xf32>) rows() cols() at(%{{.*}}, %[[J]]) full(%c0, %[[SK]]) {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: index, %[[COL:[a-z0-9_]+]]: index):
// CHECK-NEXT: %[[LIVE:[a-z0-9_]+]] = arith.cmpi slt, %[[COL]], %[[SK]] : index
// CHECK-NEXT: tile.yield %[[LIVE]] : i1
// CHECK: %[[NEW:[a-z0-9_]+]] = tile.reduce <max> %[[SM]], %[[MAX]]
// A row that has kept nothing yet has 0 for its maximum.
// CHECK: %[[EMPTY:[a-z0-9_]+]] = arith.cmpf oeq, %[[NEW]], %{{.*}} : vector<32xf32>
// CHECK: %[[SAFE:[a-z0-9_]+]] = arith.select %[[EMPTY]], %{{.*}}, %[[NEW]]
// CHECK: %[[SHRINK:[a-z0-9_]+]] = math.exp2 %{{.*}} : vector<32xf32>
// CHECK: %[[RESCALED:[a-z0-9_]+]] = arith.mulf %[[SUM]], %[[SHRINK]] : vector<32xf32>
// The sum is of unrounded weights, the product with the values of rounded ones.
// CHECK: %[[P:[a-z0-9_]+]]:2 = tile.map tiles(%[[SM]] : vector<32x16xf32>) rows(%{{.*}} : vector<32xf32>)
// CHECK: %[[E:[a-z0-9_]+]] = math.exp2
// CHECK: %[[N:[a-z0-9_]+]] = arith.truncf %[[E]] : f32 to bf16
// CHECK-NEXT: tile.yield %[[E]], %[[N]] : f32, bf16
// CHECK: %[[ADDED:[a-z0-9_]+]] = tile.reduce <add> %[[P]]#0, %{{.*}}
// CHECK: %[[NEXTSUM:[a-z0-9_]+]] = arith.addf %[[RESCALED]], %[[ADDED]]
// CHECK: %[[VT:[a-z0-9_]+]] = tile.load %[[V]][%[[B]], %[[J]], %[[HK]], %c0] axes [1, 3] below(%[[SK]], %c24) : {{.*}} -> vector<16x24xbf16>
// CHECK: %[[SCALED:[a-z0-9_]+]] = tile.map tiles(%[[ACC]] : vector<32x24xf32>) rows(%[[SHRINK]] : vector<32xf32>)
// CHECK: %[[PV:[a-z0-9_]+]] = tile.mma %[[P]]#1, %[[VT]], %[[SCALED]] : vector<32x16xbf16>, vector<16x24xbf16>, vector<32x24xf32>
// CHECK: scf.yield %[[PV]], %[[NEW]], %[[NEXTSUM]]
// Rows without keys: 0, and -inf.
// CHECK: %[[NONE:[a-z0-9_]+]] = arith.cmpf oeq, %[[STATE]]#2, %[[ZERO:[a-z0-9_]+]] : vector<32xf32>
// CHECK: %[[INVERSE:[a-z0-9_]+]] = arith.divf %{{.*}}, %[[STATE]]#2
// CHECK: %[[FACTORS:[a-z0-9_]+]] = arith.select %[[NONE]], %[[ZERO]], %[[INVERSE]]
// CHECK: %[[LOG:[a-z0-9_]+]] = math.log %[[STATE]]#2
// CHECK: %[[SUMMED:[a-z0-9_]+]] = arith.addf %{{.*}}, %[[LOG]]
// CHECK: %[[LSEROW:[a-z0-9_]+]] = arith.select %[[NONE]], %{{.*}}, %[[SUMMED]]
// CHECK: %[[OUT:[a-z0-9_]+]] = tile.map tiles(%[[STATE]]#0 : vector<32x24xf32>) rows(%[[FACTORS]] : vector<32xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// The output's own size is the limit, so that an engine that copies may serve.
// CHECK: %[[END:[a-z0-9_]+]] = memref.dim %[[O]], %c1
// CHECK: tile.store %[[OUT]], %[[O]][%[[B]], %[[ROW]], %[[H]], %c0] axes [1, 3] below(%[[END]], %c24)
// CHECK: tile.store %[[LSEROW]], %[[LSE]][%[[B]], %[[H]], %[[ROW]]] axes [2] below(%[[SQ]])
// CHECK: tile.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @plain(%q: tensor<?x?x4x16xbf16>, %k: tensor<?x?x2x16xbf16>, %v: tensor<?x?x2x24xbf16>) -> (tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>) {
    %o, %lse = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>) -> (tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>)
    return %o, %lse : tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>
  }
}

// -----

// f32 keeps base e: log2(e) is no f32 number.

// CHECK-LABEL: tile.program @f32_in_natural_units_tile(
// CHECK-NOT: math.exp2
// CHECK: math.exp %{{.*}} : vector<32xf32>
// CHECK: math.exp %{{.*}} : f32
// CHECK-NOT: math.exp2
// CHECK: tile.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @f32_in_natural_units(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// A positive literal scale goes into the exponent: raw products are masked, and no map scales them.

// CHECK-LABEL: tile.program @scale_literal_tile(
// CHECK: arith.constant 1.250000e-01 : f32
// CHECK: %[[S:[a-z0-9_]+]] = tile.mma {{.*}} transposed
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile.mask tiles(%[[S]] :
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @scale_literal(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v scale(0.125) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// A scale that is data may be negative, and so must come before the maximum.

// CHECK-LABEL: tile.program @scale_value_tile(
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: f32
// CHECK: %[[S:[a-z0-9_]+]] = tile.mma {{.*}} transposed
// CHECK: %[[L:[a-z0-9_]+]] = tile.map tiles(%[[S]] : vector<32x16xf32>)
// CHECK-NEXT: ^bb0(%[[X:[a-z0-9_]+]]: f32,
// CHECK-NEXT: %[[Y:[a-z0-9_]+]] = arith.mulf %[[X]], %[[SCALE]] : f32
// CHECK-NEXT: tile.yield %[[Y]] : f32
// CHECK: tile.mask tiles(%[[L]] :
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @scale_value(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %s: f32) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v scale(%s) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// So must a negative one that is written.

// CHECK-LABEL: tile.program @scale_negative_tile(
// CHECK: %[[C:[a-z0-9_]+]] = arith.constant -5.000000e-01 : f32
// CHECK: %[[S:[a-z0-9_]+]] = tile.mma {{.*}} transposed
// CHECK: %[[L:[a-z0-9_]+]] = tile.map tiles(%[[S]] : vector<32x16xf32>)
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
// CHECK: tile.mask tiles(%[[L]] :
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @scale_negative(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v scale(-0.5) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// The score region sees the scaled logit.

// CHECK-LABEL: tile.program @score_tile(
// CHECK: %[[S:[a-z0-9_]+]] = tile.mma {{.*}} transposed
// CHECK: %[[L:[a-z0-9_]+]] = tile.map tiles(%[[S]] : vector<32x16xf32>)
// CHECK-NEXT: ^bb0(%[[X:[a-z0-9_]+]]: f32,
// CHECK-NEXT: %[[Y:[a-z0-9_]+]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK-NEXT: %[[Z:[a-z0-9_]+]] = arith.mulf %[[Y]], %{{.*}} : f32
// CHECK-NEXT: %[[T:[a-z0-9_]+]] = math.tanh %[[Z]] : f32
// CHECK: tile.mask tiles(%[[L]] :
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @score(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      score (%s, %b, %h, %i, %j) {
        %c = attn.softcap %s, 50.0
        attn.yield %c : f32
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Sinks are what a row's maximum starts with (S6), once. A maximum of -inf counts as 0, so that no difference of
// infinities arises (S7). Their weights are added to the sum at its end, where results are exact: next to them, small ones
// that are alike would all be rounded the same way.

// CHECK-LABEL: tile.program @sinks_tile(
// CHECK-SAME: %[[SINKS:[a-z0-9]+]]: memref<4x2xf32
// CHECK: %[[A:[a-z0-9_]+]] = memref.load %[[SINKS]][%[[H:[a-z0-9_]+]], %c0]
// CHECK: %[[B:[a-z0-9_]+]] = memref.load %[[SINKS]][%[[H]], %c1]
// CHECK: %[[M:[a-z0-9_]+]] = arith.maximumf %[[A]], %[[B]] : f32
// CHECK: %[[NONE:[a-z0-9_]+]] = arith.cmpf oeq, %[[M]], %{{.*}} : f32
// CHECK: %[[FINITE:[a-z0-9_]+]] = arith.select %[[NONE]], %{{.*}}, %[[M]] : f32
// CHECK: arith.subf %[[A]], %[[FINITE]] : f32
// CHECK: math.exp
// CHECK: arith.subf %[[B]], %[[FINITE]] : f32
// CHECK: math.exp
// CHECK: %[[SUM:[a-z0-9_]+]] = arith.addf
// CHECK: %[[MAX0:[a-z0-9_]+]] = vector.broadcast %{{.*}} : f32 to vector<32xf32>
// CHECK: %[[SUM0:[a-z0-9_]+]] = vector.broadcast %[[SUM]] : f32 to vector<32xf32>
// CHECK: %[[ROWS:[a-z0-9_]+]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[MAX0]], %{{.*}} = %cst_{{[0-9]+}})
// CHECK-NOT: memref.load %[[SINKS]]
// CHECK: %[[DISTANCE:[a-z0-9_]+]] = arith.subf %[[MAX0]], %{{.*}} : vector<32xf32>
// CHECK: %[[POWER:[a-z0-9_]+]] = math.exp
// CHECK: %[[LATE:[a-z0-9_]+]] = arith.mulf %[[POWER]], %[[SUM0]] : vector<32xf32>
// CHECK: arith.addf %[[ROWS]]#2, %[[LATE]] : vector<32xf32>
// CHECK: tile.return
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @sinks(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %t: tensor<4x2xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v sinks(%t : tensor<4x2xf32>) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Of 65536 numbers those below 0.1 * 65536 drop; in the end rows are multiplied by what is left (S9).

// CHECK-LABEL: tile.program @dropout_tile(
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: i64
// CHECK-DAG: %[[LEAST:[a-z0-9_]+]] = arith.constant 6554 : i32
// CHECK-DAG: %[[KEPT:[a-z0-9_]+]] = arith.constant dense<1.11111867> : vector<32xf32>
// Rows, not positions: numbers are at the row, whatever the alignment.
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %{{.*}}, %c32
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK: %[[N:[a-z0-9_]+]] = tile.philox %[[SEED]] at(%{{.*}}, %{{.*}}, %[[ROW]], %[[J]]) : vector<32x16xi16>
// CHECK: tile.map tiles(%{{.*}}, %[[N]] : vector<32x16xf32>, vector<32x16xi16>)
// CHECK: %[[W:[a-z0-9_]+]] = math.exp %{{.*}} : f32
// CHECK: %[[KEEP:[a-z0-9_]+]] = arith.cmpi uge, %{{.*}}, %[[LEAST]] : i32
// CHECK: %[[D:[a-z0-9_]+]] = arith.select %[[KEEP]], %[[W]], %{{.*}} : f32
// The denominator is of all weights.
// CHECK: tile.yield %[[W]], %[[D]] : f32, f32
// CHECK: arith.mulf %{{.*}}, %[[KEPT]] : vector<32xf32>
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @dropout(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %seed: i64) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v dropout(0.1, %seed) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Lengths, held within the tensors, take the place of sizes; the shift is of lengths (S11).

// CHECK-LABEL: tile.program @lengths_tile(
// CHECK-SAME: %[[QL:[a-z0-9]+]]: memref<?xi32{{.*}}, %[[KL:[a-z0-9]+]]: memref<?xi32
// CHECK: %[[SQ:[a-z0-9_]+]] = memref.dim %{{.*}}, %c1
// CHECK: %[[SK:[a-z0-9_]+]] = memref.dim %{{.*}}, %c1
// CHECK: %[[NQ:[a-z0-9_]+]] = memref.load %[[QL]][%[[B:[a-z0-9_]+]]]
// CHECK: %[[NQI:[a-z0-9_]+]] = arith.index_cast %[[NQ]] : i32 to index
// CHECK: %[[NQL:[a-z0-9_]+]] = arith.minsi %[[NQI]], %[[SQ]]
// CHECK: %[[QC:[a-z0-9_]+]] = arith.maxsi %[[NQL]], %c0
// CHECK: %[[NK:[a-z0-9_]+]] = memref.load %[[KL]][%[[B]]]
// CHECK: %[[NKI:[a-z0-9_]+]] = arith.index_cast %[[NK]] : i32 to index
// CHECK: %[[NKL:[a-z0-9_]+]] = arith.minsi %[[NKI]], %[[SK]]
// CHECK: %[[KC:[a-z0-9_]+]] = arith.maxsi %[[NKL]], %c0
// CHECK: %[[SHIFT:[a-z0-9_]+]] = arith.subi %[[KC]], %[[QC]]
// CHECK: tile.load %{{.*}} below(%[[QC]], %c16)
// CHECK: scf.for %{{.*}} = %c0 to %[[KC]] step %c16
// CHECK: tile.load %{{.*}} below(%[[KC]], %c16)
// CHECK: arith.cmpi slt, %{{.*}}, %[[KC]] : index
// Rows behind their length are stored, as empty ones.
// CHECK: vector.step : vector<32xindex>
// CHECK: %[[END:[a-z0-9_]+]] = memref.dim %{{.*}}, %c1
// CHECK: tile.store %{{.*}} below(%[[END]], %c24)
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @lengths(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %ql: tensor<?xi32>, %kl: tensor<?xi32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Packed sequences: the tile looks for its own, and reads rows from where it starts (S11).

// CHECK-LABEL: tile.program @varlen_tile(
// CHECK-SAME: %[[QO:[a-z0-9]+]]: memref<?xi32{{.*}}, %[[KO:[a-z0-9]+]]: memref<?xi32
// CHECK-SAME: grid_sizes = array<i64: 0, 0, 3, 0>
// The sequence that the tile falls in, eight candidates at once: b has the slots from floor(offset / rows) + b on.
// CHECK: math.ctlz
// CHECK: %[[B:[a-z0-9_]+]] = scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args(%[[FOUND:.*]] = %c0)
// CHECK: %[[STEP:.*]] = arith.shli %c1,
// CHECK: %[[AHEAD:.*]] = arith.addi %[[FOUND]], %[[STEP]]
// CHECK: %[[NEXT:.*]] = arith.minsi %[[AHEAD]],
// CHECK: memref.load %[[QO]][%[[NEXT]]]
// CHECK: %[[TILES:.*]] = arith.divui %{{.*}}, %c32
// CHECK: %[[START:.*]] = arith.addi %[[TILES]], %[[NEXT]]
// CHECK: %[[STARTS:.*]] = arith.cmpi sle, %[[START]],
// CHECK: arith.select %[[STARTS]], %[[NEXT]], %[[FOUND]]
// CHECK-COUNT-6: memref.load %[[QO]]
// CHECK: scf.yield
// CHECK: %[[Q0:[a-z0-9_]+]] = memref.load %[[QO]][%[[B]]]
// CHECK: %[[QBASE:[a-z0-9_]+]] = arith.index_cast %[[Q0]]
// CHECK: %[[K0:[a-z0-9_]+]] = memref.load %[[KO]][%[[B]]]
// CHECK: %[[KBASE:[a-z0-9_]+]] = arith.index_cast %[[K0]]
// A slot past the sequence's last row has neither queries nor keys.
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %{{.*}}, %c32
// CHECK: %[[HOLDS:[a-z0-9_]+]] = arith.cmpi slt, %[[ROW]],
// CHECK-COUNT-3: arith.select %[[HOLDS]],
// CHECK: tile.load %{{.*}} axes [0, 2] below(%{{.*}}) : {{.*}} -> vector<32x16xf32>
// CHECK: scf.for %[[J:[a-z0-9_]+]] = %c0 to
// CHECK: %[[AT:[a-z0-9_]+]] = arith.addi %[[KBASE]], %[[J]]
// CHECK: tile.load %{{.*}}[%[[AT]], %{{.*}}, %c0] axes [0, 2]
// CHECK: tile.store %{{.*}} axes [0, 2]
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @varlen(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x24xf32>, %qo: tensor<?xi32>, %ko: tensor<?xi32>) -> tensor<?x4x24xf32> {
    %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x24xf32>) -> tensor<?x4x24xf32>
    return %o : tensor<?x4x24xf32>
  }
}

// -----

// Positions are rows and the shift of the alignment (S2).

// CHECK-LABEL: tile.program @bottom_right_tile(
// CHECK: %[[SQ:[a-z0-9_]+]] = memref.dim %{{.*}}, %c1
// CHECK: %[[SK:[a-z0-9_]+]] = memref.dim %{{.*}}, %c1
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %{{.*}}, %c32
// CHECK: %[[SHIFT:[a-z0-9_]+]] = arith.subi %[[SK]], %[[SQ]]
// CHECK: %[[FIRST:[a-z0-9_]+]] = arith.addi %[[ROW]], %[[SHIFT]]
// CHECK: scf.for %[[J:[a-z0-9_]+]] = %c0 to
// CHECK: tile.mask tiles(%{{.*}}) rows() cols() at(%[[FIRST]], %[[J]])
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[PI:[a-z0-9_]+]]: index, %[[PJ:[a-z0-9_]+]]: index):
// Below the last query's position, every key exists: nothing else is compared.
// CHECK-NEXT: %[[KEPT:[a-z0-9_]+]] = arith.cmpi sle, %[[PJ]], %[[PI]] : index
// CHECK-NEXT: tile.yield %[[KEPT]] : i1
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @bottom_right(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Or just rows.

// CHECK-LABEL: tile.program @top_left_tile(
// CHECK-NOT: arith.subi %{{dim[_0-9]*}}, %{{dim[_0-9]*}}
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %{{.*}}, %c32
// CHECK: tile.mask tiles(%{{.*}}) rows() cols() at(%[[ROW]], %{{.*}})
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @top_left(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v align(top_left) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// CHECK-LABEL: tile.program @q_offset_tile(
// CHECK-SAME: %[[PASSED:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: memref
// CHECK: %[[N:.*]] = arith.index_cast %[[PASSED]] : i64 to index
// CHECK: %[[ROW:[a-z0-9_]+]] = arith.muli %{{.*}}, %c32
// CHECK: %[[FIRST:[a-z0-9_]+]] = arith.addi %[[ROW]], %[[N]]
// CHECK: tile.mask tiles(%{{.*}}) rows() cols() at(%[[FIRST]], %{{.*}})
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @q_offset(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %n: index) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v align(top_left) q_offset(%n) schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Captured tensors, by what indexes them: a tile, a row vector, a column vector, a scalar, a computed element.

// CHECK-LABEL: tile.program @captures_tile(
// CHECK-SAME: %[[TILE:[a-z0-9]+]]: memref<1x4x?x?xbf16{{.*}}, %[[R:[a-z0-9]+]]: memref<?x?xf32{{.*}}, %[[C:[a-z0-9]+]]: memref<?x?xf32{{.*}}, %[[ONE:[a-z0-9]+]]: memref<4xf32{{.*}}, %[[TABLE:[a-z0-9]+]]: memref<128x4xf32
// What is the same for the tile, or for its rows, is read once.
// CHECK-DAG: %[[ROWS:[a-z0-9_]+]] = tile.load %[[R]][%[[B:[a-z0-9_]+]], %[[ROW:[a-z0-9_]+]]] axes [1] below(%{{.*}}) : {{.*}} -> vector<32xf32>
// CHECK-DAG: %[[SLOPE:[a-z0-9_]+]] = memref.load %[[ONE]][%[[H:[a-z0-9_]+]]]
// CHECK: scf.for %[[J:[a-z0-9_]+]] = %c0 to
// CHECK-DAG: %[[BIAS:[a-z0-9_]+]] = tile.load %[[TILE]][%c0, %[[H]], %[[ROW]], %[[J]]] axes [2, 3] below(%{{.*}}) : {{.*}} -> vector<32x16xbf16>
// CHECK-DAG: %[[COLS:[a-z0-9_]+]] = tile.load %[[C]][%[[B]], %[[J]]] axes [1] below(%{{.*}}) : {{.*}} -> vector<1x16xf32>
// CHECK: tile.map tiles(%{{.*}}, %[[BIAS]] : vector<32x16xf32>, vector<32x16xbf16>) rows(%[[ROWS]] : vector<32xf32>) cols(%[[COLS]] : vector<1x16xf32>) at(
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[XT:[a-z0-9_]+]]: bf16, %[[XR:[a-z0-9_]+]]: f32, %[[XC:[a-z0-9_]+]]: f32, %[[PI:[a-z0-9_]+]]: index, %[[PJ:[a-z0-9_]+]]: index):
// CHECK: arith.extf %[[XT]] : bf16 to f32
// CHECK: arith.addf %{{.*}}, %[[XR]] : f32
// CHECK: arith.addf %{{.*}}, %[[XC]] : f32
// CHECK: arith.mulf %{{.*}}, %[[SLOPE]] : f32
// A computed index is clamped to its dimension, and read element by element.
// CHECK: %[[D:[a-z0-9_]+]] = arith.subi %[[PI]], %[[PJ]] : index
// CHECK: %[[HI:[a-z0-9_]+]] = arith.minsi %[[D]], %c127 : index
// CHECK: %[[AT:[a-z0-9_]+]] = arith.maxsi %[[HI]], %c0 : index
// CHECK: memref.load %[[TABLE]][%[[AT]], %{{.*}}]
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @captures(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %t: tensor<1x4x?x?xbf16>, %r: tensor<?x?xf32>, %c: tensor<?x?xf32>, %one: tensor<4xf32>, %table: tensor<128x4xf32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      score (%s, %b, %h, %i, %j) {
        %s1 = attn.bias %s, %t[%b, %h, %i, %j] : tensor<1x4x?x?xbf16>
        %s2 = attn.bias %s1, %r[%b, %i] : tensor<?x?xf32>
        %s3 = attn.bias %s2, %c[%b, %j] : tensor<?x?xf32>
        %m = attn.load %one[%h] : tensor<4xf32>
        %s4 = arith.mulf %s3, %m : f32
        %d = arith.subi %i, %j : index
        %s5 = attn.bias %s4, %table[%d, %h] : tensor<128x4xf32>
        attn.yield %s5 : f32
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// `blocks` decides on the way: nothing, without a mask, with one.

// CHECK-LABEL: tile.program @segments_tile(
// CHECK-SAME: %[[QS:[a-z0-9]+]]: memref<?x?xi32{{.*}}, %[[KS:[a-z0-9]+]]: memref<?x?xi32
// CHECK: scf.for %[[J:[a-z0-9_]+]] =
// CHECK: tile.min_max %[[KS]][%[[B:[a-z0-9_]+]], %{{.*}}] to [%[[B]], %{{.*}}] {most = 16 : i64} :
// CHECK: scf.if %[[SOME:[a-z0-9_]+]] -> (vector<32x24xf32>, vector<32xf32>, vector<32xf32>) {
// CHECK: scf.if %[[ALL:[a-z0-9_]+]] -> (vector<32x24xf32>, vector<32xf32>, vector<32xf32>) {
// CHECK-NOT: tile.mask
// CHECK: } else {
// CHECK: tile.mask {{.*}} full(%c0, %c0) {
// CHECK: tile.mma
// CHECK: } else {
// CHECK-NEXT: scf.yield
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @segments(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>, %qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>) -> tensor<?x?x4x24xf32> {
    %o = attn.forward %q, %k, %v schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      mask (%b, %h, %i, %j) {
        %keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) -> tensor<?x?x4x24xf32>
    return %o : tensor<?x?x4x24xf32>
  }
}

// -----

// Weights: a walk for the maxima and sums, a second one over all keys that stores; two kernels of one function are two
// programs.

// CHECK-LABEL: tile.program @two_0_tile(
// CHECK: tile.return
// CHECK-LABEL: tile.program @two_1_tile(
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<?x4x?x?xf32{{[^:]*}}, %{{[a-z0-9]+}}: index)
// CHECK: scf.for
// CHECK: tile.reduce <max>
// CHECK: tile.reduce <add>
// CHECK: scf.for %[[J:[a-z0-9_]+]] = %c0 to %[[SK:[a-z0-9_]+]] step %c16 {
// CHECK: tile.mma
// CHECK-NOT: tile.reduce
// CHECK: tile.store %{{.*}}, %[[W]][%{{.*}}, %{{.*}}, %{{.*}}, %[[J]]] axes [2, 3]
module attributes {attn.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
  func.func @two(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>) {
    %o = attn.forward %q, %k, %k schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>)
      : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
    %w = attn.weights %q, %k schedule(#attn.schedule<query_tile = 32, key_tile = 16, panel = 16>) : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
    return %o, %w : tensor<?x?x4x16xf32>, tensor<?x4x?x?xf32>
  }
}
