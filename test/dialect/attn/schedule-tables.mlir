// RUN: attnc-opt %s | FileCheck %s
// RUN: attnc-opt %s | attnc-opt | FileCheck %s

// Tables of schedules: all that an entry may ask for, and what is left out where it asks for nothing.

// CHECK:      attn.schedule_table <archs = ["sm_90a"], split_queries = 16, packed_queries = 64, window_registers = 10,
// CHECK-SAME: costs = <narrow_tile = 0.75, tile = 1.75, narrow_vector = 0.25, vector = 0.5, function = 1.0, dropout = 0.6>, entries = [
// CHECK-NEXT: <kernels = <kinds = [register_bound, captured], programs = [dq, dkdv], bits = 16, min_dim = 8, max_dim = 64, min_value_dim = 16, max_value_dim = 128, masked = true, window = false, functions = true>, steps = [128 x 2, 64 x 4 x 2], registers = 200, blocks = 2, schedule = <query_tile = 128, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>, program = dq>>,
// CHECK-NEXT: <schedule = <query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 256>, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>>>
// CHECK-NEXT: ]>
attn.schedule_table <
  archs = ["sm_90a"], staging = tma, split_queries = 16, packed_queries = 64, window_registers = 10,
  costs = <narrow_tile = 0.75, tile = 1.75, narrow_vector = 0.25, vector = 0.5, function = 1.0, dropout = 0.6>,
  entries = [
    <kernels = <kinds = [register_bound, captured], programs = [dq, dkdv], bits = 16, min_dim = 8, max_dim = 64,
                min_value_dim = 16, max_value_dim = 128, masked = true, window = false, functions = true>,
     steps = [128 x 2, 64 x 4 x 2], registers = 200, blocks = 2,
     schedule = <query_tile = 128, key_tile = 128, panel = 64, program = dq,
                 pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                             consumer_registers = 240, epilogue = direct>>>,
    <schedule = <query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 256>,
                 pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                             consumer_registers = 240, epilogue = direct>>>
  ]>

// CHECK: attn.schedule_table <staging = cp_async, entries = [
attn.schedule_table <staging = cp_async, entries = [
  <schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>>>]>
