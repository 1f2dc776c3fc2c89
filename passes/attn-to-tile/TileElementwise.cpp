//===- TileElementwise.cpp - Score and mask of a tile -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileElementwise.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

TileElementwise::ElementwiseOperands TileElementwise::gatherOperands(Region &region, Value j) {
  ElementwiseOperands operands;
  region.walk([&](LoadOp load) {
    switch (classify(load)) {
    case Capture::Row:
      operands.rows.push_back(captures.lookup(load));
      operands.rowLoads.push_back(load);
      break;
    case Capture::Column:
      operands.cols.push_back(loadCapture(load, Capture::Column, j));
      operands.colLoads.push_back(load);
      break;
    case Capture::Tile:
      operands.tiles.push_back(loadCapture(load, Capture::Tile, j));
      operands.tileLoads.push_back(load);
      break;
    case Capture::Scalar:
    case Capture::Computed:
      break;
    }
  });
  return operands;
}

Block *TileElementwise::addElementwiseBody(Region &body, ValueRange leading, const ElementwiseOperands &operands) {
  SmallVector<Type> types;
  for (ValueRange group : {leading, ValueRange(operands.tiles), ValueRange(operands.rows), ValueRange(operands.cols)})
    for (Value value : group)
      types.push_back(cast<VectorType>(value.getType()).getElementType());
  types.append({builder.getIndexType(), builder.getIndexType()});
  SmallVector<Location> locs(types.size(), loc);
  return builder.createBlock(&body, {}, types, locs);
}

Value TileElementwise::cloneComputedLoad(LoadOp load, IRMapping &mapping, Value i, Value j) {
  Value view = lookup(load.getTensor());
  SmallVector<Value> indices;
  for (auto [dim, position] : llvm::enumerate(load.getIndices())) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(load, dim);
    Value computed = mapping.lookupOrDefault(position);
    // Coordinates address rows as stored.
    if (coordinate == Coordinate::Query)
      computed = add(sub(i, geometry.shift), geometry.query.base);
    else if (coordinate == Coordinate::Key)
      computed = add(j, geometry.key.base);
    Value last = sub(viewDim(view, dim), index(1));
    indices.push_back(max(min(computed, last), index(0)));
  }
  return memref::LoadOp::create(builder, loc, view, indices);
}

/// Whether a condition on positions keeps no key past the query.
static bool keepsUpToQuery(Value keep, Value i, Value j) {
  Operation *op = keep.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op))
    return keepsUpToQuery(op->getOperand(0), i, j) || keepsUpToQuery(op->getOperand(1), i, j);
  using Predicate = arith::CmpIPredicate;
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return false;
  Predicate predicate = compare.getPredicate();
  if (compare.getLhs() == j && compare.getRhs() == i)
    return predicate == Predicate::sle || predicate == Predicate::slt;
  return compare.getLhs() == i && compare.getRhs() == j && (predicate == Predicate::sge || predicate == Predicate::sgt);
}

/// Whether the mask drops every key past the query.
static bool masksUpToQuery(KernelOpInterface kernel) {
  Region &mask = kernel.getMask();
  return !mask.empty() && keepsUpToQuery(mask.front().getTerminator()->getOperand(0), *(mask.args_end() - 2),
                                         mask.getArguments().back());
}

/// Whether `op` in a score region is the magnitude of i - j, and the mask drops every key that it is not the same as
/// i - j for: nothing need be taken away then.
static bool isForwardDistance(Operation &op, KernelOpInterface kernel) {
  auto magnitude = dyn_cast<math::AbsIOp>(op);
  auto distance = magnitude ? magnitude.getOperand().getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  Region &score = kernel.getScore();
  return distance && op.getParentRegion() == &score && distance.getLhs() == *(score.args_end() - 2) &&
         distance.getRhs() == score.getArguments().back() && masksUpToQuery(kernel);
}

std::pair<Value, Value> TileElementwise::buildPositions(Block *body) {
  Value row = *(body->args_end() - 2), column = body->getArguments().back();
  if (getRowAxis() == Coordinate::Query)
    return {row, column};
  return {add(column, geometry.shift), row};
}

Value TileElementwise::rowPosition() {
  return getRowAxis() == Coordinate::Query ? add(geometry.row0, geometry.shift) : geometry.row0;
}

SmallVector<Value> TileElementwise::cloneRegion(Region &region, Block *body, const ElementwiseOperands &operands,
                                                ValueRange leading) {
  IRMapping mapping(arguments);
  unsigned number = body->getNumArguments() - 2 - operands.tiles.size() - operands.rows.size() - operands.cols.size();
  for (ArrayRef<LoadOp> loads :
       {ArrayRef(operands.tileLoads), ArrayRef(operands.rowLoads), ArrayRef(operands.colLoads)})
    for (LoadOp load : loads)
      mapping.map(load.getResult(), body->getArgument(number++));
  auto [i, j] = buildPositions(body);
  Block &source = region.front();
  unsigned argument = 0;
  for (Value value : leading)
    mapping.map(source.getArgument(argument++), value);
  mapping.map(source.getArgument(argument), geometry.batch);
  mapping.map(source.getArgument(argument + 1), geometry.head);
  mapping.map(source.getArgument(argument + 2), i);
  mapping.map(source.getArgument(argument + 3), j);
  for (Operation &op : source.without_terminator()) {
    auto load = dyn_cast<LoadOp>(op);
    if (isForwardDistance(op, kernel)) {
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
      continue;
    }
    if (!load) {
      builder.clone(op, mapping);
      continue;
    }
    if (Value captured = captures.lookup(load); captured && !isa<VectorType>(captured.getType()))
      mapping.map(load.getResult(), captured);
    else if (!mapping.contains(load.getResult()))
      mapping.map(load.getResult(), cloneComputedLoad(load, mapping, i, j));
  }
  return llvm::map_to_vector(source.getTerminator()->getOperands(),
                             [&](Value yielded) { return mapping.lookupOrDefault(yielded); });
}

/// Whether results are of 16 bits, in which the rounding of another unit for logits does not show.
static bool isNarrow(KernelOpInterface kernel) {
  return !cast<RankedTensorType>(kernel.getQuery().getType()).getElementType().isF32();
}

/// The product with a positive constant that a score region ends in and that logits need not have, or nothing.
static arith::MulFOp findLastProduct(KernelOpInterface kernel) {
  Region &region = kernel.getScore();
  if (region.empty() || !isNarrow(kernel))
    return {};
  auto product = region.front().getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  FloatAttr factor;
  // One near the end of f32 is none in octaves.
  constexpr double largest = 1e+38;
  if (!product || !matchPattern(product.getRhs(), m_Constant(&factor)) || !(factor.getValueAsDouble() > smallestUnit) ||
      !(factor.getValueAsDouble() < largest))
    return {};
  return product;
}

/// Whether `value` is at most some 2^64, whatever tensors hold: divided by a scale, it is still finite.
static bool isModerate(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return std::abs(constant.getValueAsDouble()) <= 0x1p64;
  Operation *maker = value.getDefiningOp();
  if (auto extension = dyn_cast_or_null<arith::ExtFOp>(maker))
    return extension.getIn().getType().isF16();
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(maker))
    return llvm::all_of(maker->getOperands(), isModerate);
  return isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(maker);
}

/// The factor of `product` that is the same for a row, as `isOfRow` tells, where the other one is moderate; or null.
static Value findRowFactor(arith::MulFOp product, function_ref<bool(Value)> isOfRow) {
  Value left = product.getLhs(), right = product.getRhs();
  if (isOfRow(right) && isModerate(left))
    return right;
  return isOfRow(left) && isModerate(right) ? left : Value();
}

/// Whether `term` can be divided by a scale and stays finite, by itself or by the factor that `divideTerm` keeps so.
static bool canBeDivided(Value term, const llvm::SmallDenseSet<Value> &ofKeys) {
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product || !ofKeys.contains(term))
    return isModerate(term);
  return static_cast<bool>(findRowFactor(product, [&](Value factor) { return !ofKeys.contains(factor); }));
}

/// Where a score region only adds to the logit and takes away from it, and what it adds is linear in the key, these
/// operations, in order; else nothing. A target can add that to raw products in one operation: it is divided by the
/// scale once a row. Other terms, and those that a tensor of the row holds, are added while the scale multiplies, and
/// stay as large as they are, which may be as large as f32 holds.
static SmallVector<Operation *> findSums(KernelOpInterface kernel) {
  SmallVector<Operation *> sums;
  Region &region = kernel.getScore();
  if (region.empty())
    return sums;
  // What differs from key to key, and that of it which is not linear in the key, but for a magnitude.
  llvm::SmallDenseSet<Value> ofKeys{region.getArguments().back()}, other;
  for (Operation &op : region.front().without_terminator()) {
    auto among = [&](const llvm::SmallDenseSet<Value> &values) {
      return llvm::any_of(op.getOperands(), [&](Value operand) { return values.contains(operand); });
    };
    if (!among(ofKeys))
      continue;
    ofKeys.insert(op.result_begin(), op.result_end());
    if (among(other) || !isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp, arith::SIToFPOp, math::AbsIOp,
                             arith::MulFOp, arith::AddFOp, arith::SubFOp>(op))
      other.insert(op.result_begin(), op.result_end());
  }
  Value sum = region.getArgument(0), yielded = region.front().getTerminator()->getOperand(0);
  bool someOfKeys = false;
  while (sum != yielded) {
    Operation *next = sum.hasOneUse() ? *sum.user_begin() : nullptr;
    if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(next) || next->getOperand(0) != sum ||
        other.contains(next->getOperand(1)) || !canBeDivided(next->getOperand(1), ofKeys))
      return {};
    someOfKeys |= ofKeys.contains(next->getOperand(1));
    sums.push_back(next);
    sum = next->getResult(0);
  }
  return someOfKeys ? sums : SmallVector<Operation *>();
}

float TileElementwise::getScoreUnit() {
  FloatAttr factor;
  if (arith::MulFOp product = findLastProduct(kernel)) {
    matchPattern(product.getRhs(), m_Constant(&factor));
    return factor.getValue().convertToFloat();
  }
  // What is added may be rounded in the unit of raw products: one operation an element less.
  bool scales = kernel.getScale() || !(kernel.getLiteralScale() > smallestUnit);
  return !isNarrow(kernel) || scales || findSums(kernel).empty() ? 1 : kernel.getLiteralScale();
}

/// Whether `value`, in the body of an elementwise operation, does not depend on the position of the key.
static bool isOfRow(Value value, Block *body) {
  Value key = body->getArguments().back();
  SetVector<Operation *> makers;
  BackwardSliceOptions inBody;
  inBody.inclusive = true;
  inBody.filter = [&](Operation *op) { return op->getBlock() == body; };
  return value != key && succeeded(getBackwardSlice(value, &makers, inBody)) &&
         llvm::none_of(makers, [&](Operation *op) { return llvm::is_contained(op->getOperands(), key); });
}

/// Divides a term that is added to logits by `unit`: the factor of it that is the same for a row, which then is
/// computed once a row, and stays finite.
static void divideTerm(OpBuilder &builder, OpOperand &term, float unit) {
  Operation *sum = term.getOwner();
  Location loc = sum->getLoc();
  builder.setInsertionPoint(sum);
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  };
  auto product = term.get().getDefiningOp<arith::MulFOp>();
  Value factor = product ? findRowFactor(product, [&](Value x) { return isOfRow(x, sum->getBlock()); }) : Value();
  if (!factor) {
    term.set(arith::MulFOp::create(builder, loc, term.get(), number(1 / unit)));
    return;
  }
  constexpr float greatest = std::numeric_limits<float>::max();
  Value other = factor == product.getRhs() ? product.getLhs() : product.getRhs();
  factor = arith::MulFOp::create(builder, loc, factor, number(1 / unit));
  if (unit < 1) {
    factor = arith::MinimumFOp::create(builder, loc, factor, number(greatest));
    factor = arith::MaximumFOp::create(builder, loc, factor, number(-greatest));
  }
  term.set(arith::MulFOp::create(builder, loc, other, factor));
}

Value TileElementwise::buildScale() {
  return kernel.getScale() ? lookup(kernel.getScale()) : f32(kernel.getLiteralScale());
}

tile::MapOp
TileElementwise::buildElementMap(ArrayRef<Region *> regions, ValueRange leading, Value j, TypeRange results,
                                 function_ref<SmallVector<Value>(Block *, const ElementwiseOperands &)> body) {
  OpBuilder::InsertionGuard guard(builder);
  ElementwiseOperands operands;
  for (Region *region : regions)
    operands.append(gatherOperands(*region, j));
  SmallVector<Value> tiles(leading);
  tiles.append(operands.tiles);
  auto tile = cast<VectorType>(leading.front().getType());
  auto types = llvm::map_to_vector(results, [&](Type result) -> Type { return tile.clone(result); });
  auto map = tile::MapOp::create(builder, loc, types, tiles, operands.rows, operands.cols, rowPosition(), j);
  map.setGroup(getHeads());
  Block *block = addElementwiseBody(map.getBody(), leading, operands);
  SmallVector<Value> values = body(block, operands);
  builder.setInsertionPointToEnd(block);
  tile::YieldOp::create(builder, loc, values);
  return map;
}

tile::MapOp TileElementwise::buildElementMap(Region &region, ValueRange leading, Value j,
                                             function_ref<Value(Block *, const ElementwiseOperands &)> body) {
  return buildElementMap(
      &region, leading, j, builder.getF32Type(),
      [&](Block *block, const ElementwiseOperands &operands) { return SmallVector<Value>{body(block, operands)}; });
}

Value TileElementwise::buildNaturalScore(Value scores, Value j) {
  Region &region = kernel.getScore();
  auto body = [&](Block *block, const ElementwiseOperands &operands) -> Value {
    Value logit = arith::MulFOp::create(builder, loc, block->getArgument(0), buildScale());
    return region.empty() ? logit : cloneRegion(region, block, operands, logit).front();
  };
  return buildElementMap(region, scores, j, body).getResult(0);
}

std::pair<Value, Value> TileElementwise::buildScoreAndSlope(Value scores, Value j) {
  Region &score = kernel.getScore(), &derivative = *kernel.getDerivativeOrNull();
  auto body = [&](Block *block, const ElementwiseOperands &operands) {
    Value logit = arith::MulFOp::create(builder, loc, block->getArgument(0), buildScale());
    return SmallVector<Value>{cloneRegion(score, block, operands, logit).front(),
                              cloneRegion(derivative, block, operands, ValueRange{f32(1), logit}).front()};
  };
  Type f32 = builder.getF32Type();
  tile::MapOp map = buildElementMap({&score, &derivative}, scores, j, {f32, f32}, body);
  return {map.getResult(0), map.getResult(1)};
}

SmallVector<Value> TileElementwise::buildDerivatives(Value gradients, Value scores, Value j,
                                                     ArrayRef<unsigned> wanted) {
  Region &region = *kernel.getDerivativeOrNull();
  // What has the gradient of the score itself needs no operation; a score that is the logit reads nothing.
  SmallVector<Value> results;
  SmallVector<size_t> computed;
  SmallVector<Type> types;
  for (auto [number, place] : llvm::enumerate(wanted)) {
    bool isSame =
        region.empty() ? place == 0 : region.front().getTerminator()->getOperand(place) == region.getArgument(0);
    results.push_back(isSame ? gradients : splat(cast<VectorType>(gradients.getType()), 0));
    if (!isSame && !region.empty()) {
      computed.push_back(number);
      types.push_back(region.front().getTerminator()->getOperand(place).getType());
    }
  }
  if (computed.empty())
    return results;
  // Tiles that nothing reads would only hold registers.
  SmallVector<Value> leading{gradients};
  bool readsLogit = !region.getArgument(1).use_empty();
  if (readsLogit)
    leading.push_back(scores);
  auto body = [&](Block *block, const ElementwiseOperands &operands) {
    Value gradient = block->getArgument(0);
    Value logit =
        readsLogit ? arith::MulFOp::create(builder, loc, block->getArgument(1), buildScale()).getResult() : f32(0);
    SmallVector<Value> all = cloneRegion(region, block, operands, ValueRange{gradient, logit});
    // What has no gradient gives none, whatever the slope is there.
    Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, gradient, f32(0)), zero = f32(0);
    return llvm::map_to_vector(computed, [&](size_t number) -> Value {
      Value one = all[wanted[number]];
      return one.getType().isF32() ? arith::SelectOp::create(builder, loc, none, zero, one).getResult() : one;
    });
  };
  tile::MapOp map = buildElementMap(&region, leading, j, types, body);
  for (auto [number, result] : llvm::zip_equal(computed, map.getResults()))
    results[number] = result;
  return results;
}

Value TileElementwise::buildScore(Value scores, Value j) {
  Region &region = kernel.getScore();
  auto body = [&](Block *block, const ElementwiseOperands &operands) -> Value {
    arith::MulFOp last = findLastProduct(kernel);
    Value logit = block->getArgument(0);
    if (last || getScoreUnit() == 1)
      logit = arith::MulFOp::create(builder, loc, logit, buildScale());
    if (!region.empty())
      logit = cloneRegion(region, block, operands, logit).front();
    if (last)
      return logit.getDefiningOp<arith::MulFOp>().getLhs();
    if (getScoreUnit() != 1) {
      // What is added to raw products is in their unit.
      Operation *sum = logit.getDefiningOp();
      for (size_t number = findSums(kernel).size(); number > 0; --number, sum = sum->getOperand(0).getDefiningOp())
        divideTerm(builder, sum->getOpOperand(1), getScoreUnit());
    }
    return logit;
  };
  tile::MapOp map = buildElementMap(region, scores, j, body);
  if (masksUpToQuery(kernel))
    map->setAttr(tile::upToQueryAttrName, builder.getUnitAttr());
  return map.getResult(0);
}

/// Whether `bound`, a value of a `bounds` region, is at most one past the position `last`.
static bool isAtMostNext(Value bound, Value last) {
  if (bound == last)
    return true;
  if (auto least = bound.getDefiningOp<arith::MinSIOp>())
    return isAtMostNext(least.getLhs(), last) || isAtMostNext(least.getRhs(), last);
  auto sum = bound.getDefiningOp<arith::AddIOp>();
  IntegerAttr distance;
  return sum && sum.getLhs() == last && matchPattern(sum.getRhs(), m_Constant(&distance)) && distance.getInt() <= 1;
}

bool TileElementwise::keepsExistingKeysOnly() {
  if (kernel.getAlign() != Alignment::BottomRight || kernel.getQOffset() || kernel.getBounds().empty())
    return false;
  Block &bounds = kernel.getBounds().front();
  // (batch, head, first query, last query) to (low, full low, full high, high).
  constexpr unsigned lastQuery = 3, high = 3;
  return isAtMostNext(bounds.getTerminator()->getOperand(high), bounds.getArgument(lastQuery));
}

Value TileElementwise::buildMask(Value scores, Value j, const ColumnBounds &bounds) {
  Region &region = kernel.getMask();
  OpBuilder::InsertionGuard guard(builder);
  ElementwiseOperands operands = gatherOperands(region, j);
  SmallVector<Value> tiles{scores};
  tiles.append(operands.tiles);
  auto mask = tile::MaskOp::create(builder, loc, scores.getType(), tiles, operands.rows, operands.cols, rowPosition(),
                                   j, bounds.fullLow, bounds.fullHigh, bounds.position);
  mask.setGroup(getHeads());
  Block *body = addElementwiseBody(mask.getBody(), scores, operands);
  Value keep;
  if (!region.empty())
    keep = cloneRegion(region, body, operands, {}).front();
  if (!keep || getColumnAxis() == Coordinate::Query || !keepsExistingKeysOnly()) {
    Value column = body->getArguments().back();
    Value exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column, getSide(getColumnAxis()).count);
    keep = keep ? arith::AndIOp::create(builder, loc, keep, exists).getResult() : exists;
  }
  if (masksRows) {
    Value row = body->getArgument(body->getNumArguments() - 2);
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, row, getSide(getRowAxis()).count);
    keep = arith::AndIOp::create(builder, loc, keep, exists);
  }
  tile::YieldOp::create(builder, loc, keep);
  return mask.getResult();
}

ColumnBounds TileElementwise::maskRows(ColumnBounds bounds) {
  masksRows = true;
  Value end = add(geometry.row0, index(getRows()));
  Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, end, getSide(getRowAxis()).count);
  bounds.fullHigh = arith::SelectOp::create(builder, loc, whole, bounds.fullHigh, bounds.fullLow);
  return bounds;
}

SmallVector<Value> TileElementwise::buildMaps(ValueRange tiles, ValueRange rows, ValueRange columns, TypeRange elements,
                                              function_ref<SmallVector<Value>(ValueRange elements)> body) {
  OpBuilder::InsertionGuard guard(builder);
  ArrayRef<int64_t> shape = cast<VectorType>(tiles.front().getType()).getShape();
  auto types = llvm::map_to_vector(elements, [&](Type element) -> Type { return VectorType::get(shape, element); });
  auto map = tile::MapOp::create(builder, loc, types, tiles, rows, columns, index(0), index(0));
  ElementwiseOperands operands;
  llvm::append_range(operands.rows, rows);
  llvm::append_range(operands.cols, columns);
  Block *block = addElementwiseBody(map.getBody(), tiles, operands);
  tile::YieldOp::create(builder, loc, body(block->getArguments().drop_back(2)));
  return map.getResults();
}

Value TileElementwise::buildMap(ValueRange tiles, ValueRange rows, ValueRange columns, Type element,
                                function_ref<Value(ValueRange elements)> body) {
  return buildMaps(tiles, rows, columns, element, [&](ValueRange x) { return SmallVector<Value>{body(x)}; }).front();
}

Value TileElementwise::scaleRows(Value tile, Value rowFactors, Type element, bool mostlyOne, bool zeroDrops) {
  OpBuilder::InsertionGuard guard(builder);
  auto type = VectorType::get(cast<VectorType>(tile.getType()).getShape(), element);
  auto map = tile::MapOp::create(builder, loc, TypeRange(type), ValueRange{tile}, ValueRange{rowFactors}, ValueRange{},
                                 index(0), index(0));
  map.setScalesRows(!zeroDrops && element.isF32());
  map.setMostlyOne(mostlyOne);
  ElementwiseOperands operands;
  operands.rows.push_back(rowFactors);
  Block *body = addElementwiseBody(map.getBody(), tile, operands);
  Value factor = body->getArgument(1);
  Value product = arith::MulFOp::create(builder, loc, body->getArgument(0), factor);
  if (zeroDrops) {
    Value drops = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, factor, f32(0));
    product = arith::SelectOp::create(builder, loc, drops, f32(0), product);
  }
  Value narrow = element.isF32() ? product : arith::TruncFOp::create(builder, loc, element, product).getResult();
  tile::YieldOp::create(builder, loc, narrow);
  return map.getResult(0);
}
