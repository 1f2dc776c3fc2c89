// Two roles of consumers, a warpgroup each, which read the same tiles of queries and keys: one adds up logits, the other
// multiplies logits with the keys that they are of. Tests edit the lines that end in a name.
#tiles = affine_map<()[s0] -> (s0 ceildiv 64)>
module {
  tile.program @two_roles(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %logits: memref<?x64xf32>, %sums: memref<?x64xf32>,
                          %number: index)
      attributes {grid = #tiles, grid_sizes = array<i64: 0, 0>, rows = 64 : i64, panel = 64 : i64} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %queries = tile.ring {offset = 0 : i64} : <1 x vector<64x64xbf16>>
    %keys = tile.ring {offset = 8192 : i64} : <2 x vector<64x64xbf16>> // keys-ring
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c64 : index
        tile.put %queries, %q[%i, %c0] axes [0, 1] below(%sq, %c64) : <1 x vector<64x64xbf16>>, memref<?x64xbf16>
        scf.for %j = %c0 to %sk step %c64 {
          tile.put %keys, %k[%j, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16>
        }
      }
    }
    tile.role <consumer> warpgroups 1 registers 240 {
      tile.persistent {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c64 : index
        %qs = tile.get %queries : <1 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        %all = scf.for %j = %c0 to %sk step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
          %kj = tile.get %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>> // get-first
          // early-first
          %f = tile.start %qs, %kj, %sum transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> <vector<64x64xf32>>
          // released-first
          %s = tile.await %f : <vector<64x64xf32>> -> vector<64x64xf32>
          tile.release %keys : <2 x vector<64x64xbf16>> // release-first
          scf.yield %s : vector<64x64xf32>
        }
        tile.release %queries : <1 x vector<64x64xbf16>> // release-queries-first
        tile.store %all, %logits[%i, %c0] axes [0, 1] below(%sq, %c64) : vector<64x64xf32>, memref<?x64xf32>
      }
    }
    tile.role <consumer> warpgroups 1 registers 240 {
      tile.persistent {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c64 : index
        %qs = tile.get %queries : <1 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        // early-queries
        %all = scf.for %j = %c0 to %sk step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
          %kj = tile.get %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>> // get-second
          %f = tile.start %qs, %kj, %zero transposed : !tile.shared<vector<64x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> <vector<64x64xf32>>
          %s = tile.await %f : <vector<64x64xf32>> -> vector<64x64xf32>
          // early-second
          %p = tile.map tiles(%s : vector<64x64xf32>) rows() cols() at(%c0, %c0) {
          ^bb0(%x: f32, %r: index, %c: index):
            %z = arith.truncf %x : f32 to bf16
            tile.yield %z : bf16
          } -> vector<64x64xbf16>
          %g = tile.start %p, %kj, %sum : vector<64x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<64x64xf32> -> <vector<64x64xf32>> // start-second
          // released-second
          %o = tile.await %g : <vector<64x64xf32>> -> vector<64x64xf32>
          tile.release %keys : <2 x vector<64x64xbf16>> // release-second
          scf.yield %o : vector<64x64xf32>
        }
        tile.release %queries : <1 x vector<64x64xbf16>> // release-queries-second
        tile.store %all, %sums[%i, %c0] axes [0, 1] below(%sq, %c64) : vector<64x64xf32>, memref<?x64xf32> // store-second
      }
    }
    tile.return
  }
}
