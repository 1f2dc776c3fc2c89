// What a program says that a CPU does not carry out is an error at its operation: nothing is ignored.

// RUN: attnc-opt %s --tile-to-cpu -split-input-file -verify-diagnostics -o %t

// What threads of a GPU do together.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @roles(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // Rings come before.
  %ring = tile.ring : !tile.ring<2 x vector<16x16xbf16>>
  // expected-error@+1 {{'tile.role' op has no meaning on a CPU: one thread carries out a program, and roles run at the same time}}
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent {
    ^bb0(%number: index):
    }
  }
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @rings(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.ring' op has no meaning on a CPU: nothing copies while its thread computes}}
  %ring = tile.ring : !tile.ring<2 x vector<16x16xbf16>>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @persists(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.persistent' op has no meaning on a CPU: each call is for one tile}}
  tile.persistent {
  ^bb0(%number: index):
  }
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @buffers(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.buffer' op has no meaning on a CPU: stores go straight to memory}}
  %b = tile.buffer : !tile.shared<vector<16x16xf32>>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @starts(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  // expected-error@+1 {{'tile.start' op has no meaning on a CPU: no product goes on while its thread computes}}
  %p = tile.start %t, %k, %zero : vector<16x16xbf16>, vector<16x16xbf16>, vector<16x16xf32> -> !tile.pending<vector<16x16xf32>>
  %r = tile.await %p : !tile.pending<vector<16x16xf32>> -> vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @keeps_order(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.sched_barrier' op has no meaning on a CPU: no product goes on while its thread computes}}
  tile.sched_barrier
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @waits(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.sync' op has no meaning on a CPU: its thread has no other to wait for}}
  tile.sync
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes_turns(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.ping_pong' op has no meaning on a CPU: its thread has no other to wait for}}
  tile.ping_pong <wait>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @skips(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  // expected-error@+1 {{'tile.skip' op has no meaning on a CPU: there are no products of others}}
  tile.skip %t : vector<16x16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @lists(%l: memref<?x?xi32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  // expected-error@+1 {{'tile.block_mask' op has no meaning on a CPU: each step looks at its mask itself}}
  tile.block_mask %l[%c0] from %c0 to %n step %c1 {
  ^bb0(%j: index):
    tile.yield %yes, %yes : i1, i1
  } : memref<?x?xi32>
  tile.return
}
}

// -----

// What passes write as arithmetic before.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @numbers(%seed: i64, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'tile.philox' op has no meaning on a CPU: 'tile-expand-philox' writes it as arithmetic}}
  %r = tile.philox %seed at(%c0, %c0, %c0, %c0) : vector<16x16xi16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @softmax(%v: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  %m = arith.constant dense<0.0> : vector<16xf32>
  // expected-error@+1 {{'tile.softmax' op has no meaning on a CPU: 'tile-lower-softmax' writes it as arithmetic}}
  %m1, %l1, %p, %shrink = tile.softmax %x, %m, %m at(%c0, %c0) {octaves, scale = 1.0 : f32} : vector<16x16xf32>, vector<16xf32> -> vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @softmax_end(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %m = arith.constant dense<0.0> : vector<16xf32>
  // expected-error@+1 {{'tile.softmax_end' op has no meaning on a CPU: 'tile-lower-softmax' writes it as arithmetic}}
  %f, %lse = tile.softmax_end %m, %m {octaves, scale = 1.0 : f32} : vector<16xf32>
  tile.return
}
}

// -----

// Tiles that are shared wait for one thread, which waits for none.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes_first(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  // expected-error@+1 {{'tile.take' op expected a tile that was shared before: one thread would wait for itself}}
  %s = tile.take : !tile.shared<vector<16x16xbf16>>
  tile.share %t : vector<16x16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes_twice(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  tile.share %t : vector<16x16xbf16>
  %s = tile.take : !tile.shared<vector<16x16xbf16>>
  // expected-error@+1 {{'tile.take' op expected a tile that was shared before: one thread would wait for itself}}
  %u = tile.take : !tile.shared<vector<16x16xbf16>>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @shares_more(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  // expected-error@+1 {{'scf.for' op expected each step to take as many tiles of 'vector<16x16xbf16>' as it shares, on a CPU}}
  scf.for %i = %c0 to %n step %c1 {
    tile.share %t : vector<16x16xbf16>
  }
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes_in_one_branch(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  %isFirst = arith.cmpi eq, %n, %c0 : index
  tile.share %t : vector<16x16xbf16>
  // expected-error@+1 {{'scf.if' op expected both branches to take as many tiles of 'vector<16x16xbf16>' as one another, on a CPU}}
  scf.if %isFirst {
    %s = tile.take : !tile.shared<vector<16x16xbf16>>
  }
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @shares_beside(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  tile.share %t : vector<16x16xbf16>
  %s = tile.take : !tile.shared<vector<16x16xbf16>>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{'tile.share' op expected no tile to be shared in a loop or a branch, on a CPU, while one that was taken before it is still read}}
    tile.share %t : vector<16x16xbf16>
    %u = tile.take : !tile.shared<vector<16x16xbf16>>
  }
  %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<16x16xbf16>>, vector<16x16xbf16>, vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @rows_in_groups(%v: memref<?x?xbf16>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{op expected rows by themselves for a tile that gives a row on a CPU, got 'group'}}
  %g = tile.load %v[%c0, %c0] axes [0, 1] group [2] below(%n, %n) : memref<?x?xbf16> -> vector<2x16xbf16>
  %r = tile.row 0 of %g : vector<2x16xbf16> -> vector<1x16xbf16>
  tile.return
}
}

// -----

// Products.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @short_sums(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x8xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x4xf32>
  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<4x8xf32>
  // expected-error@+1 {{'tile.mma' op expected sums of a multiple of 8 products on a CPU, got 4}}
  %r = tile.mma %t, %k, %zero : vector<16x4xf32>, vector<4x8xf32>, vector<16x8xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @right_in_blocks(%v: memref<?x16xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) {blocked} : memref<?x16xf32> -> vector<16x16xf32>
  // expected-error@+1 {{op expected rows by themselves for the right operand of a product on a CPU, got 'blocked'}}
  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) {blocked} : memref<?x16xf32> -> vector<16x16xf32>
  %r = tile.mma %t, %k, %zero : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @right_in_groups(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  // expected-error@+1 {{op expected rows by themselves for the right operand of a product on a CPU, got 'group'}}
  %k = tile.load %v[%n, %c0] axes [0, 1] group [4] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  %r = tile.mma %t, %k, %zero : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.return
}
}

// -----

// Shapes: panels of SIMD registers of eight rows, and blocks of four columns.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
// expected-error@+1 {{op expected panels of a multiple of 8 rows on this CPU, got 4}}
tile.program @half_a_register(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 4} {

  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @other_rows(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{op expected a multiple of 8 rows on this CPU, got 'vector<12x16xf32>'}}
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<12x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @six_columns(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{op expected a multiple of 4 columns on this CPU, got 'vector<16x6xf32>'}}
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x6xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @wide_groups(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{op expected groups that divide the 8 rows of a panel, got 16}}
  %t = tile.load %v[%c0, %c0] axes [0, 1] group [16] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @doubles(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0] below(%n) : memref<?x?xf32> -> vector<16xf32>
  // expected-error@+1 {{op has a result of 'vector<16xf64>', for which a CPU has no lanes}}
  %d = arith.extf %t : vector<16xf32> to vector<16xf64>
  tile.return
}
}

// -----

// What control flow carries.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @carries_columns(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  %l = tile.load %v[%c0, %c0] axes [1] below(%n) : memref<?x?xf32> -> vector<1x16xf32>
  // expected-error@+1 {{op has no meaning with a column vector that crosses its edge on a CPU}}
  %last = scf.for %i = %c0 to %n step %n iter_args(%x = %l) -> (vector<1x16xf32>) {
    %y = arith.addf %x, %x : vector<1x16xf32>
    scf.yield %y : vector<1x16xf32>
  }
  %r = tile.map tiles(%t : vector<16x16xf32>) rows() cols(%last : vector<1x16xf32>) at(%c0, %c0) {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    tile.yield %y : f32
  } -> vector<16x16xf32>
  tile.return
}
}

// -----

// Operations of other dialects: what is not done to each element by itself, on tiles at all, or in other control flow.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @adds_tiles(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  // expected-error@+1 {{'arith.addf' op has no meaning on a CPU}}
  %s = arith.addf %t, %t : vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @extracts(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %l = tile.load %v[%c0, %c0] axes [0] below(%n) : memref<?x?xf32> -> vector<16xf32>
  // expected-error@+1 {{'vector.extract' op has no meaning on a CPU}}
  %x = vector.extract %l[3] : f32 from vector<16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @bits(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %l = tile.load %v[%c0, %c0] axes [0] below(%n) : memref<?x?xf32> -> vector<16xf32>
  %h = arith.truncf %l : vector<16xf32> to vector<16xf16>
  // expected-error@+1 {{'arith.bitcast' op has no meaning on a CPU}}
  %x = arith.bitcast %h : vector<16xf16> to vector<16xi16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @several_numbers(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{op has no meaning on a CPU but with one number everywhere}}
  %two = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @repeats(%c: i1, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'scf.while' op has no meaning on a CPU}}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @stores_elements(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  %m = tile.map tiles(%t : vector<16x16xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    // expected-error@+1 {{'memref.store' op has no meaning on a CPU}}
    memref.store %x, %o[%i, %j] : memref<?x?xf32>
    tile.yield %x : f32
  } -> vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @interleaved(%v: memref<?x16xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x16xf32> -> vector<16x16xf32>
  // expected-error@+1 {{op expected no 'interleaved' on a CPU, whose threads add whole rows}}
  tile.store %t, %v[%c0, %c0] axes [0, 1] below(%n, %n) {accumulate, blocked, interleaved} : vector<16x16xf32>, memref<?x16xf32>
  tile.return
}
}
