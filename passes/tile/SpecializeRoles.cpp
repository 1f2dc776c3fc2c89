//===- SpecializeRoles.cpp - A producer, consumers, a reducer ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Bauer, Treichler and Aiken, "Singe: leveraging warp specialization" (2014); Shah et al., "FlashAttention-3" (2024),
// section 3.1.
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"
#include "passes/tile/ReducerSlice.h"
#include "passes/tile/RowsOfPart.h"
#include "passes/tile/SharedOperands.h"

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

  LogicalResult run();

private:
  void createRings();
  PersistentOp createRole(RoleKind kind, int64_t warpgroups, int64_t registers, IntegerAttr warp = {});
  void dealRings();
  void fillProducer(PersistentOp each, Block &from);
  void fillReducer(PersistentOp each, Block &from);
  void clonePut(LoadOp load, const IRMapping &mapping);
  void copyRead(ValueRange values, IRMapping &mapping, SmallVectorImpl<Value> &copies);
  void withRead(ValueRange values, IRMapping &mapping, llvm::function_ref<void()> body);
  SmallVector<Value> readForRole(ValueRange values, IRMapping &mapping);
  SmallVector<unsigned> findHandedOn(Operation *op) const;
  void findPairs();
  Value createGet(OpBuilder &at, LoadOp load, bool ofReducer);
  bool isOfRole(LoadOp load) const;
  void cloneForRole(Block &from, IRMapping &mapping);
  void cloneLoop(scf::ForOp loop, IRMapping &mapping);
  bool isOfOthers(scf::IfOp branch) const;
  void cloneBranch(scf::IfOp branch, IRMapping &mapping);
  void fillConsumer(PersistentOp each);
  void stageStores();

  ProgramOp program;
  Block &body;
  attnc::attn::PipelineAttr pipeline;
  OpBuilder builder;
  Location loc;
  SmallVector<LoadOp> shared;               ///< loads whose tiles go through rings
  llvm::DenseMap<Operation *, Value> rings; ///< of those loads
  llvm::DenseMap<Value, int64_t> producers; ///< the producer that fills each ring
  int64_t numProducers = 1, filling = 0;    ///< of all, the one whose body is being built
  ReducerSlice reduced;                     ///< what the reducer does in place of the consumers
  bool reduces = false;                     ///< whether its body is being built
  llvm::SmallDenseMap<Type, Value> ofSums;  ///< buffers of what is added to memory
  /// Loads of a pair that a role has both of: what it gets for the one it holds for the other.
  llvm::SmallDenseSet<Attribute> pairsOfConsumers, pairsOfReducer;
  bool readsOfOthers = false; ///< whether the reducer would read what consumers alone have
  Value numbers;              ///< the ring of tile numbers, where the producer hands them out
};

} // namespace

void RoleSplitter::createRings() {
  builder.setInsertionPointToStart(&body);
  rings = attnc::tile::createRings(builder, shared, pipeline);
  if (pipeline.getDynamic())
    numbers = RingOp::create(builder, loc, RingType::get(builder.getContext(), 2, builder.getIndexType()),
                             IntegerAttr(), IntegerAttr());
}

/// Rings of pages are for two producers in turn, and all others for the first: to start a box takes a warp some 90
/// cycles however small it is, and a step from small pages has many (docs/rationale/pages.md).
void RoleSplitter::dealRings() {
  constexpr int64_t most = 2;
  int64_t paged = 0;
  for (LoadOp load : shared)
    if (auto [it, isNew] = producers.try_emplace(rings.lookup(load), 0); isNew && load.getPages())
      it->second = paged++ % most;
  numProducers = std::clamp<int64_t>(paged, 1, most);
}

PersistentOp RoleSplitter::createRole(RoleKind kind, int64_t warpgroups, int64_t registers, IntegerAttr warp) {
  OpBuilder::InsertionGuard guard(builder);
  auto role = RoleOp::create(builder, loc, kind, warpgroups, registers, warp);
  builder.createBlock(&role.getBody());
  auto each = PersistentOp::create(builder, loc, numbers);
  builder.createBlock(&each.getBody(), {}, builder.getIndexType(), loc);
  return each;
}

/// Whether an operation computes what only consumers need.
static bool isOnlyForConsumers(Operation *op) {
  auto isVector = llvm::IsaPred<VectorType>;
  return isa<StoreOp, TakeOp, LiveRowsOp, ReturnOp>(op) || llvm::any_of(op->getResultTypes(), isVector) ||
         llvm::any_of(op->getOperandTypes(), isVector);
}

/// Numbers of the values that are no tiles.
static SmallVector<unsigned> scalarNumbers(TypeRange types) {
  SmallVector<unsigned> numbers;
  for (auto [number, type] : llvm::enumerate(types))
    if (!isa<VectorType>(type))
      numbers.push_back(number);
  return numbers;
}

/// Numbers of what the role whose body is being built hands on of `op`, a loop or a branch.
SmallVector<unsigned> RoleSplitter::findHandedOn(Operation *op) const {
  SmallVector<unsigned> numbers = scalarNumbers(op->getResultTypes());
  if (reduces)
    for (unsigned number = 0; number < op->getNumResults(); ++number)
      if (reduced.carries(op, number))
        numbers.push_back(number);
  return numbers;
}

/// Whether the role whose body is being built does something of a load through a ring: a producer fills it, a reducer
/// gets from it.
bool RoleSplitter::isOfRole(LoadOp load) const {
  if (!rings.contains(load))
    return false;
  if (reduces)
    return llvm::any_of(load->getUsers(), [&](Operation *user) { return reduced.contains(user); });
  // What some consumers leave out others take: it is loaded there. And what is held is in its ring already.
  return !llvm::all_of(load->getUsers(), llvm::IsaPred<SkipOp>) && !load->hasAttr(heldAttrName) &&
         producers.lookup(rings.lookup(load)) == filling;
}

/// Whether a branch neither does what is the role's nor gives what that may depend on.
bool RoleSplitter::isOfOthers(scf::IfOp branch) const {
  bool isOfThis = false;
  branch.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    isOfThis |= reduces ? reduced.contains(op) : load && rings.contains(load);
  });
  return !isOfThis && findHandedOn(branch).empty();
}

/// Clones a load as the filling of its ring.
void RoleSplitter::clonePut(LoadOp load, const IRMapping &mapping) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  PutOp::create(builder, loc, rings.lookup(load), load.getView(), mapped(load.getIndices()), mapped(load.getLimits()),
                load.getAxes(), load.getGroup(), load.getPages() ? mapping.lookupOrDefault(load.getPages()) : Value());
}

/// Finds the pairs of loads that one role has both of.
void RoleSplitter::findPairs() {
  auto find = [&](auto isOfRole) {
    llvm::SmallDenseSet<Attribute> pairs, held;
    for (LoadOp load : shared)
      if (Attribute pair = load->getAttr(heldAttrName); pair && llvm::any_of(load->getUsers(), isOfRole))
        held.insert(pair);
    for (LoadOp load : shared)
      if (Attribute pair = load->getAttr(keptAttrName); held.contains(pair) && llvm::any_of(load->getUsers(), isOfRole))
        pairs.insert(pair);
    return pairs;
  };
  pairsOfReducer = find([&](Operation *user) { return reduced.contains(user); });
  pairsOfConsumers = find([&](Operation *user) { return !reduced.contains(user); });
}

/// What a role gets from the ring of `load` in its place.
Value RoleSplitter::createGet(OpBuilder &at, LoadOp load, bool ofReducer) {
  const llvm::SmallDenseSet<Attribute> &pairs = ofReducer ? pairsOfReducer : pairsOfConsumers;
  auto type = SharedTileType::get(at.getContext(), load.getType());
  Value ring = rings.lookup(load);
  if (pairs.contains(load->getAttr(heldAttrName)))
    return HeldOp::create(at, load.getLoc(), type, ring);
  return GetOp::create(at, load.getLoc(), type, ring, /*kept=*/pairs.contains(load->getAttr(keptAttrName)));
}

/// Clones what `values` are made of where the role has nothing in their place: constants, and elements that consumers
/// make as well. Adds them to `copies`. What is no such element is told of.
void RoleSplitter::copyRead(ValueRange values, IRMapping &mapping, SmallVectorImpl<Value> &copies) {
  for (Value value : values) {
    Operation *source = value.getDefiningOp();
    bool isConstant = source && source->hasTrait<OpTrait::ConstantLike>(),
         isOfElements = isa<VectorType>(value.getType());
    if (mapping.contains(value) || !(isConstant || isOfElements))
      continue;
    // What is read from memory and goes through no ring may be read twice.
    bool isLoad = isa_and_nonnull<LoadOp>(source) && !rings.contains(source);
    if (!source || isa<MmaOp, ReadOp, RowOp>(source) || isa<scf::SCFDialect>(source->getDialect()) ||
        !(isLoad || isMemoryEffectFree(source))) {
      emitError(value.getLoc()) << "expected the reducer to read elements that it can compute as well, got "
                                << value.getType()
                                << (source ? " of '" + source->getName().getStringRef() + "'" : " that a loop carries");
      readsOfOthers = true;
      continue;
    }
    copyRead(source->getOperands(), mapping, copies);
    builder.clone(*source, mapping);
    llvm::append_range(copies, source->getResults());
  }
}

/// Runs `body` while `mapping` has all of `values` that the role whose body is being built reads.
void RoleSplitter::withRead(ValueRange values, IRMapping &mapping, llvm::function_ref<void()> body) {
  SmallVector<Value> copies;
  if (reduces)
    copyRead(values, mapping, copies);
  body();
  // What stands elsewhere may not see these.
  for (Value copy : copies)
    mapping.erase(copy);
}

/// What the role whose body is being built has in the place of `values`.
SmallVector<Value> RoleSplitter::readForRole(ValueRange values, IRMapping &mapping) {
  SmallVector<Value> read;
  withRead(values, mapping,
           [&] { read = llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); }); });
  return read;
}

/// Clones what the role does, with the control flow and the scalars that decide about it: loads as puts into rings, or
/// the reducer's products.
void RoleSplitter::cloneForRole(Block &from, IRMapping &mapping) {
  for (Operation &op : from) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto load = dyn_cast<LoadOp>(op); load && rings.contains(load)) {
      if (!isOfRole(load))
        continue;
      if (reduces)
        mapping.map(load.getResult(), createGet(builder, load, /*ofReducer=*/true));
      else
        clonePut(load, mapping);
    } else if (reduces && reduced.contains(&op)) {
      withRead(op.getOperands(), mapping, [&] { builder.clone(op, mapping); });
    } else if (auto part = dyn_cast<PartOp>(op)) {
      // Producers load for all rows, and a reducer adds up all.
      mapToAllRows(builder, part, mapping);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      cloneLoop(loop, mapping);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (!isOfOthers(branch))
        cloneBranch(branch, mapping);
    } else if (!isOnlyForConsumers(&op)) {
      builder.clone(op, mapping);
    }
  }
}

void RoleSplitter::cloneLoop(scf::ForOp loop, IRMapping &mapping) {
  SmallVector<unsigned> numbers = findHandedOn(loop);
  auto choose = [&](ValueRange values) {
    return readForRole(llvm::map_to_vector(numbers, [&](unsigned number) { return values[number]; }), mapping);
  };
  SmallVector<Value> init = choose(loop.getInitArgs());
  auto copy =
      scf::ForOp::create(builder, loc, mapping.lookupOrDefault(loop.getLowerBound()),
                         mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()), init);
  OpBuilder::InsertionGuard guard(builder);
  if (init.empty())
    builder.setInsertionPoint(copy.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(copy.getBody());
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [place, number] : llvm::enumerate(numbers))
    mapping.map(loop.getRegionIterArg(number), copy.getRegionIterArg(place));
  cloneForRole(*loop.getBody(), mapping);
  if (!init.empty())
    scf::YieldOp::create(builder, loc, choose(loop.getYieldedValues()));
  for (auto [place, number] : llvm::enumerate(numbers))
    mapping.map(loop.getResult(number), copy.getResult(place));
}

void RoleSplitter::cloneBranch(scf::IfOp branch, IRMapping &mapping) {
  SmallVector<unsigned> numbers = findHandedOn(branch);
  auto types = llvm::map_to_vector(numbers, [&](unsigned number) { return branch.getResult(number).getType(); });
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
    cloneForRole(from.front(), mapping);
    OperandRange yielded = from.front().getTerminator()->getOperands();
    if (!types.empty())
      scf::YieldOp::create(
          builder, loc,
          readForRole(llvm::map_to_vector(numbers, [&](unsigned number) { return yielded[number]; }), mapping));
  }
  for (auto [place, number] : llvm::enumerate(numbers))
    mapping.map(branch.getResult(number), copy.getResult(place));
}

/// Clones what a producer needs of the program's body, `from`.
void RoleSplitter::fillProducer(PersistentOp each, Block &from) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&each.getBody().front());
  IRMapping mapping;
  mapping.map(program.getTile(), each.getTile());
  cloneForRole(from, mapping);
}

/// Clones what the reducer does of the program's body, `from`, and takes it from there.
void RoleSplitter::fillReducer(PersistentOp each, Block &from) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&each.getBody().front());
  IRMapping mapping;
  mapping.map(program.getTile(), each.getTile());
  reduces = true;
  cloneForRole(from, mapping);
  reduces = false;
  llvm::erase_if(shared, [&](LoadOp load) { return reduced.contains(load); });
  reduced.erase(from);
}

/// Moves the program's body to the consumers; what loads through rings gets from them.
void RoleSplitter::fillConsumer(PersistentOp each) {
  Block &target = each.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body)) {
    // All rows of a warpgroup are computed.
    if (isa<LiveRowsOp>(op))
      op.erase();
    else if (!isa<RingOp, RoleOp, ReturnOp>(op))
      op.moveBefore(&target, target.end());
  }
  program.getTile().replaceUsesWithIf(each.getTile(),
                                      [&](OpOperand &use) { return each->isProperAncestor(use.getOwner()); });
  for (LoadOp load : shared) {
    OpBuilder at(load);
    Value shared = createGet(at, load, /*ofReducer=*/false);
    if (pipeline.getRowsInRegisters())
      readLeft(load, shared);
    for (OpOperand &use : llvm::make_early_inc_range(load->getUses()))
      use.set(shared);
    load.erase();
  }
}

/// Whether the copy engine can take a tile of rows of `view` as they are: it stops at the view's own ends alone, and
/// wants rows of whole 16 bytes, as those of a head are. Rows that a limit cuts are few, and leave without it.
static bool hasRowsOfHeads(StoreOp store) {
  constexpr int64_t unitBits = 128;
  int64_t axis = store.getAxes()[1];
  MemRefType view = store.getView().getType();
  return !view.isDynamicDim(axis) && view.getDimSize(axis) * view.getElementTypeBitWidth() % unitBits == 0 &&
         reachesViewEnd(store.getView(), axis, store.getLimits()[1]);
}

/// What is added to memory goes through a buffer, and so do output tiles of narrow types.
void RoleSplitter::stageStores() {
  program->walk([&](StoreOp store) {
    if (!store.getAccumulate())
      return;
    builder.setInsertionPointToStart(&body);
    auto type = SharedTileType::get(builder.getContext(), cast<VectorType>(store.getValue().getType()));
    Value &buffer = ofSums[type];
    if (!buffer)
      buffer = BufferOp::create(builder, loc, type, IntegerAttr());
    store.getBufferMutable().assign(buffer);
  });
  if (pipeline.getEpilogue() == attnc::attn::Epilogue::Direct)
    return;
  llvm::SmallDenseSet<Value> staged;
  program->walk([&](StoreOp store) {
    auto type = cast<VectorType>(store.getValue().getType());
    if (!isTile(type) || type.getElementTypeBitWidth() != 16 || !hasRowsOfHeads(store))
      return;
    // What is stored twice leaves from registers the second time: buffers are as large as tiles.
    if (!staged.insert(store.getValue()).second)
      return;
    int64_t columns = pipeline.getEpilogue() == attnc::attn::Epilogue::Slabs ? std::min<int64_t>(64, type.getDimSize(1))
                                                                             : type.getDimSize(1);
    builder.setInsertionPointToStart(&body);
    auto tile = VectorType::get({type.getDimSize(0), columns}, type.getElementType());
    Value buffer = BufferOp::create(builder, loc, SharedTileType::get(builder.getContext(), tile), IntegerAttr());
    store.getBufferMutable().assign(buffer);
  });
}

LogicalResult RoleSplitter::run() {
  splitSharedLoads(program);
  shared = findSharedLoads(program);
  sinkLoads(shared);
  createRings();
  dealRings();
  Operation *end = body.getTerminator();
  Block scalars;
  for (Operation &op : llvm::make_early_inc_range(body))
    if (!isa<RingOp, ReturnOp>(op))
      op.moveBefore(&scalars, scalars.end());
  builder.setInsertionPoint(end);
  for (filling = 0; filling < numProducers; ++filling) {
    IntegerAttr warp = numProducers == 1 ? IntegerAttr() : builder.getI64IntegerAttr(filling);
    fillProducer(createRole(RoleKind::Producer, 1, pipeline.getProducerRegisters(), warp), scalars);
  }
  PersistentOp consumer = createRole(RoleKind::Consumer, pipeline.getConsumers(), pipeline.getConsumerRegisters());
  if (pipeline.getReducerRegisters() > 0)
    reduced = ReducerSlice(scalars);
  findPairs();
  if (!reduced.empty())
    fillReducer(createRole(RoleKind::Reducer, 1, pipeline.getReducerRegisters()), scalars);
  for (Operation &op : llvm::make_early_inc_range(scalars))
    op.moveBefore(consumer->getParentOp());
  fillConsumer(consumer);
  stageStores();
  // A second buffer saves a barrier, and a third nothing.
  giveRingsToShared(program, std::min<int64_t>(pipeline.getStages(), 2));
  return failure(readsOfOthers);
}

namespace {
struct SpecializeRoles : attnc::tile::impl::TileSpecializeRolesBase<SpecializeRoles> {
  void runOnOperation() override {
    if (hasRoles(getOperation()) && failed(RoleSplitter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
