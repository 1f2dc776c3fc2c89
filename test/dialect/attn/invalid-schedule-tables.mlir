// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected bits to be 16 or 32, got 8}}
#k = #attn.kernels<bits = 8>

// -----

// expected-error@+1 {{expected min_dim from 0 to max_dim, got 65 and 64}}
#k = #attn.kernels<min_dim = 65, max_dim = 64>

// -----

// expected-error@+1 {{expected min_value_dim from 0 to max_value_dim, got -1 and 64}}
#k = #attn.kernels<min_value_dim = -1, max_value_dim = 64>

// -----

// expected-error@+2 {{expected one of [plain, listed, register_bound, paged, captured] for what decides about the steps of a kernel, got: strange}}
// expected-error@+1 {{failed to parse Attn_KernelsAttr parameter 'kinds'}}
#k = #attn.kernels<kinds = [plain, strange]>

// -----

// expected-error@+1 {{expected the schedule of an entry to have a pipeline}}
#e = #attn.entry<schedule = <query_tile = 64, key_tile = 64, panel = 64>>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected positive registers and blocks, got 0 and 1}}
#e = #attn.entry<registers = 0, schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p>>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected neither heads, splits nor otherwise in an entry: what the kernel asks for is filled in}}
#e = #attn.entry<schedule = <query_tile = 64, key_tile = 64, panel = 64, heads = 2, pipeline = #p>>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected steps of one column and one stage or more, got 0 x 2}}
#e = #attn.entry<steps = [64 x 2, 0 x 2], schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p>>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected the first step to be the schedule's own, 64 x 2, got 128 x 2}}
#e = #attn.entry<steps = [128 x 2, 64 x 2], schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p>>

// -----

// A step must suit the pipeline.
#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct, gradients = <overlap = sums_late>>
// expected-error@+1 {{expected 2 stages or more with overlap = sums_late, got 1}}
#e = #attn.entry<steps = [64 x 2, 64 x 1], schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p, program = dq>>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected the schedule's program, forward, to be one of programs}}
#e = #attn.entry<kernels = <programs = [dq]>, schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p>>

// -----

// expected-error@+1 {{expected costs from 0 to 256 registers, got -1.000000e+00}}
#c = #attn.register_costs<narrow_tile = -1.0, tile = 1.75, narrow_vector = 0.25, vector = 0.5, function = 1.0, dropout = 0.6>

// -----

// expected-error@+1 {{expected archs to be names of architectures, got [90 : i32]}}
attn.schedule_table <archs = [90 : i32], entries = []>

// -----

// expected-error@+1 {{expected split_queries, packed_queries and window_registers not below 0, got -1, 0 and 0}}
attn.schedule_table <split_queries = -1, entries = []>

// -----

#p = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// expected-error@+1 {{expected schedules with the table's staging, cp_async, got #attn.schedule<}}
attn.schedule_table <staging = cp_async, entries = [<schedule = <query_tile = 64, key_tile = 64, panel = 64, pipeline = #p>>]>

// -----

func.func @inside() {
  // expected-error@+1 {{'attn.schedule_table' op expects parent op 'builtin.module'}}
  attn.schedule_table <entries = []>
  return
}
