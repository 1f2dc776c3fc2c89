//===- TileAsyncOps.cpp - Verifying rings and roles -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"

using namespace mlir;
using namespace attnc::tile;

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages, Type element) {
  if (stages <= 0)
    return emitError() << "expected at least one stage, got " << stages;
  if (!isa<VectorType, IndexType>(element))
    return emitError() << "expected a ring of tiles or of indices, got " << element;
  return success();
}

LogicalResult GetOp::verify() {
  if (getRing().getType().getElement() != getSlot().getType().getTile())
    return emitOpError() << "expected a slot of " << getRing().getType().getElement() << ", got "
                         << getSlot().getType();
  return success();
}
