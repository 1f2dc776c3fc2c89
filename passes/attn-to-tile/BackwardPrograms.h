//===- BackwardPrograms.h - Tile programs of gradients ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A backward in two programs without a reduction between tiles: one has tiles of queries and accumulates their gradient
// over the keys, the other has tiles of keys and accumulates the gradients of keys and values over the queries of all
// heads of their group. Seven products in place of five, and the same bits in every run. Where sums of both do not fit
// the registers, the gradients of keys and those of values have a program each: eight products.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_BACKWARDPROGRAMS_H
#define ATTNC_PASSES_ATTN_TO_TILE_BACKWARDPROGRAMS_H

#include "passes/attn-to-tile/TileBuilder.h"

namespace attnc::attn {

/// Writes the body of the program that `b` has started for `op` by a schedule of `Program::Dq`. It comes first: it
/// leaves the statistics of each row of queries in the workspace.
void writeQueryGradient(TileBuilder &b, BackwardOp op);

/// Writes the body of the program that `b` has started for `op` by a schedule of `Program::Dkdv`, `Dk`, `Dv` or
/// `Dqdkdv`: with the gradients of keys, of values, or of both, or of all three, where those of queries are added to
/// sums in the workspace.
void writeKeyGradients(TileBuilder &b, BackwardOp op, bool ofKeys, bool ofValues, bool ofQueries = false);

/// Writes the body of the program that `b` has started for `op` by a schedule of `Program::Delta`, which comes before
/// `Dqdkdv`, leaves the statistics of each row of queries in the workspace and clears the sums there; or of
/// `Program::ConvertDq`, which comes after it and makes gradients of queries of them.
void writeStatistics(TileBuilder &b, BackwardOp op);
void writeConvertedSums(TileBuilder &b, BackwardOp op);

/// Writes the body of the program that `b` has started for `op` by a schedule of `Program::Dsinks`.
void writeSinkGradients(TileBuilder &b, BackwardOp op);

/// Writes the body of the program that `b` has started for `op` by a schedule of `Program::Dscattered`, for all
/// scattered gradients of captured tensors.
void writeScattered(TileBuilder &b, BackwardOp op);

/// Writes the body of the program that `b` has started for one captured tensor of `op` by a schedule of
/// `Program::Dbias`, `Dbuckets`, `ClearScattered` or `Dsums`. All come after the others, whose statistics they read.
void writeCapturedGradient(TileBuilder &b, BackwardOp op, const CapturedGradient &captured);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_BACKWARDPROGRAMS_H
