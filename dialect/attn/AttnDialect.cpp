//===- AttnDialect.cpp - The attn dialect -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/MathRanges.h"

using namespace mlir;
using namespace attnc::attn;

#include "dialect/attn/AttnDialect.cpp.inc"

void AttnDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/attn/AttnOps.cpp.inc"
      >();
  attachMathRanges(getContext());
}

Operation *AttnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
