// Schedules of all GPUs: kernels by warps, whose threads copy operands themselves.
//
// Measured on an H100, and held against the sizes of an A100 (docs/rationale/warps.md).
// 'attnc schedules' prints this file; docs/tuning.md says how to have entries of one's own.

attn.schedule_table <
 staging = cp_async,
 split_queries = 16,
 packed_queries = 32,
 // What ptxas was seen to need.
 costs = <narrow_tile = 0.75, tile = 1.75, narrow_vector = 0.25, vector = 0.5, function = 1.0, dropout = 0.6>,
 // 'registers' are those of a thread for outputs, logits and what elements take; operands and addresses come on top.
 entries = [
  // Many queries: 32 rows a warp, whose products load each right operand for two. Functions keep their unit busy
  // whatever products load, and gain from more warps. In steps that rescale many outputs in a branch, row vectors would
  // be on the stack, but for masks' shorter loops.
  <kernels = <bits = 16, max_value_dim = 64, functions = false>,
   steps = [128 x 1, 64 x 1, 48 x 1, 32 x 1], registers = 206, blocks = 2,
   schedule = <query_tile = 128, key_tile = 128, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1, rescaling = on_growth>>>,
  <kernels = <bits = 16, min_value_dim = 65, masked = true>,
   steps = [128 x 1, 64 x 1, 48 x 1, 32 x 1], registers = 206, blocks = 2,
   schedule = <query_tile = 128, key_tile = 128, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1, rescaling = on_growth>>>,
  <kernels = <bits = 16, min_value_dim = 65, masked = false>,
   steps = [128 x 1, 64 x 1, 48 x 1, 32 x 1], registers = 206, blocks = 2,
   schedule = <query_tile = 128, key_tile = 128, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1>>>,
  // Of f32 the parts of operands take registers as well.
  <kernels = <bits = 32, max_value_dim = 64, functions = false>,
   steps = [32 x 1, 16 x 1], registers = 150, blocks = 2,
   schedule = <query_tile = 128, key_tile = 32, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1>>>,
  <kernels = <bits = 32, min_value_dim = 65>,
   steps = [32 x 1, 16 x 1], registers = 150, blocks = 2,
   schedule = <query_tile = 128, key_tile = 32, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1, rescaling = on_growth>>>,
  // Warps of both warpgroups have the same 32 rows and half of the columns each, so that what they load serves more
  // products, which run while weights are computed.
  <kernels = <bits = 16, min_value_dim = 256, max_value_dim = 256>,
   steps = [64 x 1, 32 x 1], registers = 176,
   schedule = <query_tile = 128, key_tile = 64, panel = 128,
               pipeline = #attn.warps<consumers = 2, stages = 1, weights_ahead = true>>>,
  // Two warpgroups share keys and values.
  <kernels = <bits = 16, min_value_dim = 193>,
   steps = [96 x 1, 64 x 1], registers = 176,
   schedule = <query_tile = 128, key_tile = 96, panel = 64,
               pipeline = #attn.warps<consumers = 2, stages = 1>>>,
  <kernels = <bits = 32, min_value_dim = 193>,
   registers = 136,
   schedule = <query_tile = 128, key_tile = 16, panel = 64,
               pipeline = #attn.warps<consumers = 2, stages = 1, rescaling = on_growth>>>,
  // One warpgroup a block: two blocks that share a multiprocessor hide what copies take better than more stages do.
  // Products of f32 take so long that steps of any length will do. Many outputs are rescaled only where row maxima
  // grow by much.
  <kernels = <bits = 16, max_value_dim = 191>,
   steps = [64 x 1, 32 x 2, 32 x 1], registers = 160, blocks = 2,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>>>,
  <kernels = <bits = 16>,
   steps = [64 x 1, 32 x 2, 32 x 1], registers = 160, blocks = 2,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1, rescaling = on_growth>>>,
  <kernels = <bits = 32, max_value_dim = 191>,
   steps = [64 x 1, 32 x 2, 32 x 1, 16 x 2, 16 x 1], registers = 136, blocks = 2,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>>>,
  <kernels = <bits = 32>,
   steps = [64 x 1, 32 x 2, 32 x 1, 16 x 2, 16 x 1], registers = 136, blocks = 2,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1, rescaling = on_growth>>>,
  // A block that has a multiprocessor alone.
  <kernels = <bits = 16, max_value_dim = 191>,
   steps = [64 x 2, 32 x 2, 16 x 2, 64 x 1, 32 x 1, 16 x 1], registers = 160,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 2>>>,
  <kernels = <bits = 16>,
   steps = [64 x 2, 32 x 2, 16 x 2, 64 x 1, 32 x 1, 16 x 1], registers = 160,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 2, rescaling = on_growth>>>,
  <kernels = <bits = 32, max_value_dim = 191>,
   steps = [64 x 2, 32 x 2, 16 x 2, 64 x 1, 32 x 1, 16 x 1], registers = 136,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 2>>>,
  <kernels = <bits = 32>,
   steps = [64 x 2, 32 x 2, 16 x 2, 64 x 1, 32 x 1, 16 x 1], registers = 136,
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 2, rescaling = on_growth>>>,

  // Gradients. 'registers' are those for sums, logits, their gradients, weights, and what elements take.

  // All three gradients in one program. At 64 each warp has sixteen keys, which it holds in registers; of larger head dims
  // sums alone would take all registers, and warps of both warpgroups have the same keys and half of the columns each, so
  // that what they load serves more products.
  <kernels = <bits = 16, max_dim = 64>,
   steps = [64 x 2], registers = 224,
   schedule = <query_tile = 64, key_tile = 128, panel = 64,
               pipeline = #attn.warps<consumers = 2, stages = 2, rows_in_registers = true>, program = dqdkdv>>,
  <kernels = <bits = 16, max_dim = 128>,
   steps = [64 x 2], registers = 224,
   schedule = <query_tile = 64, key_tile = 128, panel = 128,
               pipeline = #attn.warps<consumers = 2, stages = 2>, program = dqdkdv>>,
  <kernels = <bits = 16>,
   steps = [64 x 1], registers = 224,
   schedule = <query_tile = 64, key_tile = 64, panel = 128,
               pipeline = #attn.warps<consumers = 2, stages = 1>, program = dqdkdv>>,
  <kernels = <programs = [dq, dkdv, dk, dv], bits = 16>,
   steps = [64 x 1, 32 x 1], registers = 224, blocks = 2,
   schedule = <query_tile = 128, key_tile = 64, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = dq>>,
  // Parts of operands, and weights that are not narrowed, come on top.
  <kernels = <programs = [dq, dkdv, dk, dv], bits = 32, max_dim = 64>,
   steps = [32 x 1, 16 x 1], registers = 170, blocks = 2,
   schedule = <query_tile = 128, key_tile = 32, panel = 128,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = dq>>,
  // A thread's registers have room for 32 columns in addition to sums of 64 columns or more.
  <kernels = <programs = [dq, dkdv, dk, dv, dbias, dbuckets, dscattered], max_dim = 63>,
   steps = [64 x 1, 32 x 1, 16 x 1],
   schedule = <query_tile = 64, key_tile = 64, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = dq>>,
  <kernels = <programs = [dq, dkdv, dk, dv, dbias, dbuckets, dscattered]>,
   steps = [32 x 1, 16 x 1],
   schedule = <query_tile = 64, key_tile = 32, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = dq>>,
  <kernels = <programs = [delta, convert_dq]>,
   schedule = <query_tile = 64, key_tile = 32, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = delta>>,
  // Sinks and sums are few, and take no products: a step takes as long as its loads are under way.
  <kernels = <programs = [dsums, dsinks, clear_scattered]>,
   schedule = <query_tile = 64, key_tile = 128, panel = 64,
               pipeline = #attn.warps<consumers = 1, stages = 1>, program = dsums>>
 ]>
