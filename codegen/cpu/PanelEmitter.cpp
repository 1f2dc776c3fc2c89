//===- PanelEmitter.cpp - Tile operations on one panel of rows --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/RegionEmitter.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

PanelEmitter::PanelEmitter(EmitContext &context, ProgramValues &values, ArrayRef<Operation *> run,
                           const llvm::DenseMap<Value, Value> &targets)
    : context(context), values(values), run(run), targets(targets), inRun(run.begin(), run.end()),
      width(context.columns), numVectors(context.vectors) {}

bool PanelEmitter::isRowValue(Value value) {
  if (!tile::isTile(value.getType()))
    return tile::isRowVector(value.getType());
  auto load = value.getDefiningOp<tile::LoadOp>();
  return !load || !isStaged(load);
}

bool PanelEmitter::isRowOp(Operation &op) {
  if (op.getNumRegions() != 0 && !isa<tile::MapOp, tile::MaskOp>(op))
    return false;
  return llvm::any_of(op.getResults(), isRowValue) || isa<tile::StoreOp, tile::ShareOp, tile::ScatterOp>(op);
}

static bool isTile(Value value) { return tile::isTile(value.getType()); }

int64_t attnc::cpu::columnsOf(Value tile) { return tile::getTileType(tile).getDimSize(1); }

int64_t attnc::cpu::depthOf(tile::MmaOp op) {
  return tile::getTileType(op.getA()).getDimSize(op.getLeftTransposed() ? 0 : 1);
}

bool PanelEmitter::usedOutside(Value value) const {
  return !targets.contains(value) &&
         llvm::any_of(value.getUsers(), [&](Operation *user) { return !inRun.contains(user); });
}

/// A tile with one use, by an operation of the run that can take it block by block.
bool PanelEmitter::isDeferred(Value value) const {
  if (!value.hasOneUse() || targets.contains(value))
    return false;
  OpOperand &use = *value.use_begin();
  Operation *user = use.getOwner();
  if (!inRun.contains(user))
    return false;
  if (isa<tile::MmaOp>(user))
    return use.getOperandNumber() == 2;
  if (isa<tile::MapOp, tile::MaskOp>(user))
    return true;
  // An operation with several results is evaluated once.
  return isa<tile::StoreOp, tile::ShareOp, tile::ReduceOp>(user) && value.getDefiningOp()->getNumResults() == 1;
}

/// The reductions of a tile whose starting values are known when the tile is computed.
SmallVector<tile::ReduceOp> PanelEmitter::fusedReductions(Value tile) {
  SmallVector<tile::ReduceOp> reductions;
  for (Operation *user : tile.getUsers())
    if (auto reduce = dyn_cast<tile::ReduceOp>(user); reduce && inRun.contains(user)) {
      Operation *acc = reduce.getAcc().getDefiningOp();
      if (!acc || !inRun.contains(acc) || rows.contains(reduce.getAcc()))
        reductions.push_back(reduce);
    }
  return reductions;
}

/// The buffer of an operand that dies with `writer`, which reads each block before it writes it, and that no other of
/// its results has `taken`.
Value PanelEmitter::reusableBuffer(Operation *writer, ArrayRef<StoredTile> taken) {
  if (!isa<tile::MapOp, tile::MaskOp>(writer))
    return {};
  for (Value operand : writer->getOperands()) {
    auto it = buffers.find(operand);
    if (it == buffers.end() || !isTile(operand) || columnsOf(operand) != columnsOf(writer->getResult(0)) ||
        cast<MemRefType>(it->second.getType()).getRank() != 2 ||
        !cast<MemRefType>(it->second.getType()).getElementType().isF32() ||
        llvm::is_contained(llvm::make_second_range(taken), it->second))
      continue;
    bool dies = llvm::all_of(operand.getUsers(), [&](Operation *user) {
      return user == writer || done.contains(user) ||
             (inRun.contains(user) && isa<tile::ReduceOp>(user) && rows.contains(user->getResult(0)));
    });
    if (dies)
      return it->second;
  }
  return {};
}

Value PanelEmitter::bufferFor(Value tile, Operation *writer, ArrayRef<StoredTile> taken) {
  if (Value target = targets.lookup(tile))
    return target;
  Type element = storageType(cast<VectorType>(tile.getType()).getElementType());
  SmallVector<int64_t> shape{columnsOf(tile), context.panelRows()};
  if (isPaired(context, tile)) {
    element = context.builder.getBF16Type();
    shape = {columnsOf(tile) / 2, 2 * context.panelRows()};
  }
  if (usedOutside(tile)) {
    Value &state = values.states[tile];
    shape.insert(shape.begin(), context.panels);
    if (!state)
      state = context.allocate(shape, element);
    return state;
  }
  if (element.isF32())
    if (Value reused = reusableBuffer(writer, taken))
      return reused;
  return context.allocate(shape, element);
}

SmallVector<Value> PanelEmitter::bufferIndices(Value buffer, Value column) {
  SmallVector<Value> indices{column, context.index(0)};
  if (cast<MemRefType>(buffer.getType()).getRank() == 3)
    indices.insert(indices.begin(), panel);
  return indices;
}

void PanelEmitter::storeBlock(const ColumnBlock &block, Value buffer, Value column) {
  if (cast<MemRefType>(buffer.getType()).getElementType().isBF16())
    return storePairs(block, buffer, column);
  for (auto [offset, lanes] : llvm::enumerate(block)) {
    SmallVector<Value> indices = bufferIndices(buffer, context.add(column, context.index(offset)));
    for (auto [number, vector] : llvm::enumerate(lanes))
      context.storeVector(asStored(vector), buffer, indices, firstVector + static_cast<int64_t>(number));
  }
}

Lanes PanelEmitter::combine(tile::ReduceKind kind, const Lanes &acc, const ColumnBlock &block) {
  OpBuilder &b = context.builder;
  auto join = [&](Value x, Value y) -> Value {
    if (kind == tile::ReduceKind::Max)
      // As one instruction: logits are never NaN unless the inputs are.
      return arith::SelectOp::create(b, context.loc,
                                     arith::CmpFOp::create(b, context.loc, arith::CmpFPredicate::OGT, x, y), x, y);
    return arith::AddFOp::create(b, context.loc, x, y);
  };
  Lanes result = acc;
  for (auto [number, value] : llvm::enumerate(result)) {
    // Pairwise: shorter chains of dependences than one column after the other.
    SmallVector<Value> parts;
    for (const Lanes &lanes : block)
      parts.push_back(lanes[number]);
    while (parts.size() > 1) {
      SmallVector<Value> joined;
      for (size_t i = 0; i + 1 < parts.size(); i += 2)
        joined.push_back(join(parts[i], parts[i + 1]));
      if (parts.size() % 2)
        joined.push_back(parts.back());
      parts = joined;
    }
    value = join(value, parts.front());
  }
  return result;
}

/// Whether computing a tile now means computing a product.
bool PanelEmitter::multiplies(Operation *op) const {
  if (isa<tile::MmaOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return source && inRun.contains(source) && isTile(operand) && !buffers.contains(operand) &&
           isa<tile::MmaOp, tile::MapOp, tile::MaskOp>(source) && multiplies(source);
  });
}

/// Brings the row vectors that `op` takes, itself or for what is computed with it, outside of the loops over columns:
/// what one of them brings, others cannot see.
void PanelEmitter::bringRows(Operation *op) {
  if (!isa_and_nonnull<tile::MapOp, tile::MaskOp>(op))
    return;
  for (Value operand : op->getOperands()) {
    if (isTile(operand) && !buffers.contains(operand) && !values.states.contains(operand))
      bringRows(operand.getDefiningOp());
    else if (!isTile(operand) && isRowValue(operand))
      rowVector(operand);
  }
}

/// Computes all columns of an operation's results: stores those that are stored, and reduces those that are reduced.
void PanelEmitter::materialize(Operation *op) {
  SmallVector<StoredTile> stores;
  SmallVector<tile::ReduceOp> reductions;
  for (Value result : op->getResults()) {
    SmallVector<tile::ReduceOp> fused = fusedReductions(result);
    bool stored = llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(fused, user); });
    if (stored)
      stores.push_back({result, bufferFor(result, op, stores)});
    reductions.append(fused);
  }
  // Products want whole register blocks. Elementwise work alone takes one vector of each column after the other: the
  // constants of an exponential, a maximum and a sum then fit the registers together, where more would spill.
  for (tile::ReduceOp reduce : reductions)
    rows[reduce.getResult()] = rowVector(reduce.getAcc());
  bringRows(op);
  bool isProduct = multiplies(op);
  bool hasPairs = llvm::any_of(op->getResults(), [&](Value result) { return isPaired(context, result); });
  width = isProduct ? context.columns : hasPairs ? 2 : 1;
  numVectors = isProduct ? context.vectors : 1;
  for (firstVector = 0; firstVector < context.vectors; firstVector += numVectors)
    materializeVectors(op, stores, reductions);
  width = context.columns;
  firstVector = 0;
  numVectors = context.vectors;
  for (auto [result, buffer] : stores)
    buffers[result] = buffer;
  done.insert_range(reductions);
}

/// All columns of the vectors that are computed now; reductions go on from, and end in, their results in `rows`.
void PanelEmitter::materializeVectors(Operation *op, ArrayRef<StoredTile> stores, ArrayRef<tile::ReduceOp> reductions) {
  OpBuilder &b = context.builder;
  SmallVector<Value> init;
  for (tile::ReduceOp reduce : reductions)
    llvm::append_range(init, ArrayRef(rows[reduce.getResult()]).slice(firstVector, numVectors));
  int64_t columns = columnsOf(op->getResult(0));
  assert(columns % width == 0 && "tiles have whole blocks of columns");
  auto loop = scf::ForOp::create(b, context.loc, context.index(0), context.index(columns), context.index(width), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    std::vector<ColumnBlock> blocks = evaluateOp(op, column);
    for (auto [result, buffer] : stores)
      storeBlock(blocks[cast<OpResult>(result).getResultNumber()], buffer, column);
    SmallVector<Value> next;
    ValueRange carried = loop.getRegionIterArgs();
    for (tile::ReduceOp reduce : reductions) {
      Lanes acc(carried.take_front(numVectors));
      carried = carried.drop_front(numVectors);
      llvm::append_range(next,
                         combine(reduce.getKind(), acc, blocks[cast<OpResult>(reduce.getSource()).getResultNumber()]));
    }
    if (!next.empty() || init.empty()) {
      if (loop.getBody()->mightHaveTerminator())
        loop.getBody()->getTerminator()->erase();
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, context.loc, next);
    }
  }
  ValueRange reduced = loop.getResults();
  for (tile::ReduceOp reduce : reductions) {
    llvm::copy(reduced.take_front(numVectors), rows[reduce.getResult()].begin() + firstVector);
    reduced = reduced.drop_front(numVectors);
  }
}

std::vector<ColumnBlock> PanelEmitter::evaluateOp(Operation *op, Value column) {
  if (auto mma = dyn_cast<tile::MmaOp>(op))
    return {evaluateMma(mma, column)};
  return evaluateElementwise(op, column);
}

Value PanelEmitter::findStored(Value tile) const {
  Value buffer = buffers.lookup(tile);
  return buffer ? buffer : values.states.lookup(tile);
}

/// The buffer that holds a tile. What an operation of the run computes has one by then, constants get one.
Value PanelEmitter::stored(Value tile) {
  if (Value buffer = findStored(tile))
    return buffer;
  Value buffer = context.allocate({columnsOf(tile), context.panelRows()},
                                  storageType(cast<VectorType>(tile.getType()).getElementType()));
  fillWith(tile, buffer);
  return buffers[tile] = buffer;
}

/// Lanes as buffers hold them.
Value PanelEmitter::asStored(Value lanes) {
  Type element = cast<VectorType>(lanes.getType()).getElementType();
  auto type = context.vectorType(storageType(element));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(context.builder, context.loc, type, lanes);
  return element.isIndex() ? arith::IndexCastOp::create(context.builder, context.loc, type, lanes).getResult() : lanes;
}

/// A block of columns of a tile, from its buffer, a constant, or the operation that was deferred.
ColumnBlock PanelEmitter::evaluate(Value tile, Value column) {
  if (Value buffer = findStored(tile)) {
    ColumnBlock block;
    bool isCondition = cast<VectorType>(tile.getType()).getElementType().isInteger(1);
    for (int64_t offset = 0; offset < width; ++offset) {
      SmallVector<Value> indices = bufferIndices(buffer, context.add(column, context.index(offset)));
      Lanes &lanes = block.emplace_back();
      for (int64_t number = firstVector; number < firstVector + numVectors; ++number) {
        Value vector = context.loadVector(buffer, indices, number);
        if (isCondition)
          vector = arith::TruncIOp::create(context.builder, context.loc,
                                           context.vectorType(context.builder.getI1Type()), vector);
        lanes.push_back(vector);
      }
    }
    return block;
  }
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    Value vector = context.splat(splatElement(context, constant));
    return ColumnBlock(width, Lanes(numVectors, vector));
  }
  return evaluateOp(tile.getDefiningOp(), column)[cast<OpResult>(tile).getResultNumber()];
}

//===----------------------------------------------------------------------===//
// Row vectors
//===----------------------------------------------------------------------===//

Lanes PanelEmitter::rowVector(Value value) {
  if (auto it = rows.find(value); it != rows.end())
    return it->second;
  OpBuilder &b = context.builder;
  Type element = cast<VectorType>(value.getType()).getElementType();
  DenseElementsAttr constant;
  Lanes lanes;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    lanes.assign(context.vectors, context.splat(splatElement(context, constant)));
  } else {
    Value state = values.states.lookup(value);
    assert(state && "a row vector is computed before it is used");
    for (int64_t number = 0; number < context.vectors; ++number) {
      Value vector = context.loadVector(state, {panel, context.index(0)}, number);
      if (element.isInteger(1))
        vector = arith::TruncIOp::create(b, context.loc, context.vectorType(element), vector);
      else if (element.isIndex())
        vector = arith::IndexCastOp::create(b, context.loc, context.vectorType(element), vector);
      lanes.push_back(vector);
    }
  }
  rows[value] = lanes;
  return lanes;
}

void PanelEmitter::emitRowVectorOp(Operation *op) {
  OpBuilder &b = context.builder;
  Value result = op->getResult(0);
  // A row's sum has one part: one lane has the row.
  if (isa<tile::LanePartialOp, tile::WarpReduceOp>(op)) {
    Lanes whole = rowVector(op->getOperand(0));
    rows[result] = whole;
    return;
  }
  Lanes &lanes = rows[result];
  lanes.clear();
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    lanes.assign(context.vectors, context.splat(RegionEmitter::widen(context, values.scalar(broadcast.getSource()))));
    return;
  }
  if (isa<vector::StepOp>(op)) {
    for (int64_t number = 0; number < context.vectors; ++number) {
      Value first =
          context.add(context.mul(panel, context.index(context.panelRows())), context.index(number * context.lanes));
      Value steps = vector::StepOp::create(b, context.loc, context.vectorType(b.getIndexType()));
      lanes.push_back(arith::AddIOp::create(b, context.loc, context.splat(first), steps));
    }
    return;
  }
  SmallVector<Lanes> operands;
  for (Value operand : op->getOperands()) {
    if (isa<VectorType>(operand.getType()))
      operands.push_back(rowVector(operand));
    else
      operands.push_back(Lanes(context.vectors, RegionEmitter::widen(context, values.scalar(operand))));
  }
  Lanes results;
  for (int64_t number = 0; number < context.vectors; ++number) {
    SmallVector<Value> at;
    for (const Lanes &operand : operands)
      at.push_back(operand[number]);
    results.push_back(RegionEmitter::emitElementwise(context, *op, at));
  }
  rows[result] = results;
}

void PanelEmitter::emitReduce(tile::ReduceOp op) {
  if (done.contains(op))
    return;
  OpBuilder &b = context.builder;
  bringRows(op.getSource().getDefiningOp());
  auto loop = scf::ForOp::create(b, context.loc, context.index(0), context.index(columnsOf(op.getSource())),
                                 context.index(context.columns), rowVector(op.getAcc()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  ColumnBlock block = evaluate(op.getSource(), loop.getInductionVar());
  scf::YieldOp::create(b, context.loc, combine(op.getKind(), Lanes(loop.getRegionIterArgs()), block));
  rows[op.getResult()] = Lanes(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

void PanelEmitter::emit(Value panelNumber) {
  panel = panelNumber;
  for (Operation *op : run) {
    if (auto product = dyn_cast<tile::MmaOp>(op); product && !product.getLeftTransposed())
      bringLeft(product.getA());
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      emitLoad(load);
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      emitStore(store);
    } else if (auto share = dyn_cast<tile::ShareOp>(op)) {
      copyToWhole(share.getValue(), values.shared.lookup(share));
    } else if (auto read = dyn_cast<tile::ReadOp>(op)) {
      emitRead(read);
    } else if (auto scatter = dyn_cast<tile::ScatterOp>(op)) {
      emitScatter(scatter);
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      emitReduce(reduce);
    } else if (op->hasTrait<OpTrait::ConstantLike>()) {
      continue;
    } else if (auto product = dyn_cast<tile::MmaOp>(op); product && context.bf16Tiles && usesPairs(context, product)) {
      emitTileProduct(product);
    } else if (isTile(op->getResult(0))) {
      if (!llvm::all_of(op->getResults(), [&](Value result) { return isDeferred(result); }))
        materialize(op);
    } else {
      emitRowVectorOp(op);
    }
  }
  finish();
}

void PanelEmitter::copy(Value panelNumber, Value value, Value target) {
  panel = panelNumber;
  OpBuilder &b = context.builder;
  if (!isTile(value)) {
    storeRowVector(rowVector(value), target);
    return;
  }
  bringRows(value.getDefiningOp());
  auto loop = scf::ForOp::create(b, context.loc, context.index(0), context.index(columnsOf(value)),
                                 context.index(context.columns));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  storeBlock(evaluate(value, loop.getInductionVar()), target, loop.getInductionVar());
}

Value PanelEmitter::any(Value panelNumber, Value conditions) {
  panel = panelNumber;
  Value found;
  for (Value lanes : rowVector(conditions)) {
    Value one = vector::ReductionOp::create(context.builder, context.loc, vector::CombiningKind::OR, lanes);
    found = found ? arith::OrIOp::create(context.builder, context.loc, found, one).getResult() : one;
  }
  return found;
}

/// Writes a row vector to [panels][rows].
void PanelEmitter::storeRowVector(const Lanes &lanes, Value target) {
  for (auto [number, vector] : llvm::enumerate(lanes))
    context.storeVector(asStored(vector), target, {panel, context.index(0)}, static_cast<int64_t>(number));
}

/// Writes row vectors that are needed after the run to where they are kept.
void PanelEmitter::finish() {
  for (Operation *op : run)
    for (Value result : op->getResults()) {
      if (isTile(result) || !rows.contains(result))
        continue;
      Value state = targets.lookup(result);
      if (!state && usedOutside(result)) {
        state = values.states.lookup(result);
        Type element = storageType(cast<VectorType>(result.getType()).getElementType());
        if (!state)
          state = values.states[result] = context.allocate({context.panels, context.panelRows()}, element);
      }
      if (state)
        storeRowVector(rows[result], state);
    }
}
