//===- TileContext.cpp - What a tile program is of --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

void TileContext::setWorkspace(StringRef name, AffineExpr rows, AffineExpr columns) {
  Workspace *workspace = llvm::find_if(workspaces, [&](const Workspace &each) { return each.name == name; });
  assert(workspace != workspaces.end() && "a workspace of the program");
  workspace->rows = rows;
  workspace->columns = columns;
}

Value TileContext::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value TileContext::f32(float value) { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value)); }
Value TileContext::splat(VectorType type, float value) {
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getF32FloatAttr(value)));
}
Value TileContext::broadcast(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, rowType(scalar.getType()), scalar);
}
Value TileContext::choose(Value condition, float yes, float no) {
  return broadcast(arith::SelectOp::create(builder, loc, condition, f32(yes), f32(no)));
}
Value TileContext::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value TileContext::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value TileContext::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value TileContext::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value TileContext::max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }

Value TileContext::viewDim(Value view, int64_t dim) {
  int64_t size = cast<MemRefType>(view.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? memref::DimOp::create(builder, loc, view, dim).getResult() : index(size);
}

int64_t TileContext::countHeadTiles() {
  return getRowAxis() == Coordinate::Query ? kernel.getQueryHeads() / getHeads() : kernel.getKeyHeads();
}

AffineExpr TileContext::sizeOf(Value value, int64_t dim, SmallVectorImpl<int64_t> &sizes) {
  sizes.append({cast<BlockArgument>(lookup(value)).getArgNumber(), dim});
  return getAffineSymbolExpr(sizes.size() / 2 - 1, loc.getContext());
}

Value TileContext::loadLength(Value lengths, Value position, Value limit) {
  Value length = memref::LoadOp::create(builder, loc, arguments.lookupOrDefault(lengths), position);
  Value count = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), length);
  return limit ? max(min(count, limit), index(0)) : count;
}

SmallVector<int64_t> TileContext::rowGroup(std::optional<int64_t> headDimension) const {
  if (getHeads() == 1)
    return {};
  return headDimension ? SmallVector<int64_t>{getHeads(), *headDimension} : SmallVector<int64_t>{getHeads()};
}

Value TileContext::product(Value a, Value b, Value acc, bool transposed, bool leftTransposed) {
  return tile::MmaOp::create(builder, loc, a, b, acc, transposed, leftTransposed, kernel.mayRoundToTf32());
}

Value TileContext::buildRowExists() {
  Value rows = vector::StepOp::create(builder, loc, rowType(builder.getIndexType()));
  if (getHeads() > 1)
    rows = arith::DivUIOp::create(builder, loc, rows, broadcast(index(getHeads())));
  Value left = broadcast(sub(getSide(getRowAxis()).count, geometry.row0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, rows, left);
}

Value TileContext::gatherHeads(llvm::function_ref<Value(Value)> ofHead) {
  if (getHeads() == 1)
    return ofHead(geometry.head);
  Value rows = vector::StepOp::create(builder, loc, rowType(builder.getIndexType()));
  Value number = arith::RemUIOp::create(builder, loc, rows, broadcast(index(getHeads())));
  Value gathered = broadcast(ofHead(geometry.head));
  for (int64_t head = 1; head < getHeads(); ++head) {
    Value isHead = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, broadcast(index(head)));
    Value own = broadcast(ofHead(add(geometry.head, index(head))));
    gathered = arith::SelectOp::create(builder, loc, isHead, own, gathered);
  }
  return gathered;
}

bool TileContext::isPacked(Coordinate axis) {
  return axis == Coordinate::Query ? kernel.isPacked() : kernel.areKeysPacked();
}

Value TileContext::countStored(Coordinate axis, Value view) {
  if (axis == Coordinate::Key && kernel.isPaged())
    return mul(viewDim(lookup(kernel.getPageTable()), 1), index(kernel.getPageRows()));
  return viewDim(view, isPacked(axis) ? 0 : 1);
}

AffineExpr TileContext::keyRows(SmallVectorImpl<int64_t> &sizes) {
  if (kernel.isPaged())
    return sizeOf(kernel.getPageTable(), 1, sizes) * kernel.getPageRows();
  return sizeOf(kernel.getKey(), kernel.areKeysPacked() ? 0 : 1, sizes);
}

Value TileContext::takePlace(Value &rest, Value count) {
  Value number = arith::RemUIOp::create(builder, loc, rest, count);
  rest = arith::DivUIOp::create(builder, loc, rest, count);
  return number;
}

bool attnc::attn::hasBlockMask(KernelOpInterface kernel, ScheduleAttr schedule) {
  PipelineAttr pipeline = schedule.getPipeline();
  return !kernel.getBlocks().empty() && pipeline && pipeline.getBlockMask();
}
