// RUN: attnc-opt %s --attn-infer-bounds --attn-to-tile --tile-lower-softmax --canonicalize --cse -split-input-file | FileCheck %s

// What a GPU's schedule adds to tile programs: the order of tiles, and rescaling where it is rarely needed.

// With `section_bytes`, heads are worked on in sections whose keys and values fit together: 2^20 bytes hold 4096 keys of
// 64 + 64 elements of 16 bits. A section is a power of two of heads, 16 or more, and not more than there are. Within it,
// the last rows of all its heads come first.

// CHECK-LABEL: tile.program @sections_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x8x64xbf16, {{[^,]*, [^,]*, [^,]*, [^>]*}}>>, %[[K:[a-z0-9]+]]: memref<?x?x2x64xbf16
// CHECK-SAME: %[[T:[a-z0-9]+]]: index) attributes
// CHECK-SAME: pipeline = #attn.roles<consumers = 2,
// CHECK-DAG: %[[SQ:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG: %[[SK:.*]] = memref.dim %[[K]], %c1
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SQ]], %c128 : index
// CHECK: %[[KEYS:.*]] = arith.maxsi %[[SK]], %c1 : index
// CHECK: %[[FIT:.*]] = arith.divui %c4096, %[[KEYS]] : index
// CHECK: %[[MANY:.*]] = arith.maxsi %[[FIT]], %c16 : index
// CHECK: %[[WORD:.*]] = arith.index_cast %[[MANY]] : index to i32
// CHECK: %[[ZEROS:.*]] = math.ctlz %[[WORD]] : i32
// CHECK: %[[LOG:.*]] = arith.subi %c31_i32, %[[ZEROS]] : i32
// CHECK: %[[POWER:.*]] = arith.shli %c1_i32, %[[LOG]] : i32
// CHECK: %[[BATCH:.*]] = memref.dim %[[Q]], %c0
// CHECK: %[[ALL:.*]] = arith.muli %[[BATCH]], %c8 : index
// CHECK: %[[HEADS:.*]] = arith.index_cast %[[POWER]] : i32 to index
// CHECK: %[[SECTION:.*]] = arith.minsi %[[HEADS]], %[[ALL]] : index
// CHECK: %[[SIZE:.*]] = arith.muli %[[SECTION]], %[[TILES]] : index
// CHECK: %[[NUMBER:.*]] = arith.divui %[[T]], %[[SIZE]] : index
// CHECK: %[[INSIDE:.*]] = arith.remui %[[T]], %[[SIZE]] : index
// The last section may have fewer. What both sizes are does not depend on the tile.
// CHECK: %[[WHOLE:.*]] = arith.divui %[[ALL]], %[[SECTION]] : index
// CHECK: %[[IN_WHOLE:.*]] = arith.muli %[[WHOLE]], %[[SECTION]] : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[ALL]], %[[IN_WHOLE]] : index
// CHECK: %[[REST:.*]] = arith.maxsi %[[LEFT]], %c1 : index
// CHECK: %[[IS_LAST:.*]] = arith.cmpi uge, %[[NUMBER]], %[[WHOLE]] : index
// CHECK: %[[OF_REST:.*]] = arith.remui %[[INSIDE]], %[[REST]] : index
// CHECK: %[[OF_SECTION:.*]] = arith.remui %[[INSIDE]], %[[SECTION]] : index
// CHECK: %[[OF:.*]] = arith.select %[[IS_LAST]], %[[OF_REST]], %[[OF_SECTION]] : index
// CHECK: %[[BY_REST:.*]] = arith.divui %[[INSIDE]], %[[REST]] : index
// CHECK: %[[BY_SECTION:.*]] = arith.divui %[[INSIDE]], %[[SECTION]] : index
// CHECK: %[[FROM_END:.*]] = arith.select %[[IS_LAST]], %[[BY_REST]], %[[BY_SECTION]] : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[SECTION]] : index
// CHECK: %[[HEAD:.*]] = arith.addi %[[FIRST]], %[[OF]] : index
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %c1 : index
// CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[FROM_END]] : index
// CHECK: %[[ROW:.*]] = arith.muli %[[TILE]], %c128 : index
// CHECK: %[[H:.*]] = arith.remui %[[HEAD]], %c8 : index
// CHECK: %[[B:.*]] = arith.divui %[[HEAD]], %c8 : index
// CHECK: tile.load %[[Q]][%[[B]], %[[ROW]], %[[H]], %c0]
// CHECK: -> vector<128x64xbf16>
// CHECK-NOT: mostly_one
func.func @sections(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct,
                                        section_bytes = 1048576>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Without, all tiles of a head come in a row. With `on_growth`, a maximum that grew by no more than 8 in log2 units stays, and
// so does the output in most steps.

// CHECK-LABEL: tile.program @all_tile(
// CHECK-SAME: %[[T:[a-z0-9]+]]: index) attributes
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00> : vector<128xf32>
// CHECK-DAG: %[[UNIT:.*]] = arith.constant dense<0.180336878> : vector<128xf32>
// CHECK: %[[TILES:.*]] = arith.ceildivui
// CHECK: arith.remui %[[T]], %[[TILES]] : index
// CHECK: arith.divui %[[T]], %[[TILES]] : index
// CHECK: scf.for {{.*}} iter_args(%[[OUT:[a-z0-9]+]] = %{{[a-z0-9_]+}}, %[[BEFORE:[a-z0-9]+]] =
// CHECK: %[[NOW:.*]] = tile.reduce <max> %{{.*}}, %[[BEFORE]]
// CHECK: %[[GROWTH:.*]] = arith.subf %[[NOW]], %[[BEFORE]]
// CHECK: %[[OCTAVES:.*]] = arith.mulf %[[GROWTH]], %[[UNIT]]
// CHECK: %[[GROWN:.*]] = arith.cmpf ogt, %[[OCTAVES]], %[[EIGHT]]
// CHECK: %[[MAX:.*]] = arith.select %[[GROWN]], %[[NOW]], %[[BEFORE]]
// CHECK: %[[SHRINK:.*]] = math.exp2
// CHECK: tile.map tiles(%[[OUT]] : vector<128x64xf32>) rows(%[[SHRINK]] :
// CHECK: } {mostly_one, scales_rows} -> vector<128x64xf32>
// CHECK: scf.yield %{{.*}}, %[[MAX]],
func.func @all(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, rescaling = on_growth, epilogue = direct>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Each schedule has a program of its own, for the launches that it serves; the sizes of the tensors say of which it is.

// CHECK: #[[SIZES:[a-z0-9]+]] = affine_map<()[s0, s1, s2] -> (s0, s2, s1, 8, s1 * 8)>
// CHECK-LABEL: tile.program @sizes_tile_queries_to_99(
// CHECK-SAME: grid_sizes = array<i64: 1, 1, 1, 0, 0, 1>, launch_sizes = #[[SIZES]]
// CHECK-SAME: rows = 64 : i64, when = #attn.sizes<queries = to 99>
// CHECK: vector<64x128xf32>
// CHECK-LABEL: tile.program @sizes_tile_queries_from_100(
// CHECK-SAME: launch_sizes = #[[SIZES]]
// CHECK-NOT: unless
// CHECK-SAME: rows = 128 : i64, when = #attn.sizes<queries = from 100>
// CHECK: vector<128x64xf32>
// CHECK-NOT: tile.program
func.func @sizes(%k: tensor<?x?x2x64xbf16>, %q: tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %k
    schedule(#attn.schedule<query_tile = 64, key_tile = 128, panel = 64, when = <queries = to 99>,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>,
             #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = from 100>,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Packed sequences choose by the mean of what they have: rows of the tensor, and offsets of which there is one more.

// CHECK: #[[SIZES:[a-z0-9]+]] = affine_map<()[s0, s1, s2] -> (s0 ceildiv (s1 + 1 floordiv s1 - 1), s2 ceildiv (s1 + 1 floordiv s1 - 1), s1 - 1, 8, (s1 - 1) * 8)>
// CHECK-LABEL: tile.program @packed_sizes_tile_queries_to_99(
// CHECK-SAME: grid_sizes = array<i64: 0, 0, 2, 0, 1, 0>, launch_sizes = #[[SIZES]]
// CHECK-LABEL: tile.program @packed_sizes_tile_queries_from_100(
// CHECK-SAME: grid_sizes = array<i64: 0, 0, 2, 0, 1, 0>, launch_sizes = #[[SIZES]]
func.func @packed_sizes(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>)
    -> tensor<?x8x64xbf16> {
  %o = attn.forward %q, %k, %k
    varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 64, key_tile = 128, panel = 64, when = <queries = to 99>,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>,
             #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = from 100>,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) -> tensor<?x8x64xbf16>
  return %o : tensor<?x8x64xbf16>
}

// -----

// A launch runs the first schedule that is for it: a program excludes those before it, but for what cannot be together
// and what others exclude as well. Keys in pages are as many as the pages hold.

// CHECK: #[[SIZES:[a-z0-9]+]] = affine_map<()[s0, s1, s2] -> (s0, s2 * 16, s1, 8, s1 * 8)>
// CHECK-LABEL: tile.program @first_tile_queries_to_99_keys_from_512(
// CHECK-NOT: unless
// CHECK-SAME: when = #attn.sizes<queries = to 99, keys = from 512>
// CHECK-LABEL: tile.program @first_tile_keys_1_to_511_batch_4(
// CHECK-NOT: unless
// CHECK-SAME: when = #attn.sizes<keys = 1 to 511, batch = 4>
// CHECK-LABEL: tile.program @first_tile_queries_to_99(
// CHECK-SAME: unless = [#attn.sizes<queries = to 99, keys = from 512>, #attn.sizes<keys = 1 to 511, batch = 4>], when = #attn.sizes<queries = to 99>
// CHECK-LABEL: tile.program @first_tile(
// CHECK-SAME: launch_sizes = #[[SIZES]]
// CHECK-SAME: unless = [#attn.sizes<keys = 1 to 511, batch = 4>, #attn.sizes<queries = to 99>]}
#own = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
func.func @first(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x16x2x64xbf16>, %n: tensor<?xi32>, %pages: tensor<?x?xi32>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %k lengths(key = %n : tensor<?xi32>) paged(%pages : tensor<?x?xi32>)
    schedule(#attn.schedule<query_tile = 64, key_tile = 16, panel = 64, when = <queries = to 99, keys = from 512>, pipeline = #own>,
             #attn.schedule<query_tile = 64, key_tile = 32, panel = 64, when = <keys = 1 to 511, batch = 4>, pipeline = #own>,
             #attn.schedule<query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 99>, pipeline = #own>,
             #attn.schedule<query_tile = 64, key_tile = 128, panel = 64, pipeline = #own>)
    : (tensor<?x?x8x64xbf16>, tensor<?x16x2x64xbf16>, tensor<?x16x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// The copy engine stops at the ends of tensors. Queries past a sequence's own end give rows that are not stored, or that
// become 0, and logits of keys past it are masked: those may be what they are. Values are not: their limit is the end of
// the sequence.

// CHECK-LABEL: tile.program @lengths_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x8x64xbf16{{.*}}, %[[K:[a-z0-9]+]]: memref<?x?x2x64xbf16{{.*}}, %[[V:[a-z0-9]+]]: memref<?x?x2x64xbf16{{.*}}, %[[QL:[a-z0-9]+]]: memref<?xi32{{.*}}, %[[KL:[a-z0-9]+]]: memref<?xi32
// CHECK-DAG: %[[SQ:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG: %[[SK:.*]] = memref.dim %[[K]], %c1
// CHECK: memref.load %[[KL]]
// CHECK: %[[KEYS:.*]] = arith.maxsi
// CHECK: tile.load %[[Q]][{{.*}}] axes [1, 3] below(%[[SQ]], %c64)
// CHECK: tile.load %[[K]][{{.*}}] axes [1, 3] below(%[[SK]], %c64)
// CHECK: tile.mask
// CHECK: arith.cmpi slt, %{{.*}}, %[[KEYS]]
// CHECK: tile.load %[[V]][{{.*}}] axes [1, 3] below(%[[KEYS]], %c64)
// Rows past the queries: 0, whatever they hold.
// CHECK: arith.divf
// CHECK: tile.map
// CHECK: ^bb0(%[[X:.*]]: f32, %[[FACTOR:.*]]: f32,
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[FACTOR]]
// CHECK: %[[DROPS:.*]] = arith.cmpf oeq, %[[FACTOR]], %cst
// CHECK: arith.select %[[DROPS]], %cst{{.*}}, %[[PRODUCT]]
func.func @lengths(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>,
                   %ql: tensor<?xi32>, %kl: tensor<?xi32>) -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// A tile of a packed sequence that has no rows has nothing to finish.

// CHECK-LABEL: tile.program @packed_tile(
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK: arith.select %[[HOLDS]],
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: scf.if %[[HOLDS]] {
// CHECK: arith.divf
// CHECK: tile.store
// CHECK: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
func.func @packed(%q: tensor<?x8x64xbf16>, %k: tensor<?x2x64xbf16>, %v: tensor<?x2x64xbf16>, %qo: tensor<?xi32>,
                  %ko: tensor<?xi32>) -> (tensor<?x8x64xbf16>, tensor<8x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) -> (tensor<?x8x64xbf16>, tensor<8x?xf32>)
  return %o, %lse : tensor<?x8x64xbf16>, tensor<8x?xf32>
}

// -----

// Scores with limits need no maxima: all weights are relative to one number, which is near a half of the cap, and there where both
// ends are numbers of bf16.

// CHECK-LABEL: tile.program @capped_tile(
// CHECK-DAG: %[[REFERENCE:.*]] = arith.constant dense<0.489831209> : vector<128xf32>
// CHECK: scf.for {{.*}} iter_args(%[[OUT:[a-z0-9]+]] = %{{[a-z0-9_]+}}, %[[SUM:[a-z0-9]+]] =
// CHECK-NOT: tile.reduce <max>
// CHECK: %[[P:.*]]:2 = tile.map {{.*}} rows(%[[REFERENCE]] :
// CHECK: tile.reduce <add> %[[P]]#0, %[[SUM]]
// CHECK: tile.mma %[[P]]#1, %{{.*}}, %[[OUT]] :
func.func @capped(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v 
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %c = arith.constant 50.0 : f32
      %r = arith.constant 0.02 : f32
      %d = arith.mulf %s, %r : f32
      %t = math.tanh %d : f32
      %x = arith.mulf %t, %c : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Limits that follow from others: a sum with a sine, less than a constant, chosen from two.

// CHECK-LABEL: tile.program @limited_tile(
// CHECK-NOT: tile.reduce <max>
// CHECK: tile.return
func.func @limited(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v 
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %w = math.sin %s : f32
      %two = arith.constant 2.0 : f32
      %p = arith.addf %w, %two : f32
      %n = arith.negf %p : f32
      %high = arith.maximumf %p, %n : f32
      %least = arith.minimumf %high, %two : f32
      %c = arith.cmpf ogt, %s, %two : f32
      %x = arith.select %c, %least, %n : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Too far apart for bf16.

// CHECK-LABEL: tile.program @loose_tile(
// CHECK: tile.reduce <max>
func.func @loose(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v 
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %c = arith.constant 51.0 : f32
      %r = arith.constant 0.02 : f32
      %d = arith.mulf %s, %r : f32
      %t = math.tanh %d : f32
      %x = arith.mulf %t, %c : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// f16 has a small range.

// CHECK-LABEL: tile.program @half_tile(
// CHECK: tile.reduce <max>
func.func @half(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>)
    -> tensor<?x?x8x64xf16> {
  %o = attn.forward %q, %k, %v 
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %c = arith.constant 50.0 : f32
      %r = arith.constant 0.02 : f32
      %d = arith.mulf %s, %r : f32
      %t = math.tanh %d : f32
      %x = arith.mulf %t, %c : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// -----

// Nothing limits a bias, nor what a product with it may be.

// CHECK-LABEL: tile.program @free_tile(
// CHECK: tile.reduce <max>
func.func @free(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v 
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %t = math.tanh %s : f32
      %x = arith.mulf %t, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Nothing limits sinks.

// CHECK-LABEL: tile.program @sinks_tile(
// CHECK: tile.reduce <max>
func.func @sinks(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>, %n: tensor<8x1xf32>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v sinks(%n : tensor<8x1xf32>)
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    score (%s, %b, %h, %i, %j) {
      %c = arith.constant 50.0 : f32
      %r = arith.constant 0.02 : f32
      %d = arith.mulf %s, %r : f32
      %t = math.tanh %d : f32
      %x = arith.mulf %t, %c : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// With `own_keys`, a consumer's keys are those of its own rows: `tile.part` gives them.

// CHECK-LABEL: tile.program @own_tile(
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c128 : index
// CHECK: %[[FIRST:.*]], %[[END:.*]] = tile.part of 128
// CHECK: %[[LOW:.*]] = arith.addi %[[ROW]], %[[FIRST]] : index
// CHECK: %[[HIGH:.*]] = arith.addi %[[ROW]], %[[END]] : index
// CHECK: %[[LAST:.*]] = arith.minsi %[[HIGH]], %{{.*}} : index
// CHECK: scf.for
func.func @own(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    }
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, own_keys = true,
                                        epilogue = direct>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// Rows that a section's bytes would hold are no more than an index of 32 bits can say.

// CHECK-LABEL: tile.program @wide_sections_tile(
// CHECK: arith.divui %c2147483647,
func.func @wide_sections(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>)
    -> tensor<?x?x8x64xbf16> {
  %o = attn.forward %q, %k, %v
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct,
                                        section_bytes = 1099511627776>>)
    : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// -----

// With `own_keys`, a consumer whose rows all lie after the last query asks for the keys of a position that there is.

// CHECK-LABEL: tile.program @positions_tile(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x?x1x64xbf16
// CHECK-SAME: %[[N:[a-z0-9]+]]: i64
// CHECK: %[[OFFSET:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[SQ:.*]] = memref.dim %[[Q]], %c1
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c128 : index
// CHECK: %[[FIRST:.*]], %{{.*}} = tile.part of 128
// CHECK: %[[OWN:.*]] = arith.addi %[[ROW]], %[[FIRST]] : index
// CHECK: %[[LAST:.*]] = arith.subi %[[SQ]], %c1 : index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[OWN]], %[[LAST]] : index
// CHECK: %[[HELD:.*]] = arith.maxsi %[[LEAST]], %[[ROW]] : index
// CHECK: arith.addi %[[HELD]], %[[OFFSET]] : index
func.func @positions(%q: tensor<?x?x1x64xbf16>, %k: tensor<?x?x1x64xbf16>, %v: tensor<?x?x1x64xbf16>, %n: index)
    -> tensor<?x?x1x64xbf16> {
  %o = attn.forward %q, %k, %v align(top_left) q_offset(%n)
    schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                            pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, own_keys = true, epilogue = direct>>)
    mask (%b, %h, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    } : (tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> tensor<?x?x1x64xbf16>
  return %o : tensor<?x?x1x64xbf16>
}
