//===- Coordinates.h - The coordinates of a kernel's regions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Regions receive the batch entry, the query head, and the positions of query and key as block arguments. A load that
// is written with one as it is addresses that axis of the problem (see `attn.load`).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_COORDINATES_H
#define ATTNC_DIALECT_ATTN_COORDINATES_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include <optional>

namespace attnc::attn {

/// An axis of the problem.
enum class Coordinate { Batch, Head, Query, Key };

/// The coordinate that `value` is, if it is a region argument of a kernel that carries one. In the regions `bounds` and
/// `blocks` both ends of a range count as the coordinate.
std::optional<Coordinate> getCoordinate(mlir::Value value);

/// The coordinate that index `index` of `op` addresses its axis by (see IndexedOpInterface::getIndexOperands); nothing
/// for one that is computed, and so a number to clamp. That is what the attribute `coordinates` says, and not what the
/// operand looks like: a computed index may have been simplified to a bare coordinate.
std::optional<Coordinate> getIndexCoordinate(IndexedOpInterface op, unsigned index);

/// Entries of `coordinates` for `count` indices of `op` from `first` on, to pass on to what replaces it.
mlir::DenseBoolArrayAttr getIndexCoordinates(IndexedOpInterface op, unsigned first, unsigned count);

/// Settles which indices of the operations in a region are coordinates by what they look like now. The region is being
/// read and has no parent yet; it is to be region `number` of a kernel. Operations that say so already stay as they
/// are.
void settleCoordinates(mlir::Region &region, unsigned number);

/// Whether any region of `kernel` reads a coordinate: what becomes of logits, or what is visited, may differ along it.
bool readsCoordinate(KernelOpInterface kernel, Coordinate coordinate);

/// "%b", "%h", "%i" or "%j": the name that the documentation gives a coordinate.
llvm::StringRef getCoordinateName(Coordinate coordinate);

/// Size of an axis in the tensors as stored: B, Hq, Sq (packed: the packed rows) or Sk; may be dynamic.
int64_t getAxisSize(KernelOpInterface kernel, Coordinate coordinate);

/// Checks indices of a captured tensor, which start at index `first` of `op`: their number, static sizes against the
/// axes that they address, and `coordinates` (S4).
mlir::LogicalResult verifyIndices(IndexedOpInterface op, mlir::RankedTensorType tensor, mlir::ValueRange indices,
                                  unsigned first = 0);

/// Reads the attributes of an IndexedOpInterface.
mlir::ParseResult parseIndexedAttrs(mlir::OpAsmParser &parser, mlir::NamedAttrList &attributes);
/// Prints them; `coordinates` only where it is not what the operands look like.
void printIndexedAttrs(mlir::OpAsmPrinter &p, IndexedOpInterface op, mlir::DictionaryAttr attributes);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_COORDINATES_H
