// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of reducers, and of what is in a role that may not have it, one a chunk.

tile.program @without_field(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct>} {
  // expected-error@+1 {{expected one reducer of one warpgroup with the 'reducer_registers' of the pipeline, 0, got 1 with 72}}
  tile.role <reducer> warpgroups 1 registers 72 {
  }
  tile.return
}

// -----

tile.program @other_registers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  // expected-error@+1 {{expected one reducer of one warpgroup with the 'reducer_registers' of the pipeline, 72, got 1 with 168}}
  tile.role <reducer> warpgroups 1 registers 168 {
  }
  tile.return
}

// -----

tile.program @two_warpgroups(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  // expected-error@+1 {{expected one reducer of one warpgroup with the 'reducer_registers' of the pipeline, 72, got 2 with 72}}
  tile.role <reducer> warpgroups 2 registers 72 {
  }
  tile.return
}

// -----

tile.program @two_reducers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  tile.role <reducer> warpgroups 1 registers 72 {
  }
  // expected-error@+1 {{expected one reducer of one warpgroup with the 'reducer_registers' of the pipeline, 72, got 1 with 72}}
  tile.role <reducer> warpgroups 1 registers 72 {
  }
  tile.return
}

// -----

tile.program @shares(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  %m = arith.constant dense<0.0> : vector<64x64xbf16>
  %shared = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  tile.role <reducer> warpgroups 1 registers 72 {
    // expected-error@+1 {{expected to be in a consumer, not in a reducer}}
    tile.share %m to %shared : !tile.ring<2 x vector<64x64xbf16>> : vector<64x64xbf16>
  }
  tile.return
}

// -----

tile.program @takes_turns(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  tile.role <reducer> warpgroups 1 registers 72 {
    // expected-error@+1 {{expected to be in a consumer, not in a reducer}}
    tile.ping_pong <wait>
  }
  tile.return
}

// -----

tile.program @puts(%v: memref<?x?xbf16>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  %ring = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  tile.role <reducer> warpgroups 1 registers 72 {
    // expected-error@+1 {{expected to be in a producer, not in a reducer}}
    tile.put %ring, %v[%tile, %tile] axes [0, 1] below(%tile, %tile) : !tile.ring<2 x vector<64x64xbf16>>, memref<?x?xbf16>
  }
  tile.return
}

// -----

tile.program @nobody_gets(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct, gradients = <reducer_registers = 72>>} {
  %m = arith.constant dense<0.0> : vector<64x64xbf16>
  // expected-error@+1 {{expected a role that gets what consumers share}}
  %shared = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  tile.role <consumer> warpgroups 1 registers 240 {
    tile.share %m to %shared : !tile.ring<2 x vector<64x64xbf16>> : vector<64x64xbf16>
    tile.post %shared : !tile.ring<2 x vector<64x64xbf16>>
  }
  tile.return
}
