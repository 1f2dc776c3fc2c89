//===- ExponentUnit.cpp - How scores become weights -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/ExponentUnit.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attnc::tile;

Value ExponentUnit::power(OpBuilder &builder, Location loc, Value x) const {
  return octaves ? math::Exp2Op::create(builder, loc, x).getResult() : math::ExpOp::create(builder, loc, x).getResult();
}
