//===- TileAsyncOps.cpp - Verifying rings and roles -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileOps.h"

using namespace mlir;
using namespace attnc::tile;

/// Tiles, in shared memory or in flight, have rows and columns.
static LogicalResult verifyTile(function_ref<InFlightDiagnostic()> emitError, VectorType tile) {
  if (tile.getRank() != 2)
    return emitError() << "expected a tile, a vector of rank 2, got " << tile;
  return success();
}

/// The same of what is in shared memory, where a tile of f32 may be as its parts.
static LogicalResult verifySharedTile(function_ref<InFlightDiagnostic()> emitError, VectorType tile) {
  return isInParts(tile) ? success() : verifyTile(emitError, tile);
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages, Type element) {
  if (stages <= 0)
    return emitError() << "expected at least one stage, got " << stages;
  if (!isa<VectorType, IndexType>(element))
    return emitError() << "expected a ring of tiles or of indices, got " << element;
  if (auto tile = dyn_cast<VectorType>(element))
    return verifySharedTile(emitError, tile);
  return success();
}

LogicalResult SharedTileType::verify(function_ref<InFlightDiagnostic()> emitError, VectorType tile) {
  return verifySharedTile(emitError, tile);
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError, VectorType tile) {
  return verifyTile(emitError, tile);
}

LogicalResult RoleOp::verify() {
  if (static_cast<int64_t>(getWarpgroups()) <= 0)
    return emitOpError("expected a warpgroup or more");
  if (!getWarp())
    return success();
  auto warp = static_cast<int64_t>(*getWarp());
  if (getKind() != RoleKind::Producer || getWarpgroups() != 1 || warp < 0 || warp >= warpsOfWarpgroup)
    return emitOpError() << "expected warps 0 to " << warpsOfWarpgroup - 1 << " of a producer's only warpgroup";
  auto before = dyn_cast_if_present<RoleOp>((*this)->getPrevNode());
  if (warp > 0 && (!before || before.getWarp() != getWarp().value() - 1 || before.getRegisters() != getRegisters()))
    return emitOpError() << "expected warp " << warp - 1 << " before it, with as many registers";
  return success();
}

LogicalResult PersistentOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError("expected a region of one argument, the number of the tile, an index");
  if (getTiles() && !getTiles().getType().getElement().isIndex())
    return emitOpError() << "expected a ring of indices, got " << getTiles().getType();
  return success();
}

/// A buffer of a ring has the ring's tiles.
template <typename Op>
static LogicalResult verifyBuffer(Op op) {
  if (op.getRing().getType().getElement() == op.getShared().getType().getTile())
    return success();
  return op.emitOpError() << "expected a tile of " << op.getRing().getType().getElement() << ", got "
                          << op.getShared().getType();
}

LogicalResult GetOp::verify() { return verifyBuffer(*this); }

LogicalResult HeldOp::verify() { return verifyBuffer(*this); }

LogicalResult RowOp::verify() {
  if (isInParts(getTile()))
    return emitOpError() << "expected no parts, got " << getTile().getType();
  VectorType tile = getTileType(getTile()), result = cast<VectorType>(getResult().getType());
  if (static_cast<int64_t>(getNumber()) >= tile.getDimSize(0))
    return emitOpError() << "expected one of the " << tile.getDimSize(0) << " rows of " << tile << ", got "
                         << getNumber();
  if (result != getColumnVectorType(tile.getDimSize(1), tile.getElementType()))
    return emitOpError() << "expected a row of " << tile << ", got " << result;
  return success();
}

LogicalResult ReadOp::verify() {
  if (isInParts(getTile()))
    return emitOpError() << "expected no parts, got " << getTile().getType();
  VectorType tile = getTileType(getTile());
  VectorType expected =
      getTransposed() ? VectorType::get({tile.getDimSize(1), tile.getDimSize(0)}, tile.getElementType()) : tile;
  if (expected != getResult().getType())
    return emitOpError() << "expected a result of " << expected << ", as the tile is, got " << getResult().getType();
  if (constexpr unsigned bits = 16; tile.getElementTypeBitWidth() != bits)
    return emitOpError() << "expected elements of " << bits << " bits, got " << tile;
  return success();
}

LogicalResult SplitOp::verify() {
  VectorType tile = getShared().getType().getTile();
  if (!tile.getElementType().isF32())
    return emitOpError() << "expected a tile of f32, got " << tile;
  if (VectorType parts = getPartsOf(tile); getRing().getType().getElement() != parts)
    return emitOpError() << "expected a ring of " << parts << ", got " << getRing().getType();
  return success();
}

LogicalResult SyncOp::verify() {
  if ((*this)->getParentOfType<RoleOp>())
    return emitOpError("expected a program without roles, whose threads wait for rings");
  return success();
}

/// What is shared are tiles that products take.
static LogicalResult verifyFactor(Operation *op, VectorType tile) {
  constexpr unsigned narrow = 16, wide = 32;
  if (tile.getRank() != 2 || (tile.getElementTypeBitWidth() != narrow && tile.getElementTypeBitWidth() != wide))
    return op->emitOpError() << "expected a tile of 16-bit or 32-bit elements, got " << tile;
  return success();
}

/// In rings consumers share tiles of 16 bits.
static LogicalResult verifyNarrow(Operation *op, Type type) {
  auto tile = dyn_cast<VectorType>(type);
  if (!tile || tile.getRank() != 2 || tile.getElementTypeBitWidth() != 16)
    return op->emitOpError() << "expected a tile of 16-bit elements, got " << type;
  return success();
}

/// Whether `parts` are row vectors of f32 like `rows`.
static bool arePartsOf(Type parts, VectorType rows) {
  auto vectors = dyn_cast<VectorType>(parts);
  return vectors && vectors.getRank() == 2 && vectors.getElementType().isF32() && rows.getElementType().isF32() &&
         vectors.getDimSize(1) == rows.getDimSize(0);
}

LogicalResult ShareOp::verify() {
  auto tile = cast<VectorType>(getValue().getType());
  if (isRowVector(tile)) {
    if (getRing() && arePartsOf(getRing().getType().getElement(), tile))
      return success();
    auto error = emitOpError() << "expected a ring of parts of " << tile << ", as vector<2x" << tile.getDimSize(0)
                               << "xf32>";
    return getRing() ? error << ", got " << getRing().getType() : error << ", got none";
  }
  if (!getRing())
    return verifyFactor(*this, tile);
  if (failed(verifyNarrow(*this, tile)))
    return failure();
  if (getRing().getType().getElement() != tile)
    return emitOpError() << "expected a ring of " << tile << ", got " << getRing().getType();
  return success();
}

LogicalResult BlockReduceOp::verify() {
  if (arePartsOf(getParts().getType().getTile(), cast<VectorType>(getRows().getType())))
    return success();
  return emitOpError() << "expected parts of " << getRows().getType() << ", got " << getParts().getType();
}

LogicalResult PostOp::verify() { return verifyNarrow(*this, getRing().getType().getElement()); }

LogicalResult TakeOp::verify() { return verifyFactor(*this, getShared().getType().getTile()); }
