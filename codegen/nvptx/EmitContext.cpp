//===- EmitContext.cpp - What emitters of one role share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

Type EmitContext::scalarType(Type type) const { return type.isIndex() ? ptx.b.getI32Type() : type; }

void EmitContext::onlyIf(Value condition, llvm::function_ref<void()> body) {
  auto guard = scf::IfOp::create(ptx.b, ptx.loc, condition);
  OpBuilder::InsertionGuard insertion(ptx.b);
  ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
  body();
}

void EmitContext::onOneThread(llvm::function_ref<void()> body) {
  if (!wholeWarp)
    return body();
  onlyIf(ptx.equal(place.lane, 0), body);
}

Value EmitContext::findBarrier(Value warpgroup, int64_t first) { return ptx.add(warpgroup, first + firstConsumer); }

void EmitContext::syncWarpgroup() {
  constexpr int64_t firstBarrier = 8;
  ptx.barrierSync(findBarrier(place.warpgroup, firstBarrier), warpgroupThreads);
}

int64_t nvptx::countWarpgroups(Operation *op) {
  if (auto role = op->getParentOfType<tile::RoleOp>())
    return static_cast<int64_t>(role.getWarpgroups());
  return op->getParentOfType<tile::ProgramOp>().getPipelineAttr().getConsumers();
}

TilePart nvptx::getPartOf(tile::StartOp start, bool left) {
  bool byColumns = isDealtByColumns(start.getResult().getType().getTile(), countWarpgroups(start));
  if (!left)
    return byColumns ? TilePart::OwnColumns : TilePart::Whole;
  return start.getLeftTransposed() ? TilePart::Whole : TilePart::OwnRows;
}

void EmitContext::storeFragment(Value address, const tile::SharedLayout &layout, ArrayRef<Value> packed, int64_t first,
                                int64_t end) {
  Value region = ptx.add(address, ptx.mul(place.warpgroup, tile::warpgroupRows * tile::SharedLayout::rowBytes));
  Value row = ptx.add(ptx.mul(place.warp, tile::warpRows), ptx.bitAnd(place.lane, 15));
  Value permutation = ptx.shiftLeft(ptx.bitAnd(row, 7), 4);
  Value half = ptx.shiftLeft(ptx.shiftRight(place.lane, 4), 4); // the second matrix of each row: 16 bytes on
  Value start = ptx.add(region, ptx.add(ptx.mul(row, tile::SharedLayout::rowBytes), ptx.bitXor(half, permutation)));
  // Sixteen columns a step: four matrices of 8x8.
  for (int64_t column = first; column < end; column += 16) {
    int64_t word = column / 4, inPanel = (column - first) % layout.panelColumns;
    int64_t panel = (column - first) / layout.panelColumns;
    int64_t words = std::min<int64_t>(4, (end - column) / 4);
    // Rows start at multiples of their bytes, so that what is permuted in them is the low bits of addresses.
    ptx.storeMatrices(ptx.bitXor(ptx.add(start, panel * layout.panelBytes()), ptx.i32(inPanel * 2)),
                      packed.slice(word, words));
  }
}

Value EmitContext::localArray(Type type, int64_t count) {
  OpBuilder &b = ptx.b;
  OpBuilder::InsertionGuard guard(b);
  // At the function's start, where LLVM looks for what can be registers.
  b.setInsertionPointToStart(&abi.getFunction().getBody().front());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AllocaOp::create(b, ptx.loc, pointer, type, ptx.i32(count));
}

/// The constant of type `type` for an attribute of one element.
static Value constantOf(Ptx &ptx, Attribute attribute, Type type) {
  // Sums that fit 32 bits are right whatever their summands are (attn-legalize-index).
  if (auto integer = dyn_cast<IntegerAttr>(attribute); integer && type.isIndex())
    return ptx.i32(static_cast<int32_t>(integer.getInt()));
  return arith::ConstantOp::create(ptx.b, ptx.loc, cast<TypedAttr>(attribute));
}

bool EmitContext::knows(Value value) const {
  return scalars.contains(value) || abi.isScalar(value) || matchPattern(value, m_Constant());
}

Value EmitContext::scalar(Value value) {
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  if (abi.isScalar(value))
    return abi.getScalar(value);
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return constantOf(ptx, attribute, value.getType());
  llvm_unreachable("a scalar is used before it is computed");
}

/// The element of a splat constant, or null.
static Value splatOf(Ptx &ptx, Value vector) {
  DenseElementsAttr elements;
  if (!matchPattern(vector, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return constantOf(ptx, elements.getSplatValue<Attribute>(), elements.getElementType());
}

/// Element `number` of what the thread has of a vector, which is among `known` or a constant.
static Value elementOf(Ptx &ptx, const llvm::DenseMap<Value, SmallVector<Value>> &known, Value vector, int64_t number) {
  if (auto it = known.find(vector); it != known.end())
    return it->second[number];
  Value splat = splatOf(ptx, vector);
  assert(splat && "a vector is used before it is computed");
  return splat;
}

Value EmitContext::row(Value vector, int64_t threadRow) { return elementOf(ptx, rows, vector, threadRow); }

Value EmitContext::column(Value vector, int64_t threadColumn) { return elementOf(ptx, columns, vector, threadColumn); }

Value EmitContext::element(Value tile, int64_t element) {
  Value value = unshifted(tile, element);
  auto it = tiles.find(tile);
  if (it == tiles.end() || it->second.shifts.empty())
    return value;
  return arith::AddFOp::create(ptx.b, ptx.loc, value, it->second.shifts[threadRowOf(element)]);
}

SmallVector<Value> EmitContext::packedWords(Value tile) {
  if (auto it = tiles.find(tile); it != tiles.end()) {
    assert(it->second.packed && it->second.shifts.empty() && "a tile of 16-bit elements has both in one word");
    return it->second.values;
  }
  DenseElementsAttr elements;
  bool isConstant = matchPattern(tile, m_Constant(&elements)) && elements.isSplat();
  assert(isConstant && "a tile is used before it is computed");
  (void)isConstant;
  auto bits = static_cast<int32_t>(elements.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue() * 0x10001);
  auto type = cast<VectorType>(tile.getType());
  return SmallVector<Value>(countElements(type) / 2, ptx.i32(bits));
}

Value EmitContext::unshifted(Value tile, int64_t element) {
  auto it = tiles.find(tile);
  if (it == tiles.end()) {
    Value splat = splatOf(ptx, tile);
    assert(splat && "a tile is used before it is computed");
    return splat;
  }
  const Fragment &fragment = it->second;
  if (!fragment.packed)
    return fragment.values[element];
  Value word = fragment.values[element / 2];
  Value half = element % 2 ? ptx.shiftRight(word, 16) : word;
  Value bits = arith::TruncIOp::create(ptx.b, ptx.loc, ptx.b.getI16Type(), half);
  Type type = cast<VectorType>(tile.getType()).getElementType();
  return type == bits.getType() ? bits : arith::BitcastOp::create(ptx.b, ptx.loc, type, bits).getResult();
}

int64_t EmitContext::countParts(VectorType type) const {
  if (pipeline.getStaging() != attn::Staging::CpAsync)
    return 1;
  int64_t rows = tile::isColumnVector(type) ? programRows : type.getDimSize(0);
  return std::max<int64_t>(pipeline.getConsumers() * warpgroupRows / rows, 1);
}

std::pair<Value, Value> EmitContext::findPart(VectorType tile) {
  const int64_t rowsOfWarp = warpgroupRows / warpsOfWarpgroup;
  if (countParts(tile) == 1)
    return {ptx.add(ptx.mul(place.warpgroup, warpgroupRows), ptx.mul(place.warp, rowsOfWarp)), {}};
  auto [row, part] = dealRows(tile.getDimSize(0));
  return {ptx.mul(row, rowsOfWarp), ptx.mul(part, columnsOfWarp(tile))};
}

std::pair<Value, Value> EmitContext::dealRows(int64_t rows) {
  // Warps of a warpgroup that have rows of their own, of which there may be fewer.
  const int64_t rowsOfWarp = warpgroupRows / warpsOfWarpgroup, along = std::min(rows / rowsOfWarp, warpsOfWarpgroup);
  Value row = along == warpsOfWarpgroup ? place.warp : ptx.bitAnd(place.warp, along - 1);
  Value part = place.warpgroup;
  if (along < warpsOfWarpgroup)
    part = ptx.add(ptx.mul(part, warpsOfWarpgroup / along), ptx.shiftRight(place.warp, llvm::Log2_64(along)));
  return {row, part};
}

Value EmitContext::findPartOfRows() { return dealRows(programRows).second; }

Value EmitContext::moveToColumn(Value address, const tile::SharedLayout &layout, Value column) {
  if (!column)
    return address;
  Value panel = ptx.shiftRight(column, llvm::Log2_64(layout.panelColumns));
  Value inPanel = ptx.bitAnd(column, layout.panelColumns - 1);
  return ptx.bitXor(ptx.add(address, ptx.mul(panel, layout.panelBytes())), ptx.shiftLeft(inPanel, 1));
}

/// A tile with the rows of all, and the columns of `type`, which may be a column vector.
static VectorType getTileOfProgram(VectorType type, int64_t rows) {
  return VectorType::get({rows, type.getDimSize(1)}, type.getElementType());
}

Value EmitContext::findSharedRow() {
  auto any = VectorType::get({programRows, tile::warpgroupRows}, ptx.b.getF32Type());
  return ptx.add(findPart(any).first, ptx.shiftRight(place.lane, 2));
}

Value EmitContext::findFirstColumn(VectorType type) {
  return countParts(type) == 1 ? Value() : findPart(getTileOfProgram(type, programRows)).second;
}

Value EmitContext::findColumn(VectorType type) {
  Value first = findFirstColumn(type);
  return first ? ptx.add(place.column, first) : place.column;
}

std::pair<Value, Value> EmitContext::divide(Value x, int64_t by) {
  Value divisor = ptx.i32(by);
  return {arith::DivUIOp::create(ptx.b, ptx.loc, x, divisor), arith::RemUIOp::create(ptx.b, ptx.loc, x, divisor)};
}

Value EmitContext::stepsOf(Value row, int64_t size) {
  // A shift in the end: sizes are powers of two on GPUs.
  return size == 1 ? row : arith::DivUIOp::create(ptx.b, ptx.loc, row, ptx.i32(size)).getResult();
}

void EmitContext::moveToRow(MutableArrayRef<Value> indices, int64_t axis, tile::RowGroup group, Value row) {
  indices[axis] = ptx.add(indices[axis], stepsOf(row, group.size));
  if (group.dimension < 0)
    return;
  Value inGroup = arith::RemUIOp::create(ptx.b, ptx.loc, row, ptx.i32(group.size));
  indices[group.dimension] = ptx.add(indices[group.dimension], inGroup);
}

void EmitContext::reinterpret(memref::ReinterpretCastOp cast) {
  auto type = mlir::cast<MemRefType>(cast.getType());
  auto valueOf = [&](OpFoldResult size) -> Value {
    if (auto value = dyn_cast<Value>(size))
      return scalar(value);
    return ptx.i32(mlir::cast<IntegerAttr>(mlir::cast<Attribute>(size)).getInt());
  };
  View view{type, abi.getView(cast.getSource()).pointer, {}, {}};
  view.pointer = ptx.shift(view.pointer, type.getElementType(), ptx.widen(valueOf(cast.getMixedOffsets().front())));
  for (OpFoldResult size : cast.getMixedSizes())
    view.sizes.push_back(valueOf(size));
  for (OpFoldResult stride : cast.getMixedStrides())
    view.strides.push_back(ptx.widen(valueOf(stride)));
  abi.setView(cast.getResult(), view);
}

Value EmitContext::findBand(Value view, Value row, Value column) {
  Value start = abi.getView(view).address(ptx.b, ptx.loc, {row, ptx.i32(0)});
  // Whole blocks come before it.
  return column ? ptx.shift(start, ptx.b.getF32Type(), ptx.mul(column, tile::BlockedRows::bandRows)) : start;
}

SmallVector<Value> EmitContext::findBands(Value view, Value row, VectorType tile) {
  auto [first, column] = findPart(tile);
  row = ptx.add(row, first);
  SmallVector<Value> bands;
  for (int64_t band = 0; band < countBands(); ++band)
    bands.push_back(findBand(view, ptx.add(row, band * tile::BlockedRows::bandRows), column));
  return bands;
}

SmallVector<Value> EmitContext::cloneScalar(Operation &op, llvm::function_ref<Value(Value)> lookup) {
  OpBuilder &b = ptx.b;
  Attribute constant;
  if (matchPattern(&op, m_Constant(&constant)))
    return {constantOf(ptx, constant, op.getResult(0).getType())};
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return {abi.getView(dim.getSource()).sizes[*dim.getConstantIndex()]};
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    SmallVector<Value> indices = llvm::map_to_vector(load.getIndices(), lookup);
    return {abi.getView(load.getMemRef()).load(b, ptx.loc, indices)};
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value value = lookup(op.getOperand(0));
    Type type = scalarType(getElementTypeOrSelf(op.getResult(0).getType()));
    unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to)
      return {value};
    if (from > to)
      return {arith::TruncIOp::create(b, ptx.loc, type, value)};
    if (isa<arith::IndexCastUIOp>(op))
      return {arith::ExtUIOp::create(b, ptx.loc, type, value)};
    return {arith::ExtSIOp::create(b, ptx.loc, type, value)};
  }
  // An index whose magnitude does not fit 32 bits has 64 (attn-legalize-index).
  if (isa<math::AbsIOp>(op) && getElementTypeOrSelf(op.getResult(0).getType()).isIndex())
    return {ptx.magnitude(lookup(op.getOperand(0)))};
  OperationState state(ptx.loc, op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(lookup(operand));
  for (Type type : op.getResultTypes())
    state.types.push_back(scalarType(getElementTypeOrSelf(type)));
  state.addAttributes(op.getAttrs());
  Operation *copy = b.create(state);
  return llvm::to_vector_of<Value>(copy->getResults());
}
