//===- SpecializeRoles.cpp - A producer and consumers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Bauer, Treichler and Aiken, "Singe: leveraging warp specialization" (2014); Shah et al., "FlashAttention-3" (2024),
// section 3.1.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESPECIALIZEROLES
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// Splits one program.
class RoleSplitter {
public:
  explicit RoleSplitter(ProgramOp program)
      : program(program), body(program.getBody().front()), pipeline(program.getPipelineAttr()),
        builder(program.getContext()), loc(program.getLoc()) {}

  void run();

private:
  void findShared();
  void sinkLoads();
  Value createRing(LoadOp load);
  void createRings();
  EachOp createRole(RoleKind kind, int64_t warpgroups, int64_t registers);
  void cloneScalars(Block &from, IRMapping &mapping);
  void cloneLoop(scf::ForOp loop, IRMapping &mapping);
  void cloneBranch(scf::IfOp branch, IRMapping &mapping);
  void fillConsumer(EachOp each);
  void stageStores();

  ProgramOp program;
  Block &body;
  attnc::attn::PipelineAttr pipeline;
  OpBuilder builder;
  Location loc;
  SmallVector<LoadOp> shared;              ///< loads whose tiles go through rings
  llvm::DenseMap<Operation *, Value> rings; ///< of those loads
  Value numbers;                            ///< the ring of tile numbers, where the producer hands them out
};

} // namespace

/// A load goes through shared memory where products alone read it.
void RoleSplitter::findShared() {
  program->walk([&](LoadOp load) {
    bool products = !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
      auto mma = dyn_cast<MmaOp>(use.getOwner());
      return mma && use.getOperandNumber() < 2;
    });
    if (products)
      shared.push_back(load);
  });
}

/// Moves loads down to their products: the producer then loads in the order in which consumers need the tiles. A load
/// moves into the branch that holds all its products, not into a loop. Of two operands the right one comes first: a
/// buffer of keys comes free before the queries of the tile before do.
void RoleSplitter::sinkLoads() {
  for (LoadOp load : llvm::reverse(shared)) {
    Block *block = load->getBlock();
    Operation *first = nullptr;
    auto findFirst = [&] {
      first = nullptr;
      for (Operation *user : load->getUsers()) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
          first = ancestor;
      }
    };
    findFirst();
    // All products in one region of a branch: look there.
    while (auto branch = dyn_cast_or_null<scf::IfOp>(first)) {
      Region *region = nullptr;
      bool together = true;
      for (Operation *user : load->getUsers()) {
        Region *at = branch.getThenRegion().isAncestor(user->getParentRegion())   ? &branch.getThenRegion()
                     : branch.getElseRegion().isAncestor(user->getParentRegion()) ? &branch.getElseRegion()
                                                                                  : nullptr;
        together &= at && (!region || region == at);
        region = at;
      }
      if (!together)
        break;
      block = &region->front();
      findFirst();
    }
    if (first)
      load->moveBefore(first);
  }
}

/// The ring of the tensor that `load` reads: one for each tensor and shape.
Value RoleSplitter::createRing(LoadOp load) {
  for (LoadOp other : shared)
    if (rings.contains(other) && other.getView() == load.getView() && other.getType() == load.getType())
      return rings.lookup(other);
  bool isQuery = llvm::any_of(load->getUses(), [](OpOperand &use) { return use.getOperandNumber() == 0; });
  int64_t stages = isQuery ? pipeline.getQueryStages() : pipeline.getStages();
  return RingOp::create(builder, loc, RingType::get(builder.getContext(), stages, load.getType()), IntegerAttr(),
                        IntegerAttr());
}

void RoleSplitter::createRings() {
  builder.setInsertionPointToStart(&body);
  for (LoadOp load : shared)
    rings[load] = createRing(load);
  if (pipeline.getDynamic())
    numbers = RingOp::create(builder, loc, RingType::get(builder.getContext(), 2, builder.getIndexType()),
                             IntegerAttr(), IntegerAttr());
}

EachOp RoleSplitter::createRole(RoleKind kind, int64_t warpgroups, int64_t registers) {
  OpBuilder::InsertionGuard guard(builder);
  auto role = RoleOp::create(builder, loc, kind, warpgroups, registers);
  builder.createBlock(&role.getBody());
  auto each = EachOp::create(builder, loc, numbers);
  builder.createBlock(&each.getBody(), {}, builder.getIndexType(), loc);
  return each;
}

/// Whether an operation computes what only consumers need.
static bool isConsumers(Operation *op) {
  auto isTile = [](Type type) { return isa<VectorType>(type); };
  return isa<StoreOp, LiveRowsOp, ReturnOp>(op) || llvm::any_of(op->getResultTypes(), isTile) ||
         llvm::any_of(op->getOperandTypes(), isTile);
}

/// Clones what decides about loads, and the loads as fillings of rings.
void RoleSplitter::cloneScalars(Block &from, IRMapping &mapping) {
  for (Operation &op : from) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto load = dyn_cast<LoadOp>(op); load && rings.contains(load)) {
      auto mapped = [&](ValueRange values) {
        return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
      };
      PutOp::create(builder, loc, rings.lookup(load), load.getView(), mapped(load.getIndices()),
                    mapped(load.getLimits()), load.getAxes());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      cloneLoop(loop, mapping);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      cloneBranch(branch, mapping);
    } else if (!isConsumers(&op)) {
      builder.clone(op, mapping);
    }
  }
}

/// Numbers of the values that are no tiles.
static SmallVector<unsigned> scalarNumbers(TypeRange types) {
  SmallVector<unsigned> numbers;
  for (auto [number, type] : llvm::enumerate(types))
    if (!isa<VectorType>(type))
      numbers.push_back(number);
  return numbers;
}

void RoleSplitter::cloneLoop(scf::ForOp loop, IRMapping &mapping) {
  SmallVector<unsigned> scalars = scalarNumbers(loop.getResultTypes());
  SmallVector<Value> init;
  for (unsigned number : scalars)
    init.push_back(mapping.lookupOrDefault(loop.getInitArgs()[number]));
  auto copy = scf::ForOp::create(builder, loc, mapping.lookupOrDefault(loop.getLowerBound()),
                                 mapping.lookupOrDefault(loop.getUpperBound()),
                                 mapping.lookupOrDefault(loop.getStep()), init);
  OpBuilder::InsertionGuard guard(builder);
  if (init.empty())
    builder.setInsertionPoint(copy.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(copy.getBody());
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [place, number] : llvm::enumerate(scalars))
    mapping.map(loop.getRegionIterArg(number), copy.getRegionIterArg(place));
  cloneScalars(*loop.getBody(), mapping);
  SmallVector<Value> yields;
  for (auto [place, number] : llvm::enumerate(scalars)) {
    yields.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
    mapping.map(loop.getResult(number), copy.getResult(place));
  }
  if (!init.empty())
    scf::YieldOp::create(builder, loc, yields);
}

void RoleSplitter::cloneBranch(scf::IfOp branch, IRMapping &mapping) {
  SmallVector<unsigned> scalars = scalarNumbers(branch.getResultTypes());
  SmallVector<Type> types;
  for (unsigned number : scalars)
    types.push_back(branch.getResult(number).getType());
  auto copy = scf::IfOp::create(builder, loc, types, mapping.lookupOrDefault(branch.getCondition()),
                                /*withElseRegion=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    if (types.empty())
      builder.setInsertionPoint(to.front().getTerminator());
    else
      builder.setInsertionPointToEnd(&to.front());
    cloneScalars(from.front(), mapping);
    SmallVector<Value> yields;
    for (unsigned number : scalars)
      yields.push_back(mapping.lookupOrDefault(from.front().getTerminator()->getOperand(number)));
    if (!types.empty())
      scf::YieldOp::create(builder, loc, yields);
  }
  for (auto [place, number] : llvm::enumerate(scalars))
    mapping.map(branch.getResult(number), copy.getResult(place));
}

/// Moves the program's body to the consumers; what loads through rings gets from them.
void RoleSplitter::fillConsumer(EachOp each) {
  Block &target = each.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    // All rows of a warpgroup are computed.
    if (isa<LiveRowsOp>(op))
      op.erase();
    else if (!isa<RingOp, RoleOp, ReturnOp>(op))
      op.moveBefore(&target, target.end());
  }
  program.getTile().replaceUsesWithIf(each.getTile(), [&](OpOperand &use) {
    return each->isProperAncestor(use.getOwner());
  });
  for (LoadOp load : shared) {
    OpBuilder at(load);
    auto get = GetOp::create(at, load.getLoc(), SlotType::get(at.getContext(), load.getType()), rings.lookup(load));
    for (OpOperand &use : llvm::make_early_inc_range(load->getUses()))
      use.set(get);
    load.erase();
  }
}

/// Whether a store may write all that its tile has inside the view: its limits are the view's own sizes.
static bool reachesViewEnds(StoreOp store) {
  for (auto [axis, limit] : llvm::zip(store.getAxes(), store.getLimits())) {
    int64_t size = store.getView().getType().getDimSize(axis);
    IntegerAttr constant;
    if (!ShapedType::isDynamic(size)) {
      if (!matchPattern(limit, m_Constant(&constant)) || constant.getInt() != size)
        return false;
      continue;
    }
    auto dim = limit.getDefiningOp<memref::DimOp>();
    if (!dim || dim.getSource() != store.getView() || dim.getConstantIndex() != axis)
      return false;
  }
  return true;
}

/// Output tiles of narrow types go through a buffer where the copy engine's own limits serve.
void RoleSplitter::stageStores() {
  if (pipeline.getEpilogue() == attnc::attn::Epilogue::Direct)
    return;
  program->walk([&](StoreOp store) {
    auto type = cast<VectorType>(store.getValue().getType());
    if (type.getRank() != 2 || type.getElementTypeBitWidth() != 16 || !reachesViewEnds(store))
      return;
    int64_t columns = pipeline.getEpilogue() == attnc::attn::Epilogue::Slabs ? std::min<int64_t>(64, type.getDimSize(1))
                                                                            : type.getDimSize(1);
    builder.setInsertionPointToStart(&body);
    auto tile = VectorType::get({type.getDimSize(0), columns}, type.getElementType());
    Value buffer = BufferOp::create(builder, loc, SlotType::get(builder.getContext(), tile), IntegerAttr());
    store.getBufferMutable().assign(buffer);
  });
}

void RoleSplitter::run() {
  findShared();
  sinkLoads();
  createRings();
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  EachOp producer = createRole(RoleKind::Producer, 1, pipeline.getProducerRegisters());
  EachOp consumer = createRole(RoleKind::Consumer, pipeline.getConsumers(), pipeline.getConsumerRegisters());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&producer.getBody().front());
    IRMapping mapping;
    mapping.map(program.getTile(), producer.getTile());
    // Rings stay outside of the roles.
    for (Operation &op : body)
      if (isa<RingOp>(op))
        mapping.map(op.getResult(0), op.getResult(0));
    SmallVector<Operation *> roles{producer->getParentOp(), consumer->getParentOp()};
    Block scalars;
    for (Operation &op : llvm::make_early_inc_range(body))
      if (!isa<RingOp, RoleOp, ReturnOp>(op))
        op.moveBefore(&scalars, scalars.end());
    cloneScalars(scalars, mapping);
    for (Operation &op : llvm::make_early_inc_range(scalars))
      op.moveBefore(roles.front());
  }
  fillConsumer(consumer);
  stageStores();
}

namespace {
struct SpecializeRoles : attnc::tile::impl::TileSpecializeRolesBase<SpecializeRoles> {
  void runOnOperation() override {
    if (getOperation().getPipelineAttr())
      RoleSplitter(getOperation()).run();
  }
};
} // namespace
