//===- TileDialect.cpp - The tile dialect -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileDialect.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/tile/TileOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc::tile;

#include "dialect/tile/TileDialect.cpp.inc"

#include "dialect/tile/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/tile/TileOps.cpp.inc"
      >();
}
