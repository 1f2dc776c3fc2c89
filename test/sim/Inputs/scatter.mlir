// Elements that are added to sums in memory, each at the distance of its row and column: warps add to the same ones.
tile.program @scatter(%v: memref<?x32xf32>, %sums: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 64)>, grid_sizes = array<i64: 0, 0>, rows = 64, panel = 64, shared_bytes = 0,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %first = arith.muli %tile, %c64 : index
  %rows = memref.dim %v, %c0 : memref<?x32xf32>
  %t = tile.load %v[%first, %c0] axes [0, 1] below(%rows, %c32) : memref<?x32xf32> -> vector<64x32xf32>
  %n = tile.map tiles(%t : vector<64x32xf32>) rows() cols() at(%c0, %c0) {
  ^bb0(%x: f32, %i: index, %j: index):
    %d = arith.subi %i, %j : index
    %end = arith.constant 31 : index // last
    %p = arith.addi %d, %end : index
    %w = arith.index_cast %p : index to i32
    tile.yield %w : i32
  } -> vector<64x32xi32>
  tile.scatter %t, %sums[%c0] at(%n : vector<64x32xi32>) axes [0] {diagonals} : vector<64x32xf32>, memref<?xf32> // scatter
  tile.return
}
