//===- RegionInterpreter.h - Bounds and blocks as numbers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_PASSES_REGIONINTERPRETER_H
#define ATTNC_TEST_UNIT_PASSES_REGIONINTERPRETER_H

#include "MaskCases.h"
#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace attnc::test {

/// Interprets a region of a kernel. Arithmetic is MLIR's own constant folding; loads read the problem's tensors.
class RegionInterpreter {
public:
  /// `indexBits`: 64, or 32 for a machine whose `index` has no more.
  RegionInterpreter(mlir::Region &region, const Problem &problem, unsigned indexBits = 64)
      : region(region), problem(problem), indexBits(indexBits) {}

  /// What the region yields for `coordinates`, one for each argument of the region; conditions are 0 or 1. Nothing, and
  /// a failure of the test, where an operation is not understood.
  std::optional<std::vector<int64_t>> run(const std::vector<int64_t> &coordinates);

private:
  bool step(mlir::Operation &op);
  bool load(mlir::Operation &op);
  /// Where `index`, which stands for dimension `dim` in a load, addresses `size` elements: a coordinate its row, a
  /// computed one clamped (S4).
  std::optional<int64_t> address(attn::IndexedOpInterface op, unsigned dim, mlir::Value index, int64_t size);
  int64_t element(llvm::StringRef tensor, llvm::ArrayRef<int64_t> at) const;
  std::optional<int64_t> integer(mlir::Value value);
  void set(mlir::Value value, int64_t number);
  mlir::Attribute lookUp(mlir::Value value);
  bool stepNarrow(mlir::Operation &op);

  /// What the interpreter has for the integers of a region, for tests of single values.
public:
  std::optional<int64_t> find(mlir::Value value) { return integer(value); }

private:
  mlir::Region &region;
  const Problem &problem;
  unsigned indexBits;
  llvm::DenseMap<mlir::Value, mlir::Attribute> values;
};

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_PASSES_REGIONINTERPRETER_H
