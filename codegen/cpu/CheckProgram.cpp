//===- CheckProgram.cpp - What programs say to a CPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CheckProgram.h"
#include "codegen/cpu/SharedTiles.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

namespace {

/// Goes through one program.
class ProgramCheck {
public:
  ProgramCheck(const EmitContext &context, tile::ProgramOp program) : context(context), program(program) {}

  LogicalResult checkBlock(Block &block);

private:
  LogicalResult check(Operation &op);
  LogicalResult checkVector(Operation &op, Type type);
  LogicalResult checkShapes(Operation &op);
  LogicalResult checkShape(Operation &op, Type rows);
  LogicalResult checkGroup(Operation *op, int64_t size, Type rows);
  LogicalResult checkLoad(tile::LoadOp load);
  LogicalResult checkProduct(tile::MmaOp product);
  LogicalResult checkElementwise(Operation *op, Block &body, int64_t group);
  LogicalResult checkCarried(Operation &op);
  LogicalResult checkOther(Operation &op);

  const EmitContext &context;
  tile::ProgramOp program;
};

} // namespace

/// Why one thread, which computes what it reads and goes on when it is done, has no use for an operation; empty where
/// it is none of tiles.
static StringRef reasonAgainst(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<tile::RoleOp>([](auto) { return "one thread carries out a program, and roles run at the same time"; })
      .Case<tile::PersistentOp>([](auto) { return "each call is for one tile"; })
      .Case<tile::RingOp, tile::PutOp, tile::GetOp, tile::HeldOp, tile::ReleaseOp, tile::PostOp>(
          [](auto) { return "nothing copies while its thread computes"; })
      .Case<tile::StartOp, tile::AwaitOp, tile::SchedBarrierOp>(
          [](auto) { return "no product goes on while its thread computes"; })
      .Case<tile::SyncOp, tile::PingPongOp>([](auto) { return "its thread has no other to wait for"; })
      .Case<tile::SkipOp>([](auto) { return "there are no products of others"; })
      .Case<tile::BufferOp, tile::StoreOp>([](auto) { return "stores go straight to memory"; })
      .Case<tile::SplitOp>([](auto) { return "products take f32 as it is"; })
      .Case<tile::BlockMaskOp>([](auto) { return "each step looks at its mask itself"; })
      .Case<tile::PhiloxOp>([](auto) { return "'tile-expand-philox' writes it as arithmetic"; })
      .Case<tile::SoftmaxOp, tile::SoftmaxEndOp>([](auto) { return "'tile-lower-softmax' writes it as arithmetic"; })
      .Default([](Operation *) { return ""; });
}

static LogicalResult refuse(Operation *op) {
  StringRef reason = reasonAgainst(op);
  return op->emitOpError("has no meaning on a CPU") << (reason.empty() ? "" : ": ") << reason;
}

/// What a vector's elements may be: floats are held in f32, and an index has no lanes of a tile.
LogicalResult ProgramCheck::checkVector(Operation &op, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return success();
  Type element = vector.getElementType();
  if (vector.getRank() > 2 || vector.isScalable() || element.isF64() || (element.isIndex() && tile::isTile(vector)))
    return op.emitOpError() << "has a result of " << vector << ", for which a CPU has no lanes";
  return success();
}

/// Tiles and row vectors have whole registers of rows, and tiles whole blocks of columns.
LogicalResult ProgramCheck::checkShape(Operation &op, Type rows) {
  auto type = cast<VectorType>(rows);
  if (type.getDimSize(0) % context.lanes != 0)
    return op.emitOpError() << "expected a multiple of " << context.lanes << " rows on this CPU, got " << type;
  if (tile::isTile(type) && type.getDimSize(1) % context.columns != 0)
    return op.emitOpError() << "expected a multiple of " << context.columns << " columns on this CPU, got " << type;
  return success();
}

LogicalResult ProgramCheck::checkShapes(Operation &op) {
  for (Value result : op.getResults()) {
    if (failed(checkVector(op, result.getType())))
      return failure();
    if (!PanelEmitter::isRowValue(result) || matchPattern(&op, m_Constant()))
      continue;
    if (failed(checkShape(op, result.getType())))
      return failure();
  }
  return success();
}

/// Panels of tiles of so many rows begin with whole groups of rows that share a position.
LogicalResult ProgramCheck::checkGroup(Operation *op, int64_t size, Type rows) {
  EmitContext ofRows = context;
  ofRows.setRows(cast<VectorType>(rows).getDimSize(0));
  if (ofRows.panelRows() % size == 0)
    return success();
  return op->emitOpError() << "expected groups that divide the " << ofRows.panelRows() << " rows of a panel, got "
                           << size;
}

/// Sums lie as copy engines and CPUs add them, a lane's elements together.
template <typename Access>
static LogicalResult checkOrder(Access access) {
  if (!access.getInterleaved())
    return success();
  return access.emitOpError("expected no 'interleaved' on a CPU, whose threads add whole rows");
}

LogicalResult ProgramCheck::checkLoad(tile::LoadOp load) {
  if (failed(checkOrder(load)))
    return failure();
  if (PanelEmitter::isRowValue(load.getResult()))
    return checkGroup(load, load.getRowGroup().size, load.getType());
  VectorType type = load.getType();
  if (tile::isColumnVector(type))
    return success();
  bool isOfProduct = llvm::any_of(load->getUsers(), llvm::IsaPred<tile::MmaOp>);
  if (!load.getGroup().empty() || load.getBlocked())
    return load.emitOpError() << "expected rows by themselves for "
                              << (isOfProduct ? "the right operand of a product" : "a tile that gives a row")
                              << " on a CPU, got '" << (load.getBlocked() ? "blocked" : "group") << "'";
  for (int64_t axis : {0, 1})
    if (isOfProduct && type.getDimSize(axis) % context.columns != 0)
      return load.emitOpError() << "expected multiples of " << context.columns
                                << " rows and columns for the right operand of a product on this CPU, got " << type;
  return success();
}

LogicalResult ProgramCheck::checkProduct(tile::MmaOp product) {
  constexpr int64_t productsOfStep = 8;
  if (int64_t depth = depthOf(product); depth % productsOfStep != 0)
    return product.emitOpError() << "expected sums of a multiple of " << productsOfStep << " products on a CPU, got "
                                 << depth;
  return success();
}

/// A map or mask: its region has arithmetic on elements, one operation after the other.
LogicalResult ProgramCheck::checkElementwise(Operation *op, Block &body, int64_t group) {
  for (Operation &inner : body.without_terminator())
    if (inner.getNumResults() == 0 || inner.getNumRegions() != 0)
      return refuse(&inner);
  return op->getNumResults() == 0 ? success() : checkGroup(op, group, op->getResult(0).getType());
}

/// What control flow hands on: rows, which have places of their own in memory.
LogicalResult ProgramCheck::checkCarried(Operation &op) {
  if (llvm::any_of(op.getResultTypes(), tile::isColumnVector))
    return op.emitOpError("has no meaning with a column vector that crosses its edge on a CPU");
  return success();
}

/// Operations of other dialects: on scalars anything, on vectors what does the same to each element.
LogicalResult ProgramCheck::checkOther(Operation &op) {
  auto isVector = [](Value value) { return isa<VectorType>(value.getType()); };
  if (DenseElementsAttr constant; matchPattern(&op, m_Constant(&constant)))
    return constant.isSplat() ? success() : op.emitOpError("has no meaning on a CPU but with one number everywhere");
  if (op.getNumRegions() != 0)
    return refuse(&op);
  if (!llvm::any_of(op.getOperands(), isVector) && !llvm::any_of(op.getResults(), isVector))
    return success();
  Type type = op.getNumResults() == 1 ? op.getResult(0).getType() : Type();
  if (!type || !(tile::isRowVector(type) || tile::isColumnVector(type)))
    return refuse(&op);
  // The bits of a narrow float are not those of the f32 that it is held in.
  auto isNarrow = [](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && element.getWidth() < 32;
  };
  bool isOfBits = isa<arith::BitcastOp>(op) && (isNarrow(op.getOperand(0).getType()) || isNarrow(type));
  bool isElementwise = op.hasTrait<OpTrait::Elementwise>() || isa<vector::BroadcastOp, vector::StepOp>(op);
  return isElementwise && !isOfBits ? success() : refuse(&op);
}

/// Whether an operation goes over the rows of an operand, which no result of it says: constants have any.
static bool readsRows(OpOperand &use) {
  return isa<tile::StoreOp, tile::ShareOp, tile::ScatterOp>(use.getOwner()) || readsWhole(use);
}

LogicalResult ProgramCheck::check(Operation &op) {
  if (failed(checkShapes(op)))
    return failure();
  for (OpOperand &use : op.getOpOperands())
    if (isa<VectorType>(use.get().getType()) && readsRows(use) && failed(checkShape(op, use.get().getType())))
      return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](tile::LoadOp load) { return checkLoad(load); })
      .Case([&](tile::StoreOp store) -> LogicalResult {
        if (store.getBuffer())
          return refuse(store);
        if (failed(checkOrder(store)))
          return failure();
        return checkGroup(store, store.getRowGroup().size, store.getValue().getType());
      })
      .Case([&](tile::MmaOp product) { return checkProduct(product); })
      .Case<tile::MapOp, tile::MaskOp>(
          [&](auto map) { return checkElementwise(map, map.getBody().front(), static_cast<int64_t>(map.getGroup())); })
      .Case<tile::ReduceOp, tile::LanePartialOp, tile::WarpReduceOp, tile::AnyOp, tile::ScatterOp, tile::ShareOp,
            tile::TakeOp, tile::ReadOp, tile::RowOp, tile::MinMaxOp, tile::LiveRowsOp, tile::PartOp, tile::ReturnOp,
            scf::YieldOp>([&](auto) { return success(); })
      .Case([&](scf::ForOp loop) { return failed(checkCarried(*loop)) ? failure() : checkBlock(*loop.getBody()); })
      .Case([&](scf::IfOp branch) -> LogicalResult {
        if (failed(checkCarried(*branch)))
          return failure();
        for (Region &region : branch->getRegions())
          if (!region.empty() && failed(checkBlock(region.front())))
            return failure();
        return success();
      })
      .Default([&](Operation *) { return isa<tile::TileDialect>(op.getDialect()) ? refuse(&op) : checkOther(op); });
}

LogicalResult ProgramCheck::checkBlock(Block &block) {
  for (Operation &op : block)
    if (failed(check(op)))
      return failure();
  return success();
}

LogicalResult attnc::cpu::checkProgram(const EmitContext &context, tile::ProgramOp program) {
  if (static_cast<int64_t>(program.getPanel()) % context.lanes != 0)
    return program.emitOpError() << "expected panels of a multiple of " << context.lanes << " rows on this CPU, got "
                                 << program.getPanel();
  // Rings come before roles, and are there for them.
  if (auto roles = program.getBody().getOps<tile::RoleOp>(); !roles.empty())
    return refuse(*roles.begin());
  if (failed(ProgramCheck(context, program).checkBlock(program.getBody().front())))
    return failure();
  return success(succeeded(countSharedTiles(program)));
}
