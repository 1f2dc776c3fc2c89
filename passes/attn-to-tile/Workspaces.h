//===- Workspaces.h - What programs of a kernel hand on ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_WORKSPACES_H
#define ATTNC_PASSES_ATTN_TO_TILE_WORKSPACES_H

#include "dialect/attn/CapturedGradients.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attnc::attn {

/// Workspaces of forward, by the names that its programs share: for each tile the steps that a block mask lists
/// (`tile.block_mask`), and the rows that each part of the keys leaves.
inline constexpr llvm::StringLiteral stepsWorkspace = "steps", partsWorkspace = "parts";
/// Those of a backward: numbers of each row of queries or keys of each head, and unscaled sums of gradients of queries,
/// f32, where a program of tiles of keys adds them up, with semaphores where these add in an order: an i32 for each
/// row, of which those of the first rows of a step are used. Lists of steps are there as well.
inline constexpr llvm::StringLiteral statisticsWorkspace = "statistics", querySumsWorkspace = "query_sums",
                                     semaphoresWorkspace = "semaphores";
/// That of the sums of a scattered gradient.
std::string scatteredWorkspace(const CapturedGradient &of);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_WORKSPACES_H
