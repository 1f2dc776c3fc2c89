//===- TileDialect.td - The tile dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_DIALECT
#define ATTNC_DIALECT_TILE_DIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attnc::tile";
  let summary = "How one thread block, or one CPU task, computes its part";
  let description = [{
    A `tile.program` is the work of one thread block or one CPU task, on values. A tile is a 2-D vector
    (`vector<96x64xf32>`), a row vector has one element a row of the tile (`vector<96xf32>`), a column vector one a column
    (`vector<64xf32>`); where they live, in registers, in shared memory or in a cache, is decided later. Plain `arith` and
    `math` on row vectors, `scf` for control, `memref` for what the caller passes.

    The operations are the same for forward, backward and decode and for every target.
  }];
  let dependentDialects = ["::attnc::attn::AttnDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // ATTNC_DIALECT_TILE_DIALECT
