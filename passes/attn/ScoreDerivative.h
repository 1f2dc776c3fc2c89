//===- ScoreDerivative.h - Reverse mode through a score region --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Griewank and Walther, "Evaluating Derivatives" (2008), chapter 3: one sweep back over the operations gives the
// derivatives by all of a region's inputs. Regions are straight lines of scalars, so the sweep is one as well.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_SCOREDERIVATIVE_H
#define ATTNC_PASSES_ATTN_SCOREDERIVATIVE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace attnc::attn {

/// Differentiates values of one block by others of it. Derivatives follow the conventions of the reference
/// (docs/spec.md, "Gradients"): steps have none, a choice hands its gradient to what it took, and a maximum that ties
/// to its first operand.
class ScoreDerivative {
public:
  /// Writes at the end of `block`, which has no terminator yet. `inputs` are what is differentiated by.
  ScoreDerivative(mlir::Block *block, mlir::ValueRange inputs);

  /// The gradients of the inputs, f32 each, where `result` has `gradient`; both are f32.
  llvm::SmallVector<mlir::Value> run(mlir::Value result, mlir::Value gradient);

private:
  void visit(mlir::Operation *op);
  void visitFunction(mlir::Operation *op, mlir::Value gradient);
  void visitPair(mlir::Operation *op, mlir::Value gradient);
  mlir::Value slopeOf(mlir::Operation *op);
  void add(mlir::Value value, mlir::Value gradient);
  void addToChosen(mlir::Value chosen, mlir::Value a, mlir::Value b, mlir::Value gradient);
  mlir::Value choose(mlir::Value condition, bool taken, mlir::Value gradient);
  mlir::Value scale(mlir::Value gradient, mlir::Value slope);

  mlir::Value wide(mlir::Value value);
  mlir::Value convert(mlir::Value value, mlir::Type type);
  mlir::Value constant(double value, mlir::Type type);

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::DenseSet<mlir::Value> active;                 ///< what depends on an input
  llvm::DenseMap<mlir::Value, mlir::Value> gradients; ///< f64 of what is f64, else f32
  llvm::DenseSet<mlir::Value> mayBeZero;              ///< gradients that are 0 by a choice or a slope
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_SCOREDERIVATIVE_H
