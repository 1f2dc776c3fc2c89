//===- RegionEvaluator.h - Bounds and blocks as numbers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_REGIONEVALUATOR_H
#define ATTNC_RUNTIME_EXPLAIN_REGIONEVALUATOR_H

#include "dialect/reference/ReferenceProgram.h"

namespace attnc::explain {

/// Interprets a `bounds` or `blocks` region for one tile at a time. Operations mean what they mean in the reference.
class RegionEvaluator {
public:
  /// A coordinate: its position, and the row that it has in the tensors as stored, which a load that uses it addresses.
  struct Coordinate {
    int64_t position, row;
  };

  /// A region whose captured values `arguments` holds.
  RegionEvaluator(mlir::Region &region, const attn::reference::Arguments &arguments)
      : region(region), arguments(arguments) {}

  /// The integers that the region yields for `coordinates`, one for each of its arguments; an i1 is 0 or not. Nothing
  /// where an operation is not known.
  std::optional<llvm::SmallVector<int64_t>> run(llvm::ArrayRef<Coordinate> coordinates);

private:
  using Slot = attn::reference::Slot;

  bool step(mlir::Operation &op);
  bool loadRange(mlir::Operation &op);
  Slot get(mlir::Value value);
  int64_t rowOf(mlir::Value index, bool isCoordinate);
  void set(mlir::Value value, Slot slot) { values[value] = slot; }
  void setInteger(mlir::Value value, int64_t integer);

  mlir::Region &region;
  const attn::reference::Arguments &arguments;
  llvm::DenseMap<mlir::Value, Slot> values;
  llvm::SmallVector<Coordinate> current;
};

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_REGIONEVALUATOR_H
