// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles))" -verify-diagnostics

// The product that a consumer has made is read by the reducer as well, which has none of its own.

tile.program @split(%K: memref<?x64xbf16>, %V: memref<?x64xbf16>, %Q: memref<?x64xbf16>, %G: memref<?x64xbf16>,
                    %dK: memref<?x64xbf16>, %dV: memref<?x64xbf16>, %a: f32, %high: index, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 40,
                                       consumer_registers = 232, epilogue = direct,
                                       gradients = <logit_stages = 2, reducer_registers = 232>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant dense<1.0> : vector<64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %row = arith.muli %tile, %c64 : index
  %keys = memref.dim %K, %c0 : memref<?x64xbf16>
  %offset = vector.broadcast %a : f32 to vector<64xf32>
  %rows = arith.addf %offset, %one : vector<64xf32>
  %k = tile.load %K[%row, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %v = tile.load %V[%row, %c0] axes [0, 1] below(%keys, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
  %g0 = tile.load %G[%c0, %c0] axes [0, 1] below(%high, %c64) {tile.kept = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
  %p0 = tile.mma %v, %g0, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
  %r:3 = scf.for %j = %c0 to %high step %c64 iter_args(%dk = %zero, %dv = %zero, %p = %p0)
      -> (vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>) {
    %q = tile.load %Q[%j, %c0] axes [0, 1] below(%high, %c64) : memref<?x64xbf16> -> vector<64x64xbf16>
    // expected-error @below {{expected the reducer to read elements that it can compute as well, got 'vector<64x64xf32>' of 'tile.mma'}}
    %s = tile.mma %k, %q, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %w = tile.map tiles(%s : vector<64x64xf32>) rows(%rows : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f32, %y: f32, %i: index, %l: index):
      %sum = arith.addf %x, %y : f32
      %n = arith.truncf %sum : f32 to f16
      tile.yield %n : f16
    } -> vector<64x64xf16>
    tile.share %w : vector<64x64xf16>
    %narrow = tile.map tiles(%s : vector<64x64xf32>) rows() cols() at(%c0, %j) {
    ^bb0(%x: f32, %i: index, %l: index):
      %n = arith.truncf %x : f32 to bf16
      tile.yield %n : bf16
    } -> vector<64x64xbf16>
    %g = tile.load %G[%j, %c0] axes [0, 1] below(%high, %c64) {tile.held = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
    %dv1 = tile.mma %narrow, %g, %dv : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %shared = tile.take : !tile.shared<vector<64x64xf16>>
    %read = tile.read %shared : !tile.shared<vector<64x64xf16>> -> vector<64x64xf16>
    %d = tile.map tiles(%read, %s : vector<64x64xf16>, vector<64x64xf32>) rows(%rows : vector<64xf32>) cols() at(%c0, %j) {
    ^bb0(%x: f16, %y: f32, %z: f32, %i: index, %l: index):
      %wide = arith.extf %x : f16 to f32
      %m = arith.mulf %wide, %y : f32
      %m1 = arith.mulf %m, %z : f32
      %n = arith.truncf %m1 : f32 to bf16
      tile.yield %n : bf16
    } -> vector<64x64xbf16>
    %dk1 = tile.mma %d, %q, %dk : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    %next = arith.addi %j, %c64 : index
    %g1 = tile.load %G[%next, %c0] axes [0, 1] below(%high, %c64) {tile.kept = 0} : memref<?x64xbf16> -> vector<64x64xbf16>
    %p1 = tile.mma %v, %g1, %zero transposed : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32>
    scf.yield %dk1, %dv1, %p1 : vector<64x64xf32>, vector<64x64xf32>, vector<64x64xf32>
  }
  %ofKeys = tile.map tiles(%r#0 : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<64x64xbf16>
  tile.store %ofKeys, %dK[%row, %c0] axes [0, 1] below(%keys, %c64) : vector<64x64xbf16>, memref<?x64xbf16>
  %ofValues = tile.map tiles(%r#1 : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.truncf %x : f32 to bf16
    tile.yield %n : bf16
  } -> vector<64x64xbf16>
  tile.store %ofValues, %dV[%row, %c0] axes [0, 1] below(%keys, %c64) : vector<64x64xbf16>, memref<?x64xbf16>
  tile.return
}
