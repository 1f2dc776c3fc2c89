// Two consumers that share what they compute: each writes its rows of a tile to shared memory, and products of both read
// all of them, turned. What they give is added to sums in memory. Rows of a vector come through a ring of their own.
tile.program @shared_tiles(%G: memref<?x64xbf16>, %K: memref<?x64xbf16>, %S: memref<?x64xf32>, %W: memref<?x?xf32, strided<[?, 1]>>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 128, panel = 64, workspaces = [#tile.workspace<"statistics", () -> (2, 512)>],
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %c1 = arith.constant 1 : index
  %keys = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  %numbers = tile.ring : !tile.ring<2 x vector<2x64xf32>>
  %shared = tile.ring : !tile.ring<2 x vector<128x64xbf16>> // shared-ring
  %buffer = tile.buffer : !tile.shared<vector<64x64xf32>>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent {
    ^bb0(%n: index):
      %height = memref.dim %W, %c0 : memref<?x?xf32, strided<[?, 1]>>
      %width = memref.dim %W, %c1 : memref<?x?xf32, strided<[?, 1]>>
      tile.put %keys, %K[%c0, %c0] axes [0, 1] below(%c128, %c64) : !tile.ring<1 x vector<128x64xbf16>>, memref<?x64xbf16>
      scf.for %j = %c0 to %c512 step %c128 {
        tile.put %numbers, %W[%c0, %j] axes [0, 1] below(%height, %width) : !tile.ring<2 x vector<2x64xf32>>, memref<?x?xf32, strided<[?, 1]>> // put-numbers
      }
    }
  }
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %rows = memref.dim %G, %c0 : memref<?x64xbf16>
      %k = tile.get %keys : !tile.ring<1 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>
      scf.for %j = %c0 to %c512 step %c128 {
        %w = tile.get %numbers : !tile.ring<2 x vector<2x64xf32>> -> !tile.shared<vector<2x64xf32>>
        %x = tile.row 1 of %w : !tile.shared<vector<2x64xf32>> -> vector<1x64xf32>
        %g = tile.load %G[%j, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xbf16> -> vector<128x64xbf16>
        %m = tile.map tiles(%g : vector<128x64xbf16>) rows() cols(%x : vector<1x64xf32>) at(%c0, %c0) {
        ^bb0(%a: bf16, %b: f32, %p: index, %q: index):
          %wide = arith.extf %a : bf16 to f32
          %product = arith.mulf %wide, %b : f32
          %narrow = arith.truncf %product : f32 to bf16
          tile.yield %narrow : bf16
        } -> vector<128x64xbf16>
        // early-release
        tile.share %m to %shared : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16> // share
        tile.post %shared : !tile.ring<2 x vector<128x64xbf16>> // post
        %s = tile.get %shared : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>> // take
        %f = tile.start %s, %k, %zero left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
        %r = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
        tile.release %shared : !tile.ring<2 x vector<128x64xbf16>> // release-shared
        tile.release %numbers : !tile.ring<2 x vector<2x64xf32>> // release-numbers
        tile.store %r via %buffer : !tile.shared<vector<64x64xf32>>, %S[%c0, %c0] axes [0, 1] below(%c64, %c64) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
      }
      tile.release %keys : !tile.ring<1 x vector<128x64xbf16>>
    }
  }
  tile.return
}
