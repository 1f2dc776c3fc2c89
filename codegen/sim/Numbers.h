//===- Numbers.h - Numbers, arrays and what operations do -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The simulator computes with the rules of the reference (dialect/reference/ReferenceRules.h), rounded to each
// operation's own type: floats are held as doubles that their type can represent, integers sign-extended, so a set i1
// is -1.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_NUMBERS_H
#define ATTNC_CODEGEN_SIM_NUMBERS_H

#include "dialect/reference/Reference.h"
#include "dialect/reference/ReferenceRules.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <memory>
#include <vector>

namespace attnc::sim {

/// One element of any type.
union Number {
  double f;
  int64_t i;
};

/// What one warpgroup holds of a tile, or of a vector, row by row. A row vector has one column, or one for each of the
/// lanes that hold parts of a row; a column vector has one row.
struct Array {
  Array(int64_t rows, int64_t columns) : rows(rows), columns(columns), data(rows * columns) {}

  Number *row(int64_t number) { return data.data() + number * columns; }
  const Number *row(int64_t number) const { return data.data() + number * columns; }

  int64_t rows, columns;
  std::vector<Number> data;
  /// What a sum with `tile.row_shift` has left out of each element, which who reads it adds; empty for nothing.
  std::vector<Number> shifts;
};

/// A constant as a number.
Number toNumber(mlir::Attribute attribute);

/// Element `offset` of a tensor as a number.
Number loadNumber(attn::ElementKind kind, const void *data, int64_t offset);

/// One operation of arith, math or vector, ready to run on many elements.
class ElementOp {
public:
  /// Reads `op`; false where it has no meaning here.
  bool compile(mlir::Operation *op);

  /// Leaves a product of f32 as it is, for the sum that rounds it: an f64 holds all of its digits.
  void keepExact() { rounding = attn::ElementKind::F64; }

  /// Computes `count` elements of each result.
  void run(llvm::ArrayRef<const Number *> operands, llvm::ArrayRef<Number *> results, int64_t count) const;

private:
  enum class Kind : uint8_t { Unary, Binary, Fma, Integer, WideProduct, TestFloat, ToFloat, ToInteger, Select, Copy };

  bool compileRule(mlir::Operation *op);
  bool compileConversion(mlir::Operation *op);

  Kind kind = Kind::Copy;
  attn::ElementKind rounding = attn::ElementKind::F64; ///< of a float result
  unsigned width = 64;                                 ///< of integer operands
  unsigned resultWidth = 64;                           ///< of an integer result
  bool isUnary = false;                                ///< a rule of one operand gets it twice
  bool isUnsigned = false;                             ///< of a wide product
  const attn::reference::UnaryRule *unary = nullptr;
  const attn::reference::BinaryRule *binary = nullptr;
  attn::reference::IntegerFunction integer = nullptr;
  attn::reference::FloatPredicate testFloat = nullptr;
  double (*toFloat)(int64_t, unsigned) = nullptr;
  int64_t (*toInteger)(double, unsigned) = nullptr;
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_NUMBERS_H
