//===- ExponentUnit.h - How scores become weights ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_EXPONENTUNIT_H
#define ATTNC_DIALECT_TILE_EXPONENTUNIT_H

#include "mlir/IR/Builders.h"

namespace attnc::tile {

/// How scores become weights: `base^((score - max) * factor - lowering())`.
struct ExponentUnit {
  bool octaves =
      true; ///< the base is 2, which hardware computes; else e, which keeps f32 exact: log2(e) is no f32 number
  float factor = 1;
  int64_t headroom = 0; ///< octaves that all weights are below that

  /// base^x of a scalar or vector.
  mlir::Value power(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x) const;
  /// Exponents of one natural unit: log2(e) or 1.
  float perNatural() const { return octaves ? 1.44269504088896340736f : 1.0f; }
  /// Exponents of one octave: 1 or ln(2).
  float perOctave() const { return octaves ? 1.0f : 0.693147180559945309417f; }
  /// Exponents that the headroom takes.
  float lowering() const { return static_cast<float>(headroom) * perOctave(); }
};

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_EXPONENTUNIT_H
