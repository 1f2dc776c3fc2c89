//===- ReferenceRules.h - Values and derivatives of scalars -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What each arith and math operation computes on one scalar, for the reference only. Floats are doubles. An integer of
// width w is held sign-extended in an int64_t, so a set i1 is -1; rules that read it as unsigned cut it to its width.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_REFERENCE_REFERENCERULES_H
#define ATTNC_DIALECT_REFERENCE_REFERENCERULES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace attnc::attn::reference {

/// y = f(x) and dy/dx; steps have a derivative of 0.
struct UnaryRule {
  llvm::StringLiteral name; ///< of the operation
  double (*value)(double x);
  double (*slope)(double x, double y);
};

/// y = f(a, b), dy/da and dy/db.
struct BinaryRule {
  llvm::StringLiteral name; ///< of the operation
  double (*value)(double a, double b);
  /// Null where y is one of the two, which then has the whole gradient: a if they tie.
  double (*slopeA)(double a, double b, double y);
  double (*slopeB)(double a, double b, double y);
};

/// An integer function of one or two operands of `width` bits. The caller wraps the result to its own width.
using IntegerFunction = int64_t (*)(int64_t a, int64_t b, unsigned width);

/// A predicate on one or two floats.
using FloatPredicate = bool (*)(double a, double b);

/// The rule of the operation called `name`, or null.
const UnaryRule *findUnaryRule(llvm::StringRef name);
const BinaryRule *findBinaryRule(llvm::StringRef name);
IntegerFunction findIntegerRule(llvm::StringRef name);
FloatPredicate findFloatPredicate(llvm::StringRef name);

/// The comparison that a predicate of `arith.cmpi` or `arith.cmpf` (as its enum's number) stands for.
IntegerFunction getIntegerComparison(unsigned predicate);
FloatPredicate getFloatComparison(unsigned predicate);

/// The low `width` bits of `value`, sign-extended: how results wrap.
int64_t wrapToWidth(int64_t value, unsigned width);
/// The low `width` bits of `value` as an unsigned number.
uint64_t toUnsigned(int64_t value, unsigned width);

/// Conversions between floats and integers of `width` bits. Out of range saturates and NaN gives 0, where MLIR leaves
/// the result open.
double signedToFloat(int64_t value, unsigned width);
double unsignedToFloat(int64_t value, unsigned width);
int64_t floatToSigned(double value, unsigned width);
int64_t floatToUnsigned(double value, unsigned width);
/// The bits of an f32 or f64 as an integer of 32 or 64 bits, and back.
double bitsToFloat(int64_t value, unsigned width);
int64_t floatToBits(double value, unsigned width);

} // namespace attnc::attn::reference

#endif // ATTNC_DIALECT_REFERENCE_REFERENCERULES_H
