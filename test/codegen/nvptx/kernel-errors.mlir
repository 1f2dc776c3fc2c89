// What a program says that no kernel can do is an error at its operation.

// RUN: attnc-opt %s --tile-to-nvvm -split-input-file -verify-diagnostics -o %t

// An operation that has no meaning.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @unknown(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%n: index):
        %more = arith.constant true
        // expected-error@+1 {{has no meaning in a kernel for a GPU}}
        scf.while : () -> () {
          scf.condition(%more)
        } do {
          scf.yield
        }
      }
    }
    tile.return
  }
}

// -----

// Columns that end inside the view: the copy engine would bring what follows them.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @columns(%v: memref<?x64xbf16>, %end: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 8240 : i64} {
    %ring = tile.ring {offset = 0 : i64, barriers = 8192 : i64} : <1 x vector<64x64xbf16>>
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%n: index):
        // expected-error@+1 {{expected columns that end with the view, where the copy engine stops}}
        tile.put %ring, %v[%n, %n] axes [0, 1] below(%end, %end) : <1 x vector<64x64xbf16>>, memref<?x64xbf16>
      }
    }
    tile.return
  }
}

// -----

// Sums without a buffer that the copy engine would add from.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @sums_of_roles(%s: memref<?x64xf32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    tile.role <consumer> warpgroups 1 registers 240 {
      tile.persistent {
      ^bb0(%m: index):
        %t = arith.constant dense<1.0> : vector<64x64xf32>
        // expected-error@+1 {{'tile.store' op expected a buffer with 'accumulate': the copy engine adds}}
        tile.store %t, %s[%n, %n] axes [0, 1] below(%n, %n) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
      }
    }
    tile.return
  }
}

// -----

// Rows in pages that no ring brings.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @pages(%v: memref<?x16x64xf32>, %table: memref<?x?xi32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    // expected-error@+1 {{'tile.load' op expected rows in pages to come through a ring}}
    %t = tile.load %v[%n, %n, %n] pages(%table : memref<?x?xi32>) axes [1, 2] below(%n, %n) : memref<?x16x64xf32> -> vector<64x64xf32>
    tile.return
  }
}

// -----

// What consumers share, without a ring and in a program without roles.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @shares_nowhere(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    tile.role <consumer> warpgroups 1 registers 240 {
      tile.persistent {
      ^bb0(%m: index):
        %t = arith.constant dense<1.0> : vector<64x64xbf16>
        // expected-error@+1 {{'tile.share' op expected a ring}}
        tile.share %t : vector<64x64xbf16>
      }
    }
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @shares_among_warps(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %t = arith.constant dense<1.0> : vector<64x64xbf16>
    // expected-error@+1 {{'tile.share' op expected a ring}}
    tile.share %t : vector<64x64xbf16>
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @takes_among_warps(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    // expected-error@+1 {{'tile.take' op has no meaning in a kernel for a GPU}}
    %s = tile.take : !tile.shared<vector<64x64xbf16>>
    %t = arith.constant dense<1.0> : vector<64x64xbf16>
    tile.share %t : vector<64x64xbf16>
    tile.return
  }
}

// -----

// Products at once are of programs without roles, and take their right operand, and the left one as it is, from shared memory.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @at_once(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    tile.role <consumer> warpgroups 1 registers 240 {
      tile.persistent {
      ^bb0(%m: index):
        %zero = arith.constant dense<0.0> : vector<64x64xf32>
        %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<64x64xbf16>
        // expected-error@+1 {{'tile.mma' op has no meaning in a program with roles}}
        %r = tile.mma %t, %t, %zero : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
      }
    }
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @from_registers(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<64x64xbf16>
    // expected-error@+1 {{'tile.mma' op expected an operand in shared memory, got 'vector<64x64xbf16>'}}
    %r = tile.mma %t, %t, %zero : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @turned(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<64x64xbf16>
    // expected-error@+1 {{'tile.mma' op expected an operand in shared memory, got 'vector<64x64xbf16>'}}
    %r = tile.mma %t, %t, %zero left_transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    tile.return
  }
}

// -----

// Sums in an order, where warps have two bands of rows.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @two_bands(%s: memref<?x64xf32>, %m: memref<?xi32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 128, pipeline = #pipeline,
                  shared_bytes = 65536 : i64} {
    %t = arith.constant dense<1.0> : vector<128x64xf32>
    // expected-error@+1 {{'tile.store' op expected warps that have one band of rows with 'order'}}
    tile.store %t, %s[%n, %n] axes [0, 1] below(%n, %n) order(%n after %n of %m[%n] : memref<?xi32>) {accumulate, blocked} : vector<128x64xf32>, memref<?x64xf32>
    tile.return
  }
}

// -----

// Fewer rows than a warp has.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @short_tile(%v: memref<?x64xf32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    // expected-error@+1 {{'tile.load' op expected tiles of a multiple of 16 rows, got 'vector<8x64xf32>'}}
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xf32> -> vector<8x64xf32>
    tile.return
  }
}

// -----

// Warps that have some of the columns of a row each: products do not find the others in registers.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
#pipeline = #attn.warps<consumers = 2, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @left_of_some_columns(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 128, pipeline = #pipeline,
                  shared_bytes = 65536 : i64} {
    %ring = tile.ring {offset = 0 : i64} : <1 x vector<128x64xbf16>>
    %k = tile.get %ring : <1 x vector<128x64xbf16>> -> <vector<128x64xbf16>>
    %zero = arith.constant dense<0.0> : vector<128x128xf32>
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<128x64xbf16>
    // expected-error@+1 {{'tile.mma' op expected an operand in shared memory, got 'vector<128x64xbf16>'}}
    %r = tile.mma %t, %k, %zero transposed : vector<128x64xbf16>, !tile.shared<vector<128x64xbf16>>, vector<128x128xf32>
    tile.return
  }
}

// -----

// They cannot add up rows, either.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
#pipeline = #attn.warps<consumers = 2, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @rows_of_some_columns(%v: memref<?x64xf32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 128, pipeline = #pipeline,
                  shared_bytes = 65536 : i64} {
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xf32> -> vector<128x64xf32>
    %zero = arith.constant dense<0.0> : vector<128xf32>
    // expected-error@+1 {{'tile.reduce' op expected rows of which a warp has all columns}}
    %r = tile.reduce <add> %t, %zero : vector<128x64xf32>, vector<128xf32>
    tile.return
  }
}

// -----

// Nor are whole rows read into their registers.

#gpu = #attn.gpu<arch = "sm_80", ptx = 83, multiprocessors = 108, shared_bytes = 166912, registers = 65536,
                 l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>
#pipeline = #attn.warps<consumers = 2, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @reads_of_some_columns(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 128, pipeline = #pipeline,
                  shared_bytes = 65536 : i64} {
    %ring = tile.ring {offset = 0 : i64} : <1 x vector<128x64xbf16>>
    %k = tile.get %ring : <1 x vector<128x64xbf16>> -> <vector<128x64xbf16>>
    // expected-error@+1 {{'tile.read' op expected rows of which a warp has all columns}}
    %r = tile.read %k : !tile.shared<vector<128x64xbf16>> -> vector<128x64xbf16>
    tile.return
  }
}

// -----

// Rows and tiles that no ring brought.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @row_of_registers(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<64x64xbf16>
    // expected-error@+1 {{'tile.row' op expected an operand in shared memory, got 'vector<64x64xbf16>'}}
    %r = tile.row 0 of %t : vector<64x64xbf16> -> vector<1x64xbf16>
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @read_of_registers(%v: memref<?x64xbf16>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xbf16> -> vector<64x64xbf16>
    // expected-error@+1 {{'tile.read' op expected an operand in shared memory, got 'vector<64x64xbf16>'}}
    %r = tile.read %t : vector<64x64xbf16> -> vector<64x64xbf16>
    tile.return
  }
}

// -----

// Arithmetic on tiles that is in no map, and on vectors that is not done to each element.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @adds_tiles(%v: memref<?x64xf32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %t = tile.load %v[%n, %n] axes [0, 1] below(%n, %n) : memref<?x64xf32> -> vector<64x64xf32>
    // expected-error@+1 {{'arith.addf' op has no meaning in a kernel for a GPU}}
    %r = arith.addf %t, %t : vector<64x64xf32>
    tile.return
  }
}

// -----

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.warps<consumers = 1, stages = 1>
module attributes {attn.target = #gpu} {
  tile.program @extracts(%v: memref<?xf32>, %n: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    %t = tile.load %v[%n] axes [0] below(%n) : memref<?xf32> -> vector<64xf32>
    // expected-error@+1 {{'vector.extract' op has no meaning in a kernel for a GPU}}
    %x = vector.extract %t[3] : f32 from vector<64xf32>
    tile.return
  }
}
