//===- Coordinates.cpp - The coordinates of a kernel's regions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/Coordinates.h"
#include "dialect/attn/AttnOps.h"

using namespace mlir;
using namespace attnc::attn;

/// The coordinate that argument `argument` of region `region` of a kernel carries.
static std::optional<Coordinate> getArgumentCoordinate(unsigned region, unsigned argument) {
  static constexpr Coordinate plain[] = {Coordinate::Batch, Coordinate::Head, Coordinate::Query, Coordinate::Key};
  static constexpr Coordinate ranges[] = {Coordinate::Batch, Coordinate::Head, Coordinate::Query,
                                          Coordinate::Query, Coordinate::Key,  Coordinate::Key};
  static constexpr Coordinate keyRanges[] = {Coordinate::Batch, Coordinate::Head, Coordinate::Key, Coordinate::Key};
  // Regions of another shape are refused by the kernel's verifier, which runs after those of the operations inside.
  auto at = [](ArrayRef<Coordinate> coordinates, unsigned position) {
    return position < coordinates.size() ? std::optional(coordinates[position]) : std::nullopt;
  };
  auto after = [&](unsigned leading) { return argument < leading ? std::nullopt : at(plain, argument - leading); };
  switch (region) {
  case ScoreRegion:
    return after(1);
  case MaskRegion:
    return after(0);
  case DerivativeRegion:
    return after(2);
  case QueryBoundsRegion:
    return at(keyRanges, argument);
  default:
    return at(ranges, argument);
  }
}

std::optional<Coordinate> attnc::attn::getCoordinate(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa_and_nonnull<KernelOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return getArgumentCoordinate(argument.getOwner()->getParent()->getRegionNumber(), argument.getArgNumber());
}

bool attnc::attn::readsCoordinate(KernelOpInterface kernel, Coordinate coordinate) {
  return llvm::any_of(kernel->getRegions(), [&](Region &region) {
    return llvm::any_of(region.getArguments(), [&](BlockArgument argument) {
      return !argument.use_empty() && getCoordinate(argument) == coordinate;
    });
  });
}

/// The coordinate that index `index` of `op` looks like, where `coordinateOf` says it of a value.
static std::optional<Coordinate>
getOperandCoordinate(IndexedOpInterface op, unsigned index,
                     function_ref<std::optional<Coordinate>(Value)> coordinateOf = getCoordinate) {
  std::optional<Coordinate> coordinate = coordinateOf(op.getIndexOperands()[index]);
  auto range = dyn_cast<LoadRangeOp>(op.getOperation());
  return range && coordinateOf(range.getLast()[index]) != coordinate ? std::nullopt : coordinate;
}

std::optional<Coordinate> attnc::attn::getIndexCoordinate(IndexedOpInterface op, unsigned index) {
  DenseBoolArrayAttr coordinates = op.getCoordinatesAttr();
  return coordinates && !coordinates[index] ? std::nullopt : getOperandCoordinate(op, index);
}

DenseBoolArrayAttr attnc::attn::getIndexCoordinates(IndexedOpInterface op, unsigned first, unsigned count) {
  SmallVector<bool> coordinates;
  for (unsigned index = first; index < first + count; ++index)
    coordinates.push_back(getIndexCoordinate(op, index).has_value());
  return DenseBoolArrayAttr::get(op->getContext(), coordinates);
}

void attnc::attn::settleCoordinates(Region &region, unsigned number) {
  auto coordinateOf = [&](Value value) -> std::optional<Coordinate> {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParent() != &region)
      return std::nullopt;
    return getArgumentCoordinate(number, argument.getArgNumber());
  };
  region.walk([&](IndexedOpInterface op) {
    if (op.getCoordinatesAttr())
      return;
    SmallVector<bool> coordinates;
    for (unsigned index = 0; index < op.getIndexOperands().size(); ++index)
      coordinates.push_back(getOperandCoordinate(op, index, coordinateOf).has_value());
    op.setCoordinatesAttr(DenseBoolArrayAttr::get(op->getContext(), coordinates));
  });
}

StringRef attnc::attn::getCoordinateName(Coordinate coordinate) {
  static constexpr StringLiteral names[] = {"%b", "%h", "%i", "%j"};
  return names[static_cast<unsigned>(coordinate)];
}

int64_t attnc::attn::getAxisSize(KernelOpInterface kernel, Coordinate coordinate) {
  auto query = cast<RankedTensorType>(kernel.getQuery().getType());
  auto key = cast<RankedTensorType>(kernel.getKey().getType());
  switch (coordinate) {
  case Coordinate::Batch:
    // Packed: one more offset than sequences.
    if (kernel.isPacked()) {
      int64_t offsets = cast<RankedTensorType>(kernel.getQueryOffsets().getType()).getDimSize(0);
      return ShapedType::isDynamic(offsets) ? offsets : offsets - 1;
    }
    return query.getDimSize(0);
  case Coordinate::Head:
    return kernel.getQueryHeads();
  case Coordinate::Query:
    return query.getDimSize(kernel.isPacked() ? 0 : 1);
  case Coordinate::Key:
    if (kernel.isPaged()) {
      int64_t pages = cast<RankedTensorType>(kernel.getPageTable().getType()).getDimSize(1);
      return ShapedType::isDynamic(pages) ? pages : pages * kernel.getPageRows();
    }
    return key.getDimSize(kernel.areKeysPacked() ? 0 : 1);
  }
  llvm_unreachable("all coordinates are handled");
}

//===----------------------------------------------------------------------===//
// Rules and syntax of indices
//===----------------------------------------------------------------------===//

/// The attribute `coordinates` against the operands.
static LogicalResult verifyCoordinates(IndexedOpInterface op) {
  DenseBoolArrayAttr coordinates = op.getCoordinatesAttr();
  if (!coordinates)
    return success();
  int64_t indices = op.getIndexOperands().size();
  if (coordinates.size() != indices)
    return op->emitOpError() << "expected one entry of 'coordinates' for each of the " << indices << " indices, got "
                             << coordinates.size() << " [S4]";
  for (int64_t index = 0; index < indices; ++index)
    if (coordinates[index] && !getOperandCoordinate(op, index))
      return op->emitOpError() << "expected index " << index
                               << " to be a coordinate of a kernel's region, as 'coordinates' says [S4]";
  return success();
}

LogicalResult attnc::attn::verifyIndices(IndexedOpInterface op, RankedTensorType tensor, ValueRange indices,
                                         unsigned first) {
  if (static_cast<int64_t>(indices.size()) != tensor.getRank())
    return op->emitOpError() << "expected " << tensor.getRank() << " indices for " << tensor << ", got "
                             << indices.size() << " [S4]";
  if (failed(verifyCoordinates(op)))
    return failure();
  auto kernel = dyn_cast_or_null<KernelOpInterface>(op->getParentOp());
  if (!kernel)
    return success();
  for (unsigned dim = 0; dim < indices.size(); ++dim) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(op, first + dim);
    if (!coordinate)
      continue;
    int64_t size = tensor.getDimSize(dim), axis = getAxisSize(kernel, *coordinate);
    if (size == 1 || ShapedType::isDynamic(size) || ShapedType::isDynamic(axis) || size == axis)
      continue;
    return op->emitOpError() << "expected dimension " << dim << " of the tensor to be " << axis << " or 1, as "
                             << getCoordinateName(*coordinate) << " indexes it, got " << size << " [S4]";
  }
  return success();
}

ParseResult attnc::attn::parseIndexedAttrs(OpAsmParser &parser, NamedAttrList &attributes) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  Attribute coordinates = attributes.get("coordinates");
  if (coordinates && !isa<DenseBoolArrayAttr>(coordinates))
    return parser.emitError(loc) << "expected 'coordinates' to be an array of i1, got " << coordinates;
  return success();
}

void attnc::attn::printIndexedAttrs(OpAsmPrinter &p, IndexedOpInterface op, DictionaryAttr attributes) {
  SmallVector<StringRef> elided{"operandSegmentSizes"};
  if (DenseBoolArrayAttr coordinates = op.getCoordinatesAttr()) {
    SmallVector<bool> plain;
    for (unsigned index = 0; index < op.getIndexOperands().size(); ++index)
      plain.push_back(getOperandCoordinate(op, index).has_value());
    if (coordinates.asArrayRef() == ArrayRef(plain))
      elided.push_back("coordinates");
  }
  p.printOptionalAttrDict(attributes.getValue(), elided);
}
