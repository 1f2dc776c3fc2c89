// Schedules of a spec's own: threads of a block and their registers, octaves that weights may start below 1 by, and parts of f32.

// RUN: attnc-opt %s --attn-select-schedule --split-input-file --verify-diagnostics -o %t

// A block has 1024 threads. One warpgroup loads.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @threads(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected at most 7 consumers, since a block has up to 1024 threads, got 8}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 512, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 8, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 0>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// f16 has few octaves below 1.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @half(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
    // expected-error@+1 {{expected headroom up to 8 for f16, got 9}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 9>>)
      : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @half_fits(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 8>>)
      : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }
}

// -----

// Sinks may leave logits little weight, which has no digits to spare.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @sinks(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %sinks: tensor<4x1xf32>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected headroom up to 0 with sinks, got 1}}
    %o = attn.forward %q, %k, %v sinks(%sinks : tensor<4x1xf32>)
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 1>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// Under dropout, nothing takes back what rounding of grown weights loses.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @dropout(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %seed: i64) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected headroom up to 0 for bf16 under dropout, got 40}}
    %o = attn.forward %q, %k, %v dropout(0.5, %seed)
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 40>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @dropout_of_half(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>, %seed: i64) -> tensor<?x?x4x64xf16> {
    %o = attn.forward %q, %k, %v dropout(0.5, %seed)
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 80, rescaling = on_overflow, epilogue = direct, headroom = 6>>)
      : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }
}

// -----

// Three warpgroups start with 168 registers a thread, in eights: eight of the multiprocessor's 512 are nobody's.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @eights(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{the schedule needs 65536 registers (128 * (32 + 2 * 240)), but sm_90a has 64512 for 384 threads}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 32, consumer_registers = 240, epilogue = direct>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @eights_fit(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// All columns of a product are in registers at once.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @logits(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{the schedule's logits need 130 registers of a thread (208 / 2 + 26), but sm_90a has 128 for each of 512 threads}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 192, key_tile = 208, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 152, epilogue = direct>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// So are those of a step's logits while the product of the step before adds to the outputs.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @in_flight(%q: tensor<?x?x4x96xbf16>, %k: tensor<?x?x4x96xbf16>, %v: tensor<?x?x4x96xbf16>) -> tensor<?x?x4x96xbf16> {
    // expected-error@+1 {{the schedule's logits and outputs need 138 registers of a thread ((128 + 96) / 2 + 26), but its consumers have 136}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 32, consumer_registers = 136, epilogue = direct>>)
      : (tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>, tensor<?x?x4x96xbf16>) -> tensor<?x?x4x96xbf16>
    return %o : tensor<?x?x4x96xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @outputs(%q: tensor<?x?x4x200xbf16>, %k: tensor<?x?x4x200xbf16>, %v: tensor<?x?x4x200xbf16>) -> tensor<?x?x4x200xbf16> {
    // expected-error@+1 {{the schedule's outputs need 130 registers of a thread (200 / 2 + 30), but sm_90a has 128 for each of 512 threads}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 192, key_tile = 16, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 152, epilogue = direct>>)
      : (tensor<?x?x4x200xbf16>, tensor<?x?x4x200xbf16>, tensor<?x?x4x200xbf16>) -> tensor<?x?x4x200xbf16>
    return %o : tensor<?x?x4x200xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  func.func @columns_fit(%q: tensor<?x?x4x192xbf16>, %k: tensor<?x?x4x192xbf16>, %v: tensor<?x?x4x192xbf16>) -> tensor<?x?x4x192xbf16> {
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 192, key_tile = 16, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 1, query_stages = 1, producer_registers = 24, consumer_registers = 152, epilogue = direct>>)
      : (tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>) -> tensor<?x?x4x192xbf16>
    return %o : tensor<?x?x4x192xbf16>
  }
}

// -----

// Parts are those of f32 whose products are exact.

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @narrow(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected split_floats for exact f32 alone}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1, split_floats = true>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @rounded(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> attributes {attn.tf32} {
    // expected-error@+1 {{expected split_floats for exact f32 alone}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1, split_floats = true>>)
      : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
    return %o : tensor<?x?x4x64xf32>
  }
}

// -----

// What parts take of shared memory stands in the sum.

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @large(%q: tensor<?x?x4x256xf32>, %k: tensor<?x?x4x256xf32>, %v: tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32> {
    // expected-error@+1 {{the schedule needs 230400 bytes of shared memory (1 * 65536 (queries) + 1 * 32768 (keys) + 1 * 32768 (values) + 49152 (parts of keys) + 49152 (parts of values)}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1, split_floats = true>>)
      : (tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>, tensor<?x?x4x256xf32>) -> tensor<?x?x4x256xf32>
    return %o : tensor<?x?x4x256xf32>
  }
}

// -----

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  func.func @gradients(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %o: tensor<?x?x4x64xbf16>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x64xbf16>) -> (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) {
    // expected-error@+1 {{expected split_floats for exact f32 alone, in programs dq, dkdv, dk and dv}}
    %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
      schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1, split_floats = true>, program = dq>,
               #attn.schedule<query_tile = 32, key_tile = 64, panel = 64, pipeline = #attn.warps<consumers = 1, stages = 1>, program = dkdv>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x4x?xf32>, tensor<?x?x4x64xbf16>) -> (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>)
    return %dq, %dk, %dv : tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>
  }
}

// -----

// Nothing is captured that a ring could bring.
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true, early_start = true>} {
  func.func @nothing_captured(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected capture_stages = 0: the score reads no tile of 16 bits by query and key, along whose last dimension no packed sequences lie}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, by_row = true, epilogue = staged, capture_stages = 2>>)
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// What a consumer leaves out of keys it would have to leave out of captured tiles.
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true, early_start = true>} {
  func.func @own_keys(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %bias: tensor<?x4x?x?xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{expected neither own_keys, block_mask, splits nor several heads with capture_stages}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, own_keys = true, by_row = true, epilogue = staged, capture_stages = 2>>)
      score (%s, %b, %h, %i, %j) {
        %l = attn.load %bias[%b, %h, %i, %j] : tensor<?x4x?x?xbf16>
        %f = arith.extf %l : bf16 to f32
        %x = arith.addf %s, %f : f32
        attn.yield %x : f32
      }
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}

// -----

// Rings of captured tiles have to find room.
module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true, early_start = true>} {
  func.func @too_many(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %bias: tensor<?x4x?x?xbf16>) -> tensor<?x?x4x64xbf16> {
    // expected-error@+1 {{20 * 16384 (captured tiles) + 1 * 16384 (output)}}
    %o = attn.forward %q, %k, %v
      schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, by_row = true, epilogue = staged, capture_stages = 20>>)
      score (%s, %b, %h, %i, %j) {
        %l = attn.load %bias[%b, %h, %i, %j] : tensor<?x4x?x?xbf16>
        %f = arith.extf %l : bf16 to f32
        %x = arith.addf %s, %f : f32
        attn.yield %x : f32
      }
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
}
