// Random numbers of dropout are dealt to threads by blocks of sixteen queries and keys, which tiles begin with. One that does
// not is an error here, where a GPU would drop other weights than all else does.

// RUN: attnc-opt %s --tile-simulate=args=64x16 -o %t
// RUN: sed 's/%c0, %c16) : vector/%c8, %c16) : vector/' %s | not attnc-opt --tile-simulate=args=64x16 -o %t 2>&1 | FileCheck %s --check-prefix=QUERY
// RUN: sed 's/%c0, %c16) : vector/%c0, %c8) : vector/' %s | not attnc-opt --tile-simulate=args=64x16 -o %t 2>&1 | FileCheck %s --check-prefix=KEY

// QUERY: error: 'tile.philox' of {{.*}}starts within a block of 16 at query 8 and key 16
// KEY: error: 'tile.philox' of {{.*}}starts within a block of 16 at query 0 and key 8
tile.program @numbers(%o: memref<?x?xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %seed = arith.constant 7 : i64
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %n = tile.philox %seed at(%c0, %c0, %c0, %c16) : vector<64x16xi16>
  %x = tile.map tiles(%n : vector<64x16xi16>) rows() cols() at(%c0, %c0) {
  ^bb0(%number: i16, %i: index, %j: index):
    %f = arith.uitofp %number : i16 to f32
    tile.yield %f : f32
  } -> vector<64x16xf32>
  tile.store %x, %o[%c0, %c0] axes [0, 1] below(%c64, %c16) : vector<64x16xf32>, memref<?x?xf32>
  tile.return
}
