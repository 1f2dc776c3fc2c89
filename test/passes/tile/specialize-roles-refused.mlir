// Rings of what consumers share hold 16-bit elements: a tile of f32, which one thread may share, is an error there.

// RUN: attnc-opt %s --pass-pipeline="builtin.module(tile.program(tile-specialize-roles))" -verify-diagnostics -o %t

tile.program @shares_floats(%a: memref<?x64xf32>, %k: memref<?x64xbf16>, %o: memref<?x64xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                       consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %t = tile.load %a[%c0, %c0] axes [0, 1] below(%c128, %c64) : memref<?x64xf32> -> vector<128x64xf32>
  %m = tile.map tiles(%t : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    tile.yield %x : f32
  } -> vector<128x64xf32>
  // expected-error@+1 {{'tile.share' op expected a tile of 16-bit elements, got 'vector<128x64xf32>'}}
  tile.share %m : vector<128x64xf32>
  tile.store %m, %o[%c0, %c0] axes [0, 1] below(%c128, %c64) : vector<128x64xf32>, memref<?x64xf32>
  tile.return
}
