//===- Formula.h - Regions as formulas for people ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_FORMULA_H
#define ATTNC_RUNTIME_EXPLAIN_FORMULA_H

#include "dialect/attn/KernelFunction.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace attnc::explain {

/// Writes the values of score, mask, bounds and blocks regions as formulas: "max(0, i_first - 4095)".
class FormulaPrinter {
public:
  /// Arguments of the function are called as `kernel` calls them.
  explicit FormulaPrinter(const attn::KernelFunction &kernel) : kernel(kernel) {}

  /// What the terminator of `region` yields, one formula each.
  std::vector<std::string> printYields(mlir::Region &region);

  /// What the kernel calls an argument of the function.
  std::string tensorName(mlir::Value tensor) const;

  /// Whether a formula stands for "no bound".
  static bool isUnbounded(llvm::StringRef formula) { return formula == "∞" || formula == "-∞"; }

private:
  /// A formula, how tightly its outermost operation binds, and its value where that is an integer.
  struct Expr {
    std::string text;
    int strength;
    std::optional<int64_t> constant;
  };

  const Expr &get(mlir::Value value);
  Expr build(mlir::Value value);
  Expr buildConstant(mlir::Attribute attribute) const;
  Expr buildOperation(mlir::Operation *op, mlir::Value value);
  Expr buildBinary(mlir::Operation *op);
  Expr buildExtremum(mlir::Operation *op, bool least);
  Expr buildSum(mlir::Operation *op, bool negate);
  std::string operand(mlir::Value value, int strength);
  std::string call(llvm::StringRef name, mlir::OperandRange operands);

  const attn::KernelFunction &kernel;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Expr>> known;
};

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_FORMULA_H
