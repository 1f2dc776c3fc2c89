//===- Expand.cpp - Sugar to arith and math ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "passes/attn/Passes.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNEXPAND
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {
struct Expand : attnc::attn::impl::AttnExpandBase<Expand> {
  void runOnOperation() override { expandSugar(getOperation()); }
};
} // namespace
