// RUN: attnc-opt %s --attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// A spec's own schedules on GPUs: what fits is kept, and what does not is refused.

// A schedule of the spec's own that fits is kept.

// CHECK-LABEL: func.func @kept(
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @kept(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 112, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240, epilogue = staged>>)
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 112, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// So is the fitting one of several, without its range.

// CHECK-LABEL: func.func @fitting(
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @fitting(%q: tensor<?x100x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x100x4x128xbf16> {
    // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 112, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240, epilogue = staged>>)
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 32, when = <queries = to 99>>,
               #attn.schedule<query_tile = 128, key_tile = 112, panel = 64, when = <queries = from 100>,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x100x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x100x4x128xbf16>
    return %o : tensor<?x100x4x128xbf16>
  }
}

// -----

// One for a CPU.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @no_pipeline(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected the schedule to have a pipeline for sm_90a}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Products of warpgroups are not exact enough for f32.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @wide(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected #attn.warps on sm_90a for f32}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// Neither boxes nor those products are there before Hopper.

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 71, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @before(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected #attn.warps on sm_80}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// A consumer has 64 rows.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @panel(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected query_tile to be consumers * panel, and panel to be 64 rows, or 128 with #attn.warps, got 128, 2 and 32}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 32,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Consumers have all rows.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @rows(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected query_tile to be consumers * panel, and panel to be 64 rows, or 128 with #attn.warps, got 128, 3 and 64}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64,
                              pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 160, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Products take keys in sixteens,

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @keys(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected key_tile to be a multiple of 16 up to 256, got 72}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 72, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// 256 at most.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @many_keys(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected key_tile to be a multiple of 16 up to 256, got 272}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 272, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Registers that a multiprocessor does not have.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @registers(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{the schedule needs 98304 registers (128 * (48 + 3 * 240)), but sm_90a has 65536}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 192, key_tile = 128, panel = 64,
                              pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 48,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Shared memory that a block cannot have.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @shared(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{the schedule needs 295936 bytes of shared memory (2 * 32768 (queries) + 3 * 32768 (keys) + 3 * 32768 (values) + 1 * 32768 (output) + 1024 (barriers)), but sm_90a has 232448}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 3, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Keys wider than values; the buffer of the output has 64 columns.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @shared_mla(%q: tensor<?x?x4x192xbf16>, %k: tensor<?x?x4x192xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{the schedule needs 279552 bytes of shared memory (2 * 49152 (queries) + 2 * 49152 (keys) + 2 * 32768 (values) + 1 * 16384 (output) + 1024 (barriers)), but sm_90a has 232448}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 240, epilogue = slabs>>)
      : (tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// None for the output.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @shared_direct(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16> {
    // expected-error@+1 {{the schedule needs 328704 bytes of shared memory (1 * 65536 (queries) + 2 * 65536 (keys) + 2 * 65536 (values) + 1024 (barriers)), but sm_90a has 232448}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>>)
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16>
    return %o : tensor<?x?x4x256xbf16>
  }
}

// -----

// Warps of warpgroups' products have 16 rows.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @wide_panel(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    // expected-error@+1 {{expected query_tile to be consumers * panel, and panel to be 64 rows, or 128 with #attn.warps, got 128, 1 and 128}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 128,
                              pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 2, producer_registers = 24,
                                          consumer_registers = 160, epilogue = staged>>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
}

// -----

// Warps with the same rows have a power of two of the columns each.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  func.func @uneven(%q: tensor<?x?x4x192xbf16>, %k: tensor<?x?x4x192xbf16>, %v: tensor<?x?x4x192xbf16>) -> tensor<?x?x4x192xbf16> {
    // expected-error@+1 {{expected up to 4 warps with the same rows, and for each of them a power of two of keys and of values' columns, 16 or more, got 2 warps, 64 keys and 192 columns}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 128, pipeline = #attn.warps<consumers = 2, stages = 1>>)
      : (tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>) -> tensor<?x?x4x192xbf16>
    return %o : tensor<?x?x4x192xbf16>
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  func.func @wide(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
    // expected-error@+1 {{expected attn.forward of 16 bits without splits where all consumers have the same rows}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 2, stages = 1>>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// Weights are ahead only where they go through shared memory.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  func.func @ahead(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected weights_ahead of #attn.warps where all consumers have the rows of one panel}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 2, stages = 1, weights_ahead = true>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// What they share takes room as well.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
module attributes {attn.target = #gpu} {
  func.func @room(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16> {
    // expected-error@+1 {{the schedule needs 231424 bytes of shared memory (1 * 65536 (queries) + 1 * 65536 (keys) + 1 * 65536 (values) + 1 * 32768 (weights) + 1024 (rows) + 1024 (barriers)), but sm_80 has 166912}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 128, pipeline = #attn.warps<consumers = 2, stages = 1>>)
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16>
    return %o : tensor<?x?x4x256xbf16>
  }
}
