// Two warpgroups of warps that share what they compute, the rows of a tile of each: all read all of it, turned, for a product
// whose columns they have half of each. Threads add that to sums in memory.
tile.program @shared_by_warps(%G: memref<?x64xbf16>, %K: memref<?x64xbf16>, %S: memref<?x64xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64,
                pipeline = #attn.warps<consumers = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %keys = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  %shared = tile.ring : !tile.ring<2 x vector<128x64xbf16>> // shared-ring
  %rows = memref.dim %G, %c0 : memref<?x64xbf16>
  tile.put %keys, %K[%c0, %c0] axes [0, 1] below(%c128, %c64) : !tile.ring<1 x vector<128x64xbf16>>, memref<?x64xbf16>
  tile.sync copies 0
  %k = tile.get %keys : !tile.ring<1 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>
  scf.for %j = %c0 to %c512 step %c128 {
    %g = tile.load %G[%j, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xbf16> -> vector<128x64xbf16>
    tile.share %g to %shared : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16> // share
    tile.sync // sync
    %s = tile.get %shared : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>> // take
    %r = tile.mma %s, %k, %zero left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32>
    tile.release %shared : !tile.ring<2 x vector<128x64xbf16>> // release
    tile.store %r, %S[%c0, %c0] axes [0, 1] below(%c64, %c64) {accumulate, blocked, interleaved} : vector<64x64xf32>, memref<?x64xf32>
  }
  tile.release %keys : !tile.ring<1 x vector<128x64xbf16>>
  tile.return
}
