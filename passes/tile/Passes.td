//===- Passes.td - Passes on the tile dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_PASSES
#define ATTNC_PASSES_TILE_PASSES

include "mlir/Pass/PassBase.td"

def TileSplitRanges : Pass<"tile-split-ranges", "::attnc::tile::ProgramOp"> {
  let summary = "Cuts loops over keys into masked and full stretches";
  let description = [{
    A loop whose masks say where they keep everything (`full`) becomes three in a row over the same values: masked, full,
    masked; in the full one the masks are gone. Stretches that are known to be empty are dropped.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numSplit", "split", "Loops cut">];
}

#endif // ATTNC_PASSES_TILE_PASSES
