// A scheduled program: rows of 128 queries in two warpgroups, a skewed loop over tiles of 64 keys, weights that are
// scaled logits. Tests edit the lines that end in a name.
#tiles = affine_map<()[s0] -> (s0 ceildiv 128)>
module {
  tile.program @scheduled(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %out: memref<?x64xbf16>,
                          %number: index)
      attributes {grid = #tiles, grid_sizes = array<i64: 0, 0>, rows = 128 : i64, panel = 64 : i64} {
    %zero = arith.constant dense<0.0> : vector<128x64xf32>
    %scale = arith.constant 0.0625 : f32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %buffer = tile.buffer {offset = 49152 : i64} : <vector<128x64xbf16>>
    %queries = tile.ring {offset = 0 : i64} : <1 x vector<128x64xbf16>>
    %keys = tile.ring {offset = 16384 : i64} : <2 x vector<64x64xbf16>> // keys-ring
    %values = tile.ring {offset = 32768 : i64} : <2 x vector<64x64xbf16>> // values-ring
    %numbers = tile.ring {offset = 65536 : i64} : <2 x index>
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent from %numbers : !tile.ring<2 x index> {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c128 : index
        %steps = arith.ceildivui %sk, %c64 : index
        %end = arith.muli %steps, %c64 : index
        tile.put %keys, %k[%c0, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16> // put-first-keys
        tile.put %queries, %q[%i, %c0] axes [0, 1] below(%sq, %c64) : <1 x vector<128x64xbf16>>, memref<?x64xbf16>
        scf.for %j = %c64 to %end step %c64 {
          %before = arith.subi %j, %c64 : index
          tile.put %keys, %k[%j, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16> // put-keys
          tile.put %values, %v[%before, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16> // put-values
        }
        %last = arith.subi %end, %c64 : index
        tile.put %values, %v[%last, %c0] axes [0, 1] below(%sk, %c64) : <2 x vector<64x64xbf16>>, memref<?x64xbf16> // put-last-values
      }
    }
    tile.role <consumer> warpgroups 2 registers 240 {
      tile.persistent from %numbers : !tile.ring<2 x index> {
      ^bb0(%t: index):
        %sq = memref.dim %q, %c0 : memref<?x64xbf16>
        %sk = memref.dim %k, %c0 : memref<?x64xbf16>
        %i = arith.muli %t, %c128 : index
        %steps = arith.ceildivui %sk, %c64 : index
        %end = arith.muli %steps, %c64 : index
        %k0 = tile.get %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        %qs = tile.get %queries : <1 x vector<128x64xbf16>> -> <vector<128x64xbf16>> // get-queries
        tile.ping_pong <wait>
        %f0 = tile.start %qs, %k0, %zero transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
        tile.ping_pong <arrive>
        %s0 = tile.await %f0 : <vector<128x64xf32>> -> vector<128x64xf32>
        tile.release %keys : <2 x vector<64x64xbf16>>
        %p0 = tile.map tiles(%s0 : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
        ^bb0(%x: f32, %r: index, %c: index):
          %y = arith.mulf %x, %scale : f32
          %z = arith.truncf %y : f32 to bf16
          tile.yield %z : bf16
        } -> vector<128x64xbf16>
        %o:2 = scf.for %j = %c64 to %end step %c64 iter_args(%acc = %zero, %p = %p0) -> (vector<128x64xf32>, vector<128x64xbf16>) {
          %kj = tile.get %keys : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>> // get-keys
          tile.ping_pong <wait> // wait
          %fs = tile.start %qs, %kj, %zero transposed : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>> // start-logits
          %half = tile.map tiles(%acc : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
          ^bb0(%x: f32, %r: index, %c: index):
            %y = arith.mulf %x, %scale : f32
            tile.yield %y : f32
          } -> vector<128x64xf32>
          %vj = tile.get %values : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
          %fo = tile.start %p, %vj, %half : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>> // start-values
          tile.ping_pong <arrive> // arrive
          // early-release
          %s = tile.await %fs : <vector<128x64xf32>> -> vector<128x64xf32> // await-logits
          tile.release %keys : <2 x vector<64x64xbf16>> // release-keys
          %w = tile.map tiles(%s : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
          ^bb0(%x: f32, %r: index, %c: index):
            %y = arith.mulf %x, %scale : f32
            tile.yield %y : f32
          } -> vector<128x64xf32>
          %on = tile.await %fo : <vector<128x64xf32>> -> vector<128x64xf32> // await-values
          tile.release %values : <2 x vector<64x64xbf16>> // release-values
          %pn = tile.map tiles(%w : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
          ^bb0(%x: f32, %r: index, %c: index):
            %z = arith.truncf %x : f32 to bf16
            tile.yield %z : bf16
          } -> vector<128x64xbf16>
          // late-await
          scf.yield %on, %pn : vector<128x64xf32>, vector<128x64xbf16>
        }
        tile.release %queries : <1 x vector<128x64xbf16>> // release-queries
        %vl = tile.get %values : <2 x vector<64x64xbf16>> -> <vector<64x64xbf16>>
        %fl = tile.start %o#1, %vl, %o#0 : vector<128x64xbf16>, !tile.shared<vector<64x64xbf16>>, vector<128x64xf32> -> <vector<128x64xf32>>
        %ol = tile.await %fl : <vector<128x64xf32>> -> vector<128x64xf32> // await-last
        tile.release %values : <2 x vector<64x64xbf16>> // release-last
        %r = tile.map tiles(%ol : vector<128x64xf32>) rows() cols() at(%c0, %c0) {
        ^bb0(%x: f32, %row: index, %c: index):
          %z = arith.truncf %x : f32 to bf16
          tile.yield %z : bf16
        } -> vector<128x64xbf16>
        tile.store %r via %buffer : !tile.shared<vector<128x64xbf16>>, %out[%i, %c0] axes [0, 1] below(%sq, %c64) : vector<128x64xbf16>, memref<?x64xbf16> // store
      }
    }
    tile.return
  }
}
