// What a program says that a CPU does not carry out is an error at its operation: nothing is ignored.

// RUN: attnc-opt %s --tile-to-cpu -split-input-file -verify-diagnostics -o %t

// What threads of a GPU do together.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @shares(%v: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>

  // expected-error@+1 {{'tile.share' op has no meaning on a CPU}}
  tile.share %t : vector<16x16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes(%v: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>

  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>
  // expected-error@+1 {{'tile.take' op has no meaning on a CPU}}
  %s = tile.take : !tile.shared<vector<16x16xbf16>>
  %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<16x16xbf16>>, vector<16x16xbf16>, vector<16x16xf32>
  tile.share %t : vector<16x16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @buffers(%n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  // expected-error@+1 {{'tile.buffer' op has no meaning on a CPU}}
  %b = tile.buffer : !tile.shared<vector<16x16xf32>>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @takes_a_row(%v: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>

  // expected-error@+1 {{'tile.row' op has no meaning on a CPU}}
  %r = tile.row 0 of %t : vector<16x16xbf16> -> vector<16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @reads(%v: memref<?x?xbf16>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xbf16> -> vector<16x16xbf16>

  // expected-error@+1 {{'tile.read' op has no meaning on a CPU}}
  %r = tile.read %t : vector<16x16xbf16> -> vector<16x16xbf16>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @parts(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  %none = arith.constant dense<0.0> : vector<16xf32>
  // expected-error@+1 {{'tile.reduce' op has no meaning with 'partial' on a CPU, where one lane has a row}}
  %s = tile.reduce <add> %t, %none partial : vector<16x16xf32>, vector<16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @any(%c: i1, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %k = vector.broadcast %c : i1 to vector<16xi1>
  // expected-error@+1 {{'tile.any' op has no meaning on a CPU}}
  %x = tile.any %k : vector<16xi1>
  tile.return
}
}

// -----

// Products.

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @turned(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  %k = tile.load %v[%n, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>
  // expected-error@+1 {{'tile.mma' op has no meaning with 'left_transposed' on a CPU}}
  %r = tile.mma %t, %k, %zero left_transposed : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.return
}
}

// -----

module attributes {attn.target = #attn.cpu<cpu = "x86-64-v3", features = "+avx2,+fma,+f16c", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>} {
tile.program @right_computed(%v: memref<?x?xf32>, %o: memref<?x?xf32>, %n: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 8} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<16x16xf32>

  %m = tile.map tiles(%t : vector<16x16xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<16x16xf32>
  // expected-error@+1 {{'tile.mma' op expected a right operand that is loaded, on a CPU}}
  %r = tile.mma %t, %m, %zero : vector<16x16xf32>, vector<16x16xf32>, vector<16x16xf32>
  tile.return
}
}

// -----

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

// Shapes: panels of SIMD registers of eight rows, blocks of four columns, and no other rows than the program has.

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
  // expected-error@+1 {{op expected tiles and vectors of the 16 rows of the program on a CPU, got 'vector<32x16xf32>'}}
  %t = tile.load %v[%c0, %c0] axes [0, 1] below(%n, %n) : memref<?x?xf32> -> vector<32x16xf32>
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

  %l = tile.load %v[%c0, %c0] axes [1] below(%n) : memref<?x?xf32> -> vector<16xf32>
  // expected-error@+1 {{op has no meaning with a column vector that crosses its edge on a CPU}}
  %last = scf.for %i = %c0 to %n step %n iter_args(%x = %l) -> (vector<16xf32>) {
    %y = arith.addf %x, %x : vector<16xf32>
    scf.yield %y : vector<16xf32>
  }
  %r = tile.map tiles(%t : vector<16x16xf32>) rows() cols(%last : vector<16xf32>) at(%c0, %c0) {
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
