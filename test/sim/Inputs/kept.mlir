// A skewed loop over tiles of 64 keys that are their values as well: a step computes logits with its own, and multiplies
// the weights of the step before with those, which were kept. Tests edit the lines that end in a name.
#tiles = affine_map<()[s0] -> (s0 ceildiv 128)>
module {
  tile.program @kept(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %out: memref<?x64xf32>, %number: index)
      attributes {grid = #tiles, grid_sizes = array<i64: 0, 0>, rows = 128 : i64, panel = 64 : i64} {
    %zero = arith.constant dense<0.0> : vector<128x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %queries = tile.ring {offset = 0 : i64} : <1 x vector<128x64xbf16>>
    %keys = tile.ring {offset = 16384 : i64} : <2 x vector<64x64xbf16>>
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c128 : index
        tile.put %queries, %q[%i, %c0] axes [0, 1] below(%sq, %c64) : <1 x vector<128x64xbf16>>, memref<?x64xbf16>
        scf.for %j = %c0 to %sk step %c64 {
          tile.put %keys, %k[%j, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16>
        }
      }
    }
    tile.role <consumer> warpgroups 2 registers 240 {
      tile.persistent {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c128 : index
        %qs = tile.get %queries : <1 x vector<128x64xbf16>> -> <vector<128x64xbf16>>
        %k0 = tile.get %keys kept : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        %f0 = tile.start %qs, %k0, %zero transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
        %s0 = tile.await %f0 : <vector<128x64xf32>> -> vector<128x64xf32>
        %p0 = tile.map tiles(%s0 : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
        ^bb0(%x: f32, %r: index, %c: index):
          %z = arith.truncf %x : f32 to bf16
          tile.yield %z : bf16
        } -> vector<128x64xbf16>
        %o:2 = scf.for %j = %c64 to %sk step %c64 iter_args(%acc = %zero, %p = %p0) -> (vector<128x64xf32>, vector<128x64xbf16>) {
          %kj = tile.get %keys kept : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
          %fs = tile.start %qs, %kj, %zero transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
          // before-held
          %kh = tile.held %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
          // before-start
          %fo = tile.start %p, %kh, %acc : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
          // before-await
          %s = tile.await %fs : <vector<128x64xf32>> -> vector<128x64xf32>
          %on = tile.await %fo : <vector<128x64xf32>> -> vector<128x64xf32>
          tile.release %keys : <2 x vector<64x64xbf16>> // release-kept
          %pn = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
          ^bb0(%x: f32, %r: index, %c: index):
            %z = arith.truncf %x : f32 to bf16
            tile.yield %z : bf16
          } -> vector<128x64xbf16>
          // again
          scf.yield %on, %pn : vector<128x64xf32>, vector<128x64xbf16>
        }
        tile.release %queries : <1 x vector<128x64xbf16>>
        %kl = tile.held %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        %fl = tile.start %o#1, %kl, %o#0 : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
        %ol = tile.await %fl : <vector<128x64xf32>> -> vector<128x64xf32>
        tile.release %keys : <2 x vector<64x64xbf16>> // release-last
        tile.store %ol, %out[%i, %c0] axes [0, 1] below(%sq, %c64) : vector<128x64xf32>, memref<?x64xf32>
      }
    }
    tile.return
  }
}
