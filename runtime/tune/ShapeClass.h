//===- ShapeClass.h - Sizes that one record stands for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What was measured at some lengths is used at others that are near: sizes are taken in octaves.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_SHAPECLASS_H
#define ATTNC_RUNTIME_TUNE_SHAPECLASS_H

#include "runtime/jit/Shapes.h"

namespace attnc::tune {

/// Sizes from `min` to `max`.
struct SizeRange {
  int64_t min = 0, max = 0;

  /// The sizes above half of a power of two and up to it, among which `size` is: 513 to 1024. The first is 0 to 1.
  static SizeRange around(int64_t size);

  bool contains(int64_t size) const { return size >= min && size <= max; }
  bool operator==(const SizeRange &other) const { return min == other.min && max == other.max; }
  bool operator!=(const SizeRange &other) const { return !(*this == other); }
};

/// Launches that one record stands for.
struct ShapeClass {
  SizeRange queries; ///< of a sequence, by which launches choose schedules
  SizeRange keys;    ///< of a sequence: the mean where they are packed
  SizeRange heads;   ///< of all sequences together: how much there is to spread over a machine

  /// The class of a launch of `kernel` at `shapes`.
  static ShapeClass of(const attn::KernelFunction &kernel, const jit::Shapes &shapes);

  bool operator==(const ShapeClass &other) const {
    return queries == other.queries && keys == other.keys && heads == other.heads;
  }

  /// The launches of the class, as schedules ask for them.
  attn::SizesAttr toSizes(mlir::MLIRContext *context) const;

  /// "513 to 1024 queries, 513 to 1024 keys, 17 to 32 heads".
  std::string toString() const;
};

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_SHAPECLASS_H
