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
    (`vector<96x64xf32>`), a row vector has one element a row of the tile (`vector<96xf32>`), a column vector one a column,
    as a tile of one row would (`vector<1x64xf32>`): tiles have two rows or more. Where they live, in registers, in shared
    memory or in a cache, is decided later. Plain `arith` and `math` on row and column vectors, `scf` for control, `memref`
    for what the caller passes.

    Row vectors never become column vectors, nor the other way round: `vector.broadcast` gives each row, or each column,
    one scalar, and operations that give a vector another shape are refused. What is in flight or in shared memory crosses
    no edge of a loop or a branch.

    The operations are the same for forward, backward and decode and for every target: each means the same on all of them, or
    is an error where a target does not carry it out.
  }];
  let dependentDialects = ["::attnc::attn::AttnDialect"];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // ATTNC_DIALECT_TILE_DIALECT
