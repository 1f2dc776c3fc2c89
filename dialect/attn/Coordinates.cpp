//===- Coordinates.cpp - The coordinates of a kernel's regions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/Coordinates.h"

using namespace mlir;
using namespace attnc::attn;

std::optional<Coordinate> attnc::attn::getCoordinate(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  auto kernel = dyn_cast_or_null<KernelOpInterface>(argument.getOwner()->getParentOp());
  if (!kernel)
    return std::nullopt;
  static constexpr Coordinate plain[] = {Coordinate::Batch, Coordinate::Head, Coordinate::Query, Coordinate::Key};
  static constexpr Coordinate ranges[] = {Coordinate::Batch, Coordinate::Head, Coordinate::Query,
                                          Coordinate::Query, Coordinate::Key,  Coordinate::Key};
  Region *region = argument.getOwner()->getParent();
  unsigned number = argument.getArgNumber();
  // Regions of another shape are refused by the kernel's verifier, which runs after those of the operations inside.
  auto at = [](ArrayRef<Coordinate> coordinates, unsigned position) {
    return position < coordinates.size() ? std::optional(coordinates[position]) : std::nullopt;
  };
  if (region == &kernel.getScore())
    return number == 0 ? std::nullopt : at(plain, number - 1);
  return region == &kernel.getMask() ? at(plain, number) : at(ranges, number);
}

StringRef attnc::attn::getCoordinateName(Coordinate coordinate) {
  static constexpr StringLiteral names[] = {"%b", "%h", "%i", "%j"};
  return names[static_cast<unsigned>(coordinate)];
}

int64_t attnc::attn::getAxisSize(KernelOpInterface kernel, Coordinate coordinate) {
  auto query = cast<RankedTensorType>(kernel.getQuery().getType());
  auto key = cast<RankedTensorType>(kernel.getKey().getType());
  switch (coordinate) {
  case Coordinate::Batch:
    // Packed: one more offset than sequences.
    if (kernel.isPacked()) {
      int64_t offsets = cast<RankedTensorType>(kernel.getQueryOffsets().getType()).getDimSize(0);
      return ShapedType::isDynamic(offsets) ? offsets : offsets - 1;
    }
    return query.getDimSize(0);
  case Coordinate::Head:
    return kernel.getQueryHeads();
  case Coordinate::Query:
    return query.getDimSize(kernel.isPacked() ? 0 : 1);
  case Coordinate::Key:
    return key.getDimSize(kernel.isPacked() ? 0 : 1);
  }
  llvm_unreachable("all coordinates are handled");
}
