//===- Passes.td - From the attn dialect to tiles ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_PASSES
#define ATTNC_PASSES_ATTN_TO_TILE_PASSES

include "mlir/Pass/PassBase.td"

def AttnToTile : Pass<"attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Lowers kernels to tile programs";
  let description = [{
    Every kernel of a function becomes one `tile.program`, which takes the function's arguments and results as views. The
    softmax is online: a running maximum and sum for each row, the output rescaled when the maximum grows (Milakov and
    Gimelshein 2018; Dao et al. 2022, section 3.1). The keys that `bounds` and `blocks` rule out are not visited.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
                           "::attnc::tile::TileDialect"];
}

#endif // ATTNC_PASSES_ATTN_TO_TILE_PASSES
