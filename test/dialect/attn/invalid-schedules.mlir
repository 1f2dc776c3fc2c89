// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of schedules and pipelines, one a chunk. A comment above each says what is refused.

// A schedule has tiles.
// expected-error@+1 {{expected positive tile sizes, got query_tile = 96, key_tile = 0, panel = 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 0, panel = 24>}

// -----

// Panels cover a tile.
// expected-error@+1 {{expected panel to divide query_tile, got 36 and 96}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 36>}

// -----

// A condition holds for some launches,
// expected-error@+1 {{expected queries from 0 on, and no less to end with, got 100 to 99}}
func.func private @kernel() attributes {x.s = #attn.sizes<queries = 100 to 99>}

// -----

// expected-error@+1 {{expected batch from 0 on, and no less to end with, got -1 to 4}}
func.func private @kernel() attributes {x.s = #attn.sizes<queries = 1, batch = -1 to 4>}

// -----

// and says one thing of each size,
// expected-error@+1 {{expected one range of keys, got two}}
func.func private @kernel() attributes {x.s = #attn.sizes<keys = from 512, queries = to 9, keys = to 511>}

// -----

// of those that there are.
// expected-error@+1 {{expected one of [queries, keys, batch, query_heads, all_heads] for size of a launch, got: head_dim}}
func.func private @kernel() attributes {x.s = #attn.sizes<head_dim = 64>}

// -----

// expected-error@+1 {{expected integer value}}
func.func private @kernel() attributes {x.s = #attn.sizes<keys = up to 64>}

// -----

// Heads of a tile fill its panels.
// expected-error@+1 {{expected heads to divide panel, got 7 and 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, heads = 7>}

// -----

// expected-error@+1 {{expected heads to divide panel, got 0 and 24}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, heads = 0>}

// -----

// S16: parts are counted in one way or the other,
// expected-error@+1 {{expected splits or split_blocks, got both: 2 and 132}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = 2, split_blocks = 132>}

// -----

// expected-error@+1 {{expected splits from 0 to 1024 and split_blocks from 0 to 65536, got -1 and 0}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = -1>}

// -----

// of one consumer, which stores the state of its rows itself,
// expected-error@+1 {{expected one consumer, epilogue = direct and neither rescaling = on_overflow nor block_mask with splits}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>, splits = 2>}

// -----

// expected-error@+1 {{expected no splits for program dq}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, program = dq, splits = 2>}

// -----

// in a forward alone.
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32> {
  // expected-error@+1 {{op expected splits only with attn.forward [S16]}}
  %w = attn.weights %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, splits = 2>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %w : tensor<?x4x?x?xf32>
}

// -----

// All together are for launches of all sizes,
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected a schedule for launches of #attn.sizes<queries = from 100>}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = to 99>>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected a schedule for launches of #attn.sizes<queries = 0>}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = from 1>>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected a schedule for launches of #attn.sizes<queries = from 100, keys = from 512>}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = to 99>>,
                                        #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <keys = to 511>>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

// and each for some that none before it is for.
func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected each schedule to be for launches that no earlier one covers, got one with when = #attn.sizes<queries = 50 to 150, batch = 1>}}
  %o = attn.forward %q, %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = to 99>>,
                                        #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = from 99>>,
                                        #attn.schedule<query_tile = 96, key_tile = 64, panel = 24, when = <queries = 50 to 150, batch = 1>>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}

// -----

func.func @kernel(%q: tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> {
  // expected-error@+1 {{op expected each schedule to be for launches that no earlier one covers, got one with when = #attn.sizes<>}}
  %o = attn.weights %q, %q schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>,
                                    #attn.schedule<query_tile = 24, key_tile = 64, panel = 24>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x4x?x?xf32>
  return %q : tensor<?x?x4x16xf32>
}

// -----

// An overlap has warpgroups that compute, and buffers.
// expected-error@+1 {{expected counts from 1 to 64, and query_stages from 0, got consumers = 0, stages = 2, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 0, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Rings have buffers.
// expected-error@+1 {{expected counts from 1 to 64, and query_stages from 0, got consumers = 1, stages = 0, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 0, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// So has the ring of queries.
// expected-error@+1 {{expected counts from 1 to 64, and query_stages from 0, got consumers = 1, stages = 2, query_stages = -1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = -1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Registers go in eights,
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 28}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 28,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// from 24
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 16}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 16,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// to 240, for both roles.
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 248}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 248, epilogue = direct>}

// -----

// So do those of a reducer,
// expected-error@+1 {{expected multiples of 8 from 24 to 240 registers, got 28}}
func.func private @kernel() attributes {x.p = #attn.gradient_steps<reducer_registers = 28>}

// -----

// which has the product that might come first.
// expected-error@+1 {{expected no overlap = queries_first with reducer_registers: consumers have no such product}}
func.func private @kernel() attributes {x.p = #attn.gradient_steps<overlap = queries_first, reducer_registers = 72>}

// -----

// A tile holds the sums of a step or more.
// expected-error@+1 {{expected sums from 1 to 64, got 0}}
func.func private @kernel() attributes {x.p = #attn.gradient_steps<sums = 0>}

// -----

// Where there is none, keys are in shared memory for the consumers' own product.
// expected-error@+1 {{expected rows_in_registers with reducer_registers alone}}
func.func private @kernel() attributes {x.p = #attn.gradient_steps<rows_in_registers = true>}

// -----

// The producer gives registers away.
// expected-error@+1 {{expected producer_registers up to consumer_registers, got 80 and 40}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 80,
                                                        consumer_registers = 40, epilogue = direct>}

// -----

// No machine has room for so many.
// expected-error@+1 {{expected counts from 1 to 64, and query_stages from 0, got consumers = 1, stages = 65, query_stages = 1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 65, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct>}

// -----

// Room to grow is for weights that may.
// expected-error@+1 {{expected headroom with rescaling = on_overflow alone, got 6}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, rescaling = on_growth, epilogue = direct, headroom = 6>}

// -----

// Parts are written by threads that meet at barriers.
// expected-error@+2 {{struct parameter name: split_floats}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, split_floats = true>}

// -----

// The threads of a block share the rows of a copy evenly.
// expected-error@+1 {{expected consumers to be a power of two: warps share rows by powers of two, got 3}}
func.func private @kernel() attributes {x.p = #attn.warps<consumers = 3, stages = 2>}

// -----

// expected-error@+1 {{expected counts from 1 to 64, got consumers = 65, stages = 1}}
func.func private @kernel() attributes {x.p = #attn.warps<consumers = 65, stages = 1>}

// -----

// Warps take no maxima of the steps before,
// expected-error@+1 {{expected rescaling = each_step or on_growth: warps look at row maxima in every step}}
func.func private @kernel() attributes {x.p = #attn.warps<consumers = 1, stages = 1, rescaling = on_overflow>}

// -----

// and have nothing to exchange registers with.
// expected-error@+1 {{struct parameter name: consumer_registers}}
func.func private @kernel() attributes {x.p = #attn.warps<consumers = 1, stages = 1, consumer_registers = 240>}

// -----

// A schedule has a pipeline of one kind or the other.
// expected-error@+2 {{invalid kind of attribute specified}}
// expected-error@+1 {{failed to parse Attn_ScheduleAttr parameter 'pipeline'}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = 3>}

// -----

// Steps that overlap take buffers.
// expected-error@+1 {{expected 2 stages or more with overlap = sums_late, got 1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>}

// -----

// expected-error@+1 {{expected logit_stages from 0 to 64, got -1}}
func.func private @kernel() attributes {x.p = #attn.gradient_steps<logit_stages = -1>}

// -----

// Forward has no steps of gradients.
// expected-error@+1 {{expected no gradients in the pipeline of program forward}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 64, key_tile = 64, panel = 64,
    pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <logit_stages = 2>>>}

// -----

// Sections have a size, or are none.
// expected-error@+1 {{expected section_bytes not below 0, got -1}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, section_bytes = -1>}

// -----

// Only a producer fills rings of captured tiles.
// expected-error@+1 {{struct parameter name: capture_stages}}
func.func private @kernel() attributes {x.p = #attn.warps<consumers = 2, stages = 2, capture_stages = 2>}

// -----

// expected-error@+1 {{expected capture_stages from 0 to 64, got 65}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, capture_stages = 65>}

// -----

// A list is found by the number of a head and a batch entry.
// expected-error@+1 {{expected no batch_inside with block_mask: lists are in the order of heads}}
func.func private @kernel() attributes {x.p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                                        consumer_registers = 240, epilogue = direct, block_mask = true, batch_inside = true>}

// -----

// expected-error@+1 {{expected otherwise to be a schedule of the same program and heads for all sizes, without capture_stages and splits, got 3 : i64}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 64, key_tile = 64, panel = 64, otherwise = 3 : i64>}

// -----

// expected-error@+1 {{expected otherwise with capture_stages alone}}
func.func private @kernel() attributes {x.s = #attn.schedule<query_tile = 64, key_tile = 64, panel = 64,
    pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>,
    otherwise = #attn.schedule<query_tile = 64, key_tile = 32, panel = 64,
    pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>>>}
