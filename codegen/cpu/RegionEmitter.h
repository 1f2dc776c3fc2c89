//===- RegionEmitter.h - Elementwise regions on lanes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_REGIONEMITTER_H
#define ATTNC_CODEGEN_CPU_REGIONEMITTER_H

#include "codegen/cpu/Lanes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace attnc::cpu {

/// Writes the region of a tile.map or tile.mask for one vector of rows and one column.
///
/// Values that are the same for all rows stay scalars; others become vectors. Floats narrower than f32 are computed in
/// it, and rounded where the region narrows them. An index has 32 bits in a lane (attn-legalize-index), and 64 as a
/// scalar.
class RegionEmitter {
public:
  /// `outside`: what stands for values of the program that the region captures.
  RegionEmitter(EmitContext &context, mlir::Block &body, const mlir::IRMapping &outside);

  /// `arguments`: for each argument of the region its element: a vector, or a scalar for columns and j. Returns what is
  /// yielded, as vectors.
  Lanes emit(mlir::ValueRange arguments);

  /// Converts lanes of one integer type to another.
  static mlir::Value resize(EmitContext &context, mlir::Value lanes, mlir::Type element, bool isUnsigned = false);

  /// What an operation on vectors does to lanes, or to an element of each: same name, given operands, of which floats
  /// are f32, as that of the result is.
  static mlir::Value emitElementwise(EmitContext &context, mlir::Operation &op, mlir::ValueRange operands);

  /// A scalar as it is held: floats in f32.
  static mlir::Value widen(EmitContext &context, mlir::Value scalar);

  /// Rounds f32 lanes (or a scalar) to a narrower float type, kept in f32.
  static mlir::Value round(EmitContext &context, mlir::Value value, mlir::Type type);

private:
  mlir::Value convert(mlir::Value value, mlir::FloatType type);
  bool isRoundedWhenStored(mlir::Operation &op) const;
  mlir::Value emitOp(mlir::Operation &op);
  mlir::Value emitScalarOp(mlir::Operation &op);
  mlir::Value emitLoad(mlir::Operation &op);
  mlir::Value held(mlir::Value value);
  mlir::Type laneType(mlir::Value value) const;
  /// The vector of a region value, with elements of `element`.
  mlir::Value asLanes(mlir::Value value, mlir::Type element);

  EmitContext &context;
  mlir::Block &body;
  const mlir::IRMapping &outside;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
};

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_REGIONEMITTER_H
