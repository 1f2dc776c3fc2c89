// Two consumers that share what they compute, and a reducer that multiplies it by the keys, turned, and adds the products up
// in memory. Consumers read their rows of the same keys once, into registers. Tests edit the lines that end in a name.
tile.program @reducer(%Q: memref<?x64xbf16>, %K: memref<?x64xbf16>, %S: memref<?x64xf32>, %tile: index)
    attributes {grid = affine_map<() -> (2)>, grid_sizes = array<i64>, rows = 128, panel = 64, workspaces = [#tile.workspace<"query_sums", () -> (256, 64)>],
                pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 208,
                                       epilogue = direct, gradients = <reducer_registers = 72, rows_in_registers = true>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %logits = arith.constant dense<0.0> : vector<128x64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %keys = tile.ring : !tile.ring<1 x vector<128x64xbf16>>
  %queries = tile.ring : !tile.ring<2 x vector<64x64xbf16>>
  %shared = tile.ring : !tile.ring<2 x vector<128x64xbf16>>
  %buffer = tile.buffer : !tile.shared<vector<64x64xf32>>
  tile.role <producer> warpgroups 1 registers 24 {
    tile.persistent {
    ^bb0(%n: index):
      %first = arith.muli %n, %c128 : index
      %height = memref.dim %Q, %c0 : memref<?x64xbf16>
      %length = memref.dim %K, %c0 : memref<?x64xbf16>
      tile.put %keys, %K[%first, %c0] axes [0, 1] below(%length, %c64) : !tile.ring<1 x vector<128x64xbf16>>, memref<?x64xbf16>
      scf.for %i = %c0 to %c256 step %c64 {
        tile.put %queries, %Q[%i, %c0] axes [0, 1] below(%height, %c64) : !tile.ring<2 x vector<64x64xbf16>>, memref<?x64xbf16>
      }
    }
  }
  tile.role <consumer> warpgroups 2 registers 208 {
    tile.persistent {
    ^bb0(%n: index):
      %k = tile.get %keys : !tile.ring<1 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>> // get-keys
      // early-keys
      %rows = tile.read %k : !tile.shared<vector<128x64xbf16>> -> vector<128x64xbf16> // read-keys
      tile.release %keys : !tile.ring<1 x vector<128x64xbf16>> // release-rows
      scf.for %i = %c0 to %c256 step %c64 {
        %q = tile.get %queries : !tile.ring<2 x vector<64x64xbf16>> -> !tile.shared<vector<64x64xbf16>>
        %f = tile.start %rows, %q, %logits transposed : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> !tile.pending<vector<128x64xf32>>
        %s = tile.await %f : !tile.pending<vector<128x64xf32>> -> vector<128x64xf32>
        tile.release %queries : !tile.ring<2 x vector<64x64xbf16>>
        %m = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
        ^bb0(%a: f32, %p: index, %r: index):
          %narrow = arith.truncf %a : f32 to bf16
          tile.yield %narrow : bf16
        } -> vector<128x64xbf16>
        tile.share %m to %shared : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16> // share
        tile.post %shared : !tile.ring<2 x vector<128x64xbf16>> // post
      }
    }
  }
  tile.role <reducer> warpgroups 1 registers 72 {
    tile.persistent {
    ^bb0(%n: index):
      %k = tile.get %keys : !tile.ring<1 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>
      scf.for %i = %c0 to %c256 step %c64 {
        %s = tile.get %shared : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>> // take
        // early-shared
        %f = tile.start %s, %k, %zero left_transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<128x64xbf16>>, vector<64x64xf32> -> !tile.pending<vector<64x64xf32>>
        // flying-shared
        %r = tile.await %f : !tile.pending<vector<64x64xf32>> -> vector<64x64xf32>
        tile.release %shared : !tile.ring<2 x vector<128x64xbf16>> // release-shared
        tile.store %r via %buffer : !tile.shared<vector<64x64xf32>>, %S[%i, %c0] axes [0, 1] below(%c256, %c64) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32> // store
      }
      tile.release %keys : !tile.ring<1 x vector<128x64xbf16>> // release-keys
    }
  }
  tile.return
}
