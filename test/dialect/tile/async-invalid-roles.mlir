// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of what GPUs add, one a chunk: roles, how they take tiles, and how they wait.

func.func @role_outside() {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  tile.role <consumer> warpgroups 1 registers 240 {
  }
  return
}

// -----

tile.program @no_warpgroups(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected a warpgroup or more}}
  tile.role <consumer> warpgroups 0 registers 240 {
  }
  tile.return
}

// -----

tile.program @warp_of_consumer(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected warps 0 to 3 of a producer's only warpgroup}}
  tile.role <consumer> warpgroups 1 registers 240 warp 0 {
  }
  tile.return
}

// -----

tile.program @fifth_warp(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+1 {{op expected warps 0 to 3 of a producer's only warpgroup}}
  tile.role <producer> warpgroups 1 registers 40 warp 4 {
  }
  tile.return
}

// -----

tile.program @warp_without_the_one_before(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.role <producer> warpgroups 1 registers 40 {
  }
  // expected-error@+1 {{op expected warp 0 before it, with as many registers}}
  tile.role <producer> warpgroups 1 registers 40 warp 1 {
  }
  tile.return
}

// -----

tile.program @warps_with_other_registers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.role <producer> warpgroups 1 registers 40 warp 0 {
  }
  // expected-error@+1 {{op expected warp 0 before it, with as many registers}}
  tile.role <producer> warpgroups 1 registers 32 warp 1 {
  }
  tile.return
}

// -----

tile.program @role_kind(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  // expected-error@+2 {{expected ::attnc::tile::RoleKind to be one of: producer, consumer}}
  // expected-error@+1 {{failed to parse}}
  tile.role <both> warpgroups 1 registers 240 {
  }
  tile.return
}

// -----

func.func @each_without_number() {
  // expected-error@+1 {{op expected a region of one argument, the number of the tile, an index}}
  tile.persistent {
  }
  return
}

// -----

func.func @each_type() {
  // expected-error@+1 {{op expected a region of one argument, the number of the tile, an index}}
  tile.persistent {
  ^bb0(%n: i32):
  }
  return
}

// -----

func.func @each_from_tiles(%ring: !tile.ring<2 x vector<8x16xf16>>) {
  // expected-error@+1 {{op expected a ring of indices, got '!tile.ring<2 x vector<8x16xf16>>'}}
  tile.persistent from %ring : !tile.ring<2 x vector<8x16xf16>> {
  ^bb0(%n: index):
  }
  return
}

// -----

func.func @ping_pong_kind() {
  // expected-error@+2 {{expected ::attnc::tile::PingPongKind to be one of: wait, arrive}}
  // expected-error@+1 {{failed to parse}}
  tile.ping_pong <skip>
  return
}

// -----

tile.program @sync_of_role(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  tile.role <consumer> warpgroups 1 registers 240 {
    // expected-error@+1 {{op expected a program without roles, whose threads wait for rings}}
    tile.sync
  }
  tile.return
}

// -----

tile.program @more_consumers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 160, epilogue = direct>} {
  tile.role <producer> warpgroups 1 registers 24 {
  }
  tile.role <consumer> warpgroups 1 registers 160 {
  }
  // expected-error@+1 {{op expected 2 warpgroups of consumers in all, as the pipeline has, got 3}}
  tile.role <consumer> warpgroups 2 registers 160 {
  }
  tile.return
}

// -----

tile.program @producer_registers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct>} {
  // expected-error@+1 {{op expected the 'producer_registers' of the pipeline, 24, got 40}}
  tile.role <producer> warpgroups 1 registers 40 {
  }
  tile.return
}

// -----

tile.program @consumer_registers(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                                       epilogue = direct>} {
  tile.role <producer> warpgroups 1 registers 24 {
  }
  // expected-error@+1 {{op expected the 'consumer_registers' of the pipeline, 240, got 232}}
  tile.role <consumer> warpgroups 1 registers 232 {
  }
  tile.return
}
