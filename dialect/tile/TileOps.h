//===- TileOps.h - Operations of the tile dialect ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TILEOPS_H
#define ATTNC_DIALECT_TILE_TILEOPS_H

#include "dialect/attn/AttnAttrs.h"
#include "dialect/tile/TileDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/tile/TileOps.h.inc"

namespace attnc::tile {

/// The tile that an operand of a product is, in registers or in shared memory.
mlir::VectorType getTileType(mlir::Value operand);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_TILEOPS_H
