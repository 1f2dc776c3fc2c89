// Tiles that all add to the same sums, in the order of the grid. Two blocks have every other tile, and each of two consumers
// half of the rows.
tile.program @ordered(%X: memref<?x64xf32>, %S: memref<?x64xf32>, %C: memref<?x?xi32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 128)>, grid_sizes = array<i64: 0, 0>, rows = 128, panel = 64,
                pipeline = #attn.roles<consumers = 2, stages = 1, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, epilogue = direct>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %buffer = tile.buffer : !tile.shared<vector<128x64xf32>>
  tile.role <consumer> warpgroups 2 registers 240 {
    tile.persistent {
    ^bb0(%n: index):
      %rows = memref.dim %X, %c0 : memref<?x64xf32>
      %first = arith.muli %n, %c128 : index
      %place = arith.addi %n, %c1 : index
      %last = arith.subi %c3, %n : index
      %four = arith.subi %c4, %n : index
      %side = arith.remui %n, %c2 : index
      %pair = arith.muli %side, %c4 : index
      %t = tile.load %X[%first, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xf32> -> vector<128x64xf32>
      tile.store %t via %buffer : !tile.shared<vector<128x64xf32>>, %S[%c0, %c0] axes [0, 1] below(%c128, %c64) order(%place after %n of %C[%c0, %c0] : memref<?x?xi32>) {accumulate, blocked} : vector<128x64xf32>, memref<?x64xf32> // add
    }
  }
  tile.return
}
