//===- CudaTypes.h - Types and constants in CUDA C++ ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_CUDATYPES_H
#define ATTNC_CODEGEN_NVRTC_CUDATYPES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace attnc::nvrtc {

/// How tightly the outermost operator of an expression binds, tightest first.
enum class Binding { Primary, Unary, Product, Sum, Shift, Relation, Equality, Bits, Choice };

/// An expression of C++.
struct Expr {
  std::string text;
  Binding binding = Binding::Primary;

  /// The text, in brackets where the outermost operator binds less than `atLeast`.
  std::string in(Binding atLeast) const { return binding <= atLeast ? text : "(" + text + ")"; }
};

/// What `type` is called, as attnc_device.cuh defines it; empty where C++ has nothing for it. Pointers are no types of
/// their own here: what they point to, only who uses them knows.
std::string getTypeName(mlir::Type type);

/// Whether `type` is a float of 16 bits.
bool isNarrowFloat(mlir::Type type);

/// The number that `value` is, or null where it is not known: addresses and such have no number.
mlir::Attribute findNumber(mlir::Value value);

/// A constant of type `type`, which has a name.
Expr writeConstant(mlir::Attribute value, mlir::Type type);

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_CUDATYPES_H
