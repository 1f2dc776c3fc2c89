//===- TileBlockMask.h - Lists of steps -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The program that lists the steps which a mask keeps anything in.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEBLOCKMASK_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEBLOCKMASK_H

#include "passes/attn-to-tile/TileBounds.h"

namespace attnc::attn {

/// Lists the steps that data keeps.
class TileBlockMask : public TileBounds {
public:
  using TileBounds::TileBounds;

  /// Lists the steps in a workspace: all that a program of `ProgramKind::BlockMask` does.
  void buildBlockMask();
};

/// Moves what is the same for all steps of a loop, or in all branches, in front of `op`: scalars, and the least and
/// greatest elements of ranges.
void hoistInvariants(mlir::Operation *op);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEBLOCKMASK_H
