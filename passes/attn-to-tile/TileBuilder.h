//===- TileBuilder.h - Builds one tile program ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Pieces that every kernel's tile program is made of. Each part has a class and a file of its name, and derives from
// the one before it, whose state and operations it builds on: a part sees those before it, and none after.
//
//   TileContext            what a program is of; operations on scalars and rows
//   TilePlace              where the tile stands
//   TileMemory             tiles of the problem's tensors, sinks
//   TileStatistics         what programs of a backward hand each other
//   TileParts              tiles that go over parts of their keys
//   TileCaptures           what regions capture
//   TileBounds             columns that a tile visits
//   TileBlockMask          the list of steps that data keeps
//   TileElementwise        scores and masks
//   TileDropout            dropout, and a step of the softmax
//   TileCapturedGradients  gradients of captured tensors, by rows and tiles
//   TileScatteredGradients those that any element adds to
//   TileSteps              loops over columns
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H

#include "passes/attn-to-tile/TileSteps.h"

namespace attnc::attn {

/// Builds the body of a `tile.program`: the program, its grid and its workspaces, and all that its parts add.
class TileBuilder : public TileSteps {
public:
  /// Starts a program of `kernel`, one of the kernels of `function`, by one of its schedules, at the end of `module`.
  /// `captured`: the captured tensor whose gradient is all that the program computes, where there is one.
  TileBuilder(mlir::ModuleOp module, const KernelFunction &function, KernelOpInterface kernel, ScheduleAttr schedule,
              llvm::StringRef name, ProgramKind kind = ProgramKind::Kernel,
              std::optional<CapturedGradient> captured = std::nullopt);
  /// Ends the program, which has those workspaces alone then that it uses.
  void finish();

private:
  /// The workspaces that a program of this schedule may use.
  llvm::SmallVector<Workspace> listWorkspaces();
  /// Rows of elements, one after the other.
  mlir::Type workspaceType(const Workspace &workspace) const;
  /// Notes in the program how large its workspaces are.
  void setWorkspaceSizes(unsigned numSymbols);
  /// How a GPU runs the program. A block mask has no products; its warps overlap each other. Areas take memory's
  /// bandwidth, and as many warps as a block can have; rows take few loads, which more warps would only wait to
  /// prepare.
  PipelineAttr programPipeline() const;
  /// Number of tiles: padded B * H * ceil(S / rows) for tiles of that many queries or keys; heads that share tiles
  /// count as one. Packed: sequences start anywhere, so there are at most ceil(T / rows) + B - 1 tiles a head, if there
  /// are rows at all; those left over find no sequence and do nothing. A block mask has a tile, and its workspace a
  /// row, for all heads together where the mask is the same for them.
  void setGrid();
  /// What conditions on launches speak of, where the kernel has some; `sizes` are those of the grid so far.
  llvm::SmallVector<mlir::AffineExpr> listLaunchSizes(llvm::SmallVectorImpl<int64_t> &sizes);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H
