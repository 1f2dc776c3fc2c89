// What a program says that no kernel can do is an error at its operation.

// RUN: attnc-opt %s --tile-to-nvvm -split-input-file -verify-diagnostics -o %t

// An operation that has no meaning.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.pipeline<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @unknown(%tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 0 : i64} {
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%n: index):
        %more = arith.constant true
        // expected-error@+1 {{has no meaning in a kernel for a GPU}}
        scf.while : () -> () {
          scf.condition(%more)
        } do {
          scf.yield
        }
      }
    }
    tile.return
  }
}

// -----

// Columns that end inside the view: the copy engine would bring what follows them.

#gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                 l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
#pipeline = #attn.pipeline<consumers = 1, stages = 1, query_stages = 1, producer_registers = 24,
                           consumer_registers = 240, epilogue = direct>
module attributes {attn.target = #gpu} {
  tile.program @columns(%v: memref<?x64xbf16>, %end: index, %tile: index)
      attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 64, panel = 64, pipeline = #pipeline,
                  shared_bytes = 8240 : i64} {
    %ring = tile.ring {offset = 0 : i64, barriers = 8192 : i64} : <1 x vector<64x64xbf16>>
    tile.role <producer> warpgroups 1 registers 24 {
      tile.persistent {
      ^bb0(%n: index):
        // expected-error@+1 {{expected columns that end with the view, where the copy engine stops}}
        tile.put %ring, %v[%n, %n] axes [0, 1] below(%end, %end) : <1 x vector<64x64xbf16>>, memref<?x64xbf16>
      }
    }
    tile.return
  }
}
