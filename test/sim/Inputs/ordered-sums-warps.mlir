// Tiles that all add to the same sums in the order of the grid, by loads and stores of threads.
tile.program @ordered(%X: memref<?x64xf32>, %S: memref<?x64xf32>, %C: memref<?x?xi32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 64)>, grid_sizes = array<i64: 0, 0>, rows = 64, panel = 64,
                pipeline = #attn.warps<consumers = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %X, %c0 : memref<?x64xf32>
  %first = arith.muli %n, %c64 : index
  %place = arith.addi %n, %c1 : index
  %t = tile.load %X[%first, %c0] axes [0, 1] below(%rows, %c64) : memref<?x64xf32> -> vector<64x64xf32>
  tile.store %t, %S[%c0, %c0] axes [0, 1] below(%c64, %c64) order(%place after %n of %C[%c0, %c0] : memref<?x?xi32>) {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32> // add
  tile.return
}
