//===- TileDialect.h - The tile dialect -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TILEDIALECT_H
#define ATTNC_DIALECT_TILE_TILEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "dialect/tile/TileDialect.h.inc"

#endif // ATTNC_DIALECT_TILE_TILEDIALECT_H
