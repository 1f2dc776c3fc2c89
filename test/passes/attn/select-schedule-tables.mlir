// RUN: attnc-opt %s --attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// A function's own tables are asked before those of its target.

#sm90 = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#own = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 40, consumer_registers = 232, rescaling = on_overflow, ping_pong = true, epilogue = direct>

module attributes {attn.target = #sm90} {
  // Launches have the first entry that is for their sizes: of 301 to 500 queries its own, others the target's. What
  // follows from the kernel and the machine is filled in, and ping-pong left out where a window leaves few steps.
  // CHECK-LABEL: func.func @some(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 96, panel = 64, when = <queries = 301 to 500>, pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 40, consumer_registers = 232, rescaling = on_overflow, epilogue = direct, section_bytes = 31457280, headroom = 60>>
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = to 2048>, pipeline = #attn.roles<consumers = 2, stages = 4,
  // CHECK-SAME: #attn.schedule<query_tile = 192, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 3,
  func.func @some(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <kernels = <window = true>, schedule = <query_tile = 128, key_tile = 96, panel = 64, when = <queries = 301 to 500>, pipeline = #own>>]>]} {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.window %i, %j left(100) right(0)
        attn.yield %keep : i1
      }
      bounds (%b, %h, %first, %last) {
        %c1 = arith.constant 1 : index
        attn.yield %first, %c1, %c1, %last : index, index, index, index
      }
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // Conditions are kept as entries have them. What no launch is left for is left out, as the target's are after the
  // third, and so is the second, which is for other numbers of heads.
  // CHECK-LABEL: func.func @by_keys(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 96, panel = 64, when = <queries = 17 to 500, keys = from 4096, batch = to 4>, pipeline =
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 40
  // CHECK-NOT: #attn.schedule<
  // CHECK: : (tensor
  func.func @by_keys(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <schedule = <query_tile = 128, key_tile = 96, panel = 64, when = <queries = 17 to 500, keys = from 4096, batch = to 4>, pipeline = #own>>,
        <schedule = <query_tile = 128, key_tile = 80, panel = 64, when = <query_heads = from 5>, pipeline = #own>>,
        <schedule = <query_tile = 128, key_tile = 64, panel = 64, pipeline = #own>>]>]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // Where tiles hold several heads, or parts of keys, each has the first entry for its sizes all the same.
  // CHECK-LABEL: func.func @by_keys_of_group(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 96, panel = 64, when = <queries = to 16, keys = to 999>, heads = 4, pipeline = #attn.roles<{{[^>]*}}>, split_blocks = 132>
  // CHECK-SAME: #attn.schedule<query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 16>, heads = 4, pipeline = #attn.roles<{{[^>]*}}>, split_blocks = 132>
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 96, panel = 64, when = <queries = to 64, keys = to 999>, heads = 4, pipeline = #attn.roles<{{[^>]*}}>>
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = to 64>, heads = 4, pipeline = #attn.roles<{{[^>]*}}>>
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 96, panel = 64, when = <keys = to 999>, pipeline = #attn.roles<{{[^>]*}}>>
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<{{[^>]*}}>>)
  func.func @by_keys_of_group(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>) -> tensor<?x?x8x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <schedule = <query_tile = 128, key_tile = 96, panel = 64, when = <keys = to 999>, pipeline = #own>>]>]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x?x8x128xbf16>
    return %o : tensor<?x?x8x128xbf16>
  }

  // Gradients have such entries as well, of each program.
  // CHECK-LABEL: func.func @by_keys_of_gradients(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 96, panel = 64, when = <keys = from 4096>, pipeline = #attn.roles<{{.*}}>, program = dq>, #attn.schedule<query_tile = 128, key_tile = {{[0-9]+}}, panel = 64, pipeline = #attn.roles<{{.*}}>, program = dq>, #attn.schedule<query_tile = {{[0-9]+}}, key_tile = 128, panel = 64, pipeline = #attn.roles<{{.*}}>, program = dkdv>)
  func.func @by_keys_of_gradients(%q: tensor<?x?x4x96xbf16>, %k: tensor<?x?x4x96xbf16>, %v: tensor<?x?x4x96xbf16>, %o: tensor<?x?x4x96xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x96xbf16>) -> (tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>)
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <schedule = <query_tile = 64, key_tile = 96, panel = 64, when = <keys = from 4096>,
                     pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                            epilogue = direct>, program = dq>>]>]} {
    %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
      : (tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x4x?xf32>, tensor<?x?x4x96xbf16>) -> (tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>)
    return %dq, %dk, %dv : tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>
  }

  // What an entry asks for and the kernel has not leaves it to others: another architecture, a mask, narrower heads, wider
  // ones, values, elements, another kind, another program.
  // CHECK-LABEL: func.func @others(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2,
  // CHECK-NOT: #attn.schedule<
  // CHECK: : (tensor
  func.func @others(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [
        #attn.schedule_table<archs = ["sm_90b"], entries = [<schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>]>,
        #attn.schedule_table<entries = [
          <kernels = <masked = true>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <functions = true>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <max_dim = 127>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <min_dim = 129>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <max_value_dim = 127>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <bits = 32>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <kinds = [register_bound, listed]>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own>>,
          <kernels = <programs = [dq, dkdv]>, schedule = <query_tile = 128, key_tile = 96, panel = 64, pipeline = #own, program = dq>>]>]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // The first step that registers have room for: an output of 128 columns takes 64, logits and weights of 96 keys 72.
  // CHECK-LABEL: func.func @steps(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 96, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4,
  func.func @steps(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <steps = [112 x 3, 96 x 4, 64 x 4], registers = 136, schedule = <query_tile = 128, key_tile = 112, panel = 64, pipeline = #own>>]>]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // Where tables say that dropout costs nothing, elements take no registers, and the kernel is a plain one.
  // CHECK-LABEL: func.func @costs(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4,
  func.func @costs(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>, %seed: i64) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<
        costs = <narrow_tile = 0.0, tile = 0.0, narrow_vector = 0.0, vector = 0.0, function = 0.0, dropout = 0.0>, entries = []>]} {
    %o = attn.forward %q, %k, %v dropout(0.5, %seed)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
  // CHECK-LABEL: func.func @costs_of_target(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2,
  func.func @costs_of_target(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>, %seed: i64) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v dropout(0.5, %seed)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// An architecture that no table knows of has kernels by warps, which all have, though it has what roles need.
#new = #attn.gpu<arch = "sm_99a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
module attributes {attn.target = #new} {
  // CHECK-LABEL: func.func @unknown(
  // CHECK: schedule({{.*}} pipeline = #attn.warps<
  func.func @unknown(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Kernels by warps have entries for their sizes as well; launches that none has which finds room have the last.
#sm80 = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #sm80} {
  // CHECK-LABEL: func.func @warps(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 16, panel = 64, when = <keys = 100 to 999>, pipeline = #attn.warps<
  // CHECK-SAME: #attn.schedule<query_tile = 128, key_tile = {{[0-9]+}}, panel = 64, when = <batch = from 8>, pipeline = #attn.warps<consumers = 2
  // CHECK-SAME: #attn.schedule<query_tile = {{[0-9]+}}, key_tile = {{[0-9]+}}, panel = {{[0-9]+}}, pipeline = #attn.warps<{{[^>]*}}>>)
  func.func @warps(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<staging = cp_async, entries = [
        <schedule = <query_tile = 64, key_tile = 16, panel = 64, when = <keys = 100 to 999>, pipeline = #attn.warps<consumers = 1, stages = 1>>>,
        <schedule = <query_tile = 128, key_tile = 32, panel = 64, when = <batch = from 8>, pipeline = #attn.warps<consumers = 2, stages = 1>>>]>]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// What comes of own entries is checked as schedules of a spec's own are.
#sm90 = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
module attributes {attn.target = #sm90} {
  func.func @large(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [#attn.schedule_table<entries = [
        <schedule = <query_tile = 128, key_tile = 512, panel = 64,
                     pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 1, producer_registers = 40, consumer_registers = 232, epilogue = direct>>>]>]} {
    // expected-error@+1 {{expected key_tile to be a multiple of 16 up to 256, got 512}}
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // expected-error@+1 {{expected attn.schedule_tables to be an array of #attn.schedule_table<...>}}
  func.func @no_table(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
      attributes {attn.schedule_tables = [7 : i32]} {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}
