//===- AttnInterfaces.h - Interfaces of the attn dialect --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_ATTNINTERFACES_H
#define ATTNC_DIALECT_ATTN_ATTNINTERFACES_H

#include "dialect/attn/AttnAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace attnc::attn {

/// The numbers of a kernel's regions; `attn.backward` has all, others the first four.
enum KernelRegion : unsigned {
  ScoreRegion,
  MaskRegion,
  BoundsRegion,
  BlocksRegion,
  DerivativeRegion,
  QueryBoundsRegion,
  NumKernelRegions
};

} // namespace attnc::attn

#include "dialect/attn/AttnInterfaces.h.inc"

namespace attnc::attn {

/// Writes the sugar inside `op` in terms of arith and math (SugarOpInterface::expand).
void expandSugar(mlir::Operation *op);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_ATTNINTERFACES_H
