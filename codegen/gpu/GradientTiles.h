//===- GradientTiles.h - What tiles of gradients take of a GPU --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Which schedules of the tables have room for the tiles and sums of one backward. GpuBackwardSchedule.cpp chooses among
// its programs, and checks schedules of a spec's own.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GRADIENTTILES_H
#define ATTNC_CODEGEN_GPU_GRADIENTTILES_H

#include "codegen/gpu/ScheduleTables.h"
#include "dialect/attn/AttnOps.h"

namespace attnc::gpu {

/// Head dims of which one program computes all three gradients: with larger ones shared memory binds it, and of others
/// the warpgroups' columns are no whole panels. Columns of a step: consumers share them.
inline constexpr int64_t oneProgramMinDim = 64, oneProgramMaxDim = 128, oneProgramColumns = 64;

/// The largest of which one program by warps does, of powers of two: warps have a power of two of a panel's pieces.
inline constexpr int64_t oneProgramMaxDimByWarps = 256;

/// Tiles and sums of the programs of one backward.
class GradientTiles {
public:
  GradientTiles(attn::BackwardOp op, attn::GpuTargetAttr target)
      : op(op), target(target), byRoles(op, target, attn::Staging::Tma), byWarps(op, target, attn::Staging::CpAsync) {}

  /// The schedules of `program` by roles; none where no table has entries for it.
  llvm::SmallVector<attn::ScheduleAttr> selectRoles(attn::Program program);
  /// The schedules of `program` by warps; none where there is no room for any.
  llvm::SmallVector<attn::ScheduleAttr> selectWarps(attn::Program program);
  /// The schedule with parts of f32 in shared memory where these find room, in steps of fewer columns if need be.
  attn::ScheduleAttr splitFloats(attn::ScheduleAttr schedule);
  /// The gradients of keys and values, in one program or in one each, by roles or by warps.
  llvm::SmallVector<attn::Program> findKeyPrograms(attn::Staging staging);
  /// Whether a program of both may have a reducer for those of keys: all that these take of weights can be handed over.
  bool maySplitSums();
  /// Whether one program may compute the gradients of queries, keys and values: by roles, or by warps.
  bool suitsOneProgram(attn::Staging staging);
  /// Whether a block mask may list its steps, where data decides about them: the heads of a group have the same.
  bool mayListSteps();
  /// Whether registers hold what a step of that takes. It has no shorter steps, as others have.
  bool fitsOneProgram();
  /// Bytes of shared memory that tiles take by `schedule`.
  int64_t countSharedBytes(attn::ScheduleAttr schedule);
  /// Of these, what a row of the tiles has in the buffers that gradients leave through.
  int64_t countStoredRowBytes(attn::ScheduleAttr schedule);

private:
  int64_t keyDim();
  int64_t valueDim();
  int64_t countSumColumns(attn::Program program);
  /// Whether registers hold what a step of `entry` takes for `program`.
  bool fitsRegisters(attn::EntryAttr entry, attn::Program program, attn::TileStep step, int64_t captureStages);
  /// The schedule of `entry` by roles, with so many buffers of captured tiles.
  attn::ScheduleAttr getRoles(attn::EntryAttr entry, attn::Program program, attn::TileStep step, int64_t captureStages);
  /// The schedule of `entry` by warps.
  attn::ScheduleAttr getWarps(attn::EntryAttr entry, attn::Program program, attn::TileStep step);
  /// Whether a block mask lists the steps of `program` by roles.
  bool listsSteps(attn::Program program) { return program == attn::Program::Dqdkdv && mayListSteps(); }
  /// The same as `schedule`, by roles, with another for launches whose captured tensors threads load, where `entries`
  /// have one that holds those in registers.
  attn::ScheduleAttr addOtherwise(attn::ScheduleAttr schedule, llvm::ArrayRef<attn::EntryAttr> entries,
                                  attn::Program program);
  /// Whether a step by roles fits registers and shared memory.
  bool fitsRoles(attn::EntryAttr entry, attn::Program program, attn::TileStep step, int64_t captureStages);
  /// Whether a step by warps does.
  bool fitsWarps(attn::EntryAttr entry, attn::Program program, attn::TileStep step);
  /// Whether products of `program` may overlap with other steps.
  bool mayOverlap(attn::Program program) { return op.getBlocks().empty() || listsSteps(program); }
  /// Whether steps of `program` may overlap as `entry` says.
  bool mayOverlapAs(attn::EntryAttr entry, attn::Program program) {
    return entry.getSchedule().getPipeline().getOverlap() == attn::Overlap::InStep || mayOverlap(program);
  }

  attn::BackwardOp op;
  attn::GpuTargetAttr target;
  ScheduleTables byRoles, byWarps;
};

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GRADIENTTILES_H
