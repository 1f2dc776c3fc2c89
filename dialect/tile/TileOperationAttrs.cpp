//===- TileOperationAttrs.cpp - What passes say of operations ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileDialect.h"
#include "dialect/tile/TileOps.h"

using namespace mlir;
using namespace attnc::tile;

/// Attributes that say all by being there.
static constexpr llvm::StringLiteral units[] = {
    weightAttrName,        guardedAttrName,    nonpositiveAttrName, approximateMathAttrName, rowShiftAttrName,
    byRowAttrName,         upToQueryAttrName,  loadAheadAttrName,   predicatedAttrName,      uniformStagesAttrName,
    uniformNumberAttrName, startsNextAttrName, adjacentAttrName,
};

/// Numbers from 0 on, and from 1 on.
static constexpr llvm::StringLiteral indices[] = {stageAttrName, keptAttrName, heldAttrName, anchorAttrName};
static constexpr llvm::StringLiteral counts[] = {sharedReciprocalAttrName, multiplyAddShareAttrName, chainsAttrName,
                                                 loadsTogetherAttrName, minBlocksAttrName};

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto expected = [&] { return op->emitOpError() << "expected '" << name << "' to be "; };
  if (llvm::is_contained(units, name))
    return isa<UnitAttr>(attribute.getValue()) ? success() : expected() << "a unit";
  if (name == launchAttrName)
    return isa<LaunchAttr>(attribute.getValue()) ? success() : expected() << "#tile.launch";
  if (name == overlapAttrName)
    return isa<OverlapAttr>(attribute.getValue()) ? success() : expected() << "#tile.overlap";
  bool isIndex = llvm::is_contained(indices, name), isColumns = name == loadColumnsAttrName;
  if (!isIndex && !isColumns && !llvm::is_contained(counts, name))
    return op->emitOpError() << "'" << name << "' is no attribute of operations";
  auto value = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!value || !value.getType().isInteger(64))
    return expected() << "an i64";
  int64_t number = value.getInt(), least = isIndex ? 0 : 1;
  if (isColumns && number != 8 && number != 16)
    return expected() << "8 or 16, got " << number;
  if (number < least)
    return expected() << "at least " << least << ", got " << number;
  return success();
}
