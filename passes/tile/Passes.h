//===- Passes.h - Passes on the tile dialect --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_PASSES_H
#define ATTNC_PASSES_TILE_PASSES_H

#include "dialect/tile/TileOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/tile/Passes.h.inc"

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_PASSES_H
