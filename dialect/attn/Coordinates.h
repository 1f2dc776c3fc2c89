//===- Coordinates.h - The coordinates of a kernel's regions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Regions receive the batch entry, the query head, and the positions of query and key as block arguments. A load that
// uses one as it is addresses that axis of the problem (see `attn.load`).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_COORDINATES_H
#define ATTNC_DIALECT_ATTN_COORDINATES_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace attnc::attn {

/// An axis of the problem.
enum class Coordinate { Batch, Head, Query, Key };

/// The coordinate that `value` is, if it is a region argument of a kernel that carries one. In the regions `bounds` and
/// `blocks` both ends of a range count as the coordinate.
std::optional<Coordinate> getCoordinate(mlir::Value value);

/// "%b", "%h", "%i" or "%j": the name that the documentation gives a coordinate.
llvm::StringRef getCoordinateName(Coordinate coordinate);

/// Size of an axis in the tensors as stored: B, Hq, Sq (packed: the packed rows) or Sk; may be dynamic.
int64_t getAxisSize(KernelOpInterface kernel, Coordinate coordinate);

/// Checks indices of a captured tensor: their number, and static sizes against the axes that they address (S4).
mlir::LogicalResult verifyIndices(mlir::Operation *op, mlir::RankedTensorType tensor, mlir::ValueRange indices);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_COORDINATES_H
