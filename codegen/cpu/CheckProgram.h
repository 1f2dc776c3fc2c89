//===- CheckProgram.h - What programs say to a CPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_CHECKPROGRAM_H
#define ATTNC_CODEGEN_CPU_CHECKPROGRAM_H

#include "codegen/cpu/Lanes.h"
#include "dialect/tile/TileOps.h"

namespace attnc::cpu {

/// Whether all that `program` says is something that the emitters carry out; else an error at the first operation that
/// is not: nothing is ignored. Loads are separated before (`separateStagedLoads`).
mlir::LogicalResult checkProgram(const EmitContext &context, tile::ProgramOp program);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_CHECKPROGRAM_H
