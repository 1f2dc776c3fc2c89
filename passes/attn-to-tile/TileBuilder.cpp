//===- TileBuilder.cpp - Builds one tile program ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileBuilder.h"
#include "dialect/attn/LaunchSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// A tensor becomes a view with any strides, but contiguous in its last dimension where the kernel asks for that. A
/// caller's index has 64 bits, which those of a program need not have.
static Type viewType(const KernelArgument &argument) {
  auto tensor = dyn_cast<RankedTensorType>(argument.type);
  if (!tensor)
    return argument.type.isIndex() ? IntegerType::get(argument.type.getContext(), 64) : argument.type;
  SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
  if (argument.unitInnerStride && !strides.empty())
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(tensor.getContext(), 0, strides);
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
}

/// Rows of elements, one after the other.
Type TileBuilder::workspaceType(const Workspace &workspace) const {
  int64_t columns = workspace.knownColumns;
  return MemRefType::get({ShapedType::kDynamic, columns}, workspace.element,
                         StridedLayoutAttr::get(loc.getContext(), 0, {columns, 1}));
}

/// The workspaces that a program of this schedule may use.
SmallVector<TileBuilder::Workspace> TileBuilder::listWorkspaces() {
  SmallVector<Workspace> list;
  Type f32 = builder.getF32Type();
  if (hasBlockMask(kernel, schedule))
    list.push_back({stepsWorkspace.str(), builder.getI32Type()});
  if (schedule.isSplit())
    list.push_back({partsWorkspace.str(), f32});
  if (!isBackward())
    return list;
  list.push_back({statisticsWorkspace.str(), f32});
  if (hasQuerySums())
    list.push_back({querySumsWorkspace.str(), f32, kernel.getHeadDim()});
  for (const CapturedGradient &of : listScattered())
    list.push_back({scatteredWorkspace(of), f32});
  return list;
}

/// Says how large the workspace of that name is.
void TileBuilder::setWorkspace(StringRef name, AffineExpr rows, AffineExpr columns) {
  Workspace *workspace = llvm::find_if(workspaces, [&](const Workspace &each) { return each.name == name; });
  assert(workspace != workspaces.end() && "a workspace of the program");
  workspace->rows = rows;
  workspace->columns = columns;
}

/// Notes in the program how large its workspaces are.
void TileBuilder::setWorkspaceSizes(unsigned numSymbols) {
  if (workspaces.empty())
    return;
  MLIRContext *context = loc.getContext();
  program.setWorkspacesAttr(
      builder.getArrayAttr(llvm::map_to_vector(workspaces, [&](const Workspace &each) -> Attribute {
        return tile::WorkspaceAttr::get(context, each.name,
                                        AffineMap::get(0, numSymbols, {each.rows, each.columns}, context));
      })));
}

void TileBuilder::finish() {
  tile::ReturnOp::create(builder, loc);
  Block &body = program.getBody().front();
  SmallVector<Attribute> kept;
  llvm::BitVector unused(body.getNumArguments());
  for (auto [workspace, view] : program.listWorkspaces())
    if (view.use_empty())
      unused.set(cast<BlockArgument>(view).getArgNumber());
    else
      kept.push_back(workspace);
  if (unused.none())
    return;
  body.eraseArguments(unused);
  program.setFunctionType(builder.getFunctionType(llvm::to_vector(body.getArgumentTypes()), {}));
  if (kept.empty())
    program.removeWorkspacesAttr();
  else
    program.setWorkspacesAttr(builder.getArrayAttr(kept));
}

TileBuilder::TileBuilder(ModuleOp module, const KernelFunction &function, KernelOpInterface kernel,
                         ScheduleAttr schedule, StringRef name, ProgramKind kind,
                         std::optional<CapturedGradient> captured)
    : builder(module.getContext()), loc(kernel.getLoc()), function(function), kernel(kernel), schedule(schedule),
      kind(kind), captured(std::move(captured)) {
  SmallVector<Type> types;
  for (const KernelArgument &argument : function.inputs)
    types.push_back(viewType(argument));
  for (const KernelArgument &argument : function.outputs)
    types.push_back(viewType(argument));
  workspaces = listWorkspaces();
  for (const Workspace &workspace : workspaces)
    types.push_back(workspaceType(workspace));
  types.push_back(builder.getIndexType());

  builder.setInsertionPointToEnd(module.getBody());
  program = tile::ProgramOp::create(
      builder, loc, builder.getStringAttr(name), TypeAttr::get(builder.getFunctionType(types, {})), ArrayAttr(),
      ArrayAttr(), AffineMapAttr::get(AffineMap::getConstantMap(0, builder.getContext())),
      builder.getDenseI64ArrayAttr({}), builder.getI64IntegerAttr(getRows()),
      builder.getI64IntegerAttr(schedule.getPanel()), programPipeline(), IntegerAttr(), ArrayAttr(), SizesAttr(),
      ArrayAttr(), AffineMapAttr(), DenseI64ArrayAttr(), UnitAttr());
  // Code that people read calls arguments as the spec does.
  SmallVector<Location> locs(types.size(), loc);
  size_t named = 0;
  for (const auto *list : {&function.inputs, &function.outputs})
    for (const KernelArgument &argument : *list)
      locs[named++] = NameLoc::get(builder.getStringAttr(argument.name), loc);
  for (const Workspace &workspace : workspaces)
    locs[named++] = NameLoc::get(builder.getStringAttr(workspace.name), loc);
  Block *body = builder.createBlock(&program.getBody(), {}, types, locs);
  unsigned number = 0;
  func::FuncOp spec = function.function;
  for (BlockArgument argument : spec.getArguments()) {
    Value passed = body->getArgument(number++);
    if (argument.getType().isIndex())
      passed = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), passed);
    arguments.map(argument, passed);
  }
  for (Value result : spec.getBody().front().getTerminator()->getOperands())
    destinations[result].push_back(body->getArgument(number++));
  // Constants of the spec's function may be captured by regions.
  for (Operation &op : spec.getBody().front())
    if (op.hasTrait<OpTrait::ConstantLike>())
      builder.clone(op, arguments);
  setGrid();
}

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

Value TileBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value TileBuilder::f32(float value) { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value)); }
Value TileBuilder::splat(VectorType type, float value) {
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getF32FloatAttr(value)));
}
Value TileBuilder::broadcast(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, rowType(scalar.getType()), scalar);
}
Value TileBuilder::choose(Value condition, float yes, float no) {
  return broadcast(arith::SelectOp::create(builder, loc, condition, f32(yes), f32(no)));
}
Value TileBuilder::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value TileBuilder::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value TileBuilder::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value TileBuilder::least(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value TileBuilder::greatest(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }

Value TileBuilder::viewDim(Value view, int64_t dim) {
  int64_t size = cast<MemRefType>(view.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? memref::DimOp::create(builder, loc, view, dim).getResult() : index(size);
}

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

/// Query heads that have tiles of their own, or key heads where tiles are of keys.
int64_t TileBuilder::countHeadTiles() {
  return getRowAxis() == Coordinate::Query ? kernel.getQueryHeads() / getHeads() : kernel.getKeyHeads();
}

/// A size that the grid depends on, as a symbol; `sizes` are those so far.
AffineExpr TileBuilder::sizeOf(Value value, int64_t dim, SmallVectorImpl<int64_t> &sizes) {
  sizes.append({cast<BlockArgument>(lookup(value)).getArgNumber(), dim});
  return getAffineSymbolExpr(sizes.size() / 2 - 1, loc.getContext());
}

/// What conditions on launches speak of, where the kernel has some; `sizes` are those of the grid so far.
SmallVector<AffineExpr> TileBuilder::listLaunchSizes(SmallVectorImpl<int64_t> &sizes) {
  if (llvm::all_of(kernel.getSchedules(), [](ScheduleAttr one) { return one.isUniversal(); }))
    return {};
  return getLaunchSizes(kernel, [&](Value tensor, int64_t dim) {
    int64_t number = cast<BlockArgument>(lookup(tensor)).getArgNumber();
    for (size_t pair = 0; pair < sizes.size(); pair += 2)
      if (sizes[pair] == number && sizes[pair + 1] == dim)
        return getAffineSymbolExpr(pair / 2, loc.getContext());
    return sizeOf(tensor, dim, sizes);
  });
}

/// Number of tiles: padded B * H * ceil(S / rows) for tiles of that many queries or keys; heads that share tiles count
/// as one. Packed: sequences start anywhere, so there are at most ceil(T / rows) + B - 1 tiles a head, if there are
/// rows at all; those left over find no sequence and do nothing. A block mask has a tile, and its workspace a row,
/// for all heads together where the mask is the same for them.
void TileBuilder::setGrid() {
  MLIRContext *context = builder.getContext();
  SmallVector<int64_t> sizes;
  auto sizeOf = [&](Value value, int64_t dim) { return this->sizeOf(value, dim, sizes); };
  bool ofQueries = getRowAxis() == Coordinate::Query;
  Value offsets = ofQueries ? kernel.getQueryOffsets() : kernel.getKeyOffsets();
  AffineExpr rows = sizeOf(rowTensor(), kernel.isPacked() ? 0 : 1), tilesOfHead = rows.ceilDiv(getExtent(getRowAxis()));
  if (kernel.isPacked())
    // Without rows there is nothing to store; there may be no sequence then, whose captured elements a tile would read.
    tilesOfHead = (tilesOfHead + sizeOf(offsets, 0) - 2) * rows.ceilDiv(rows + 1);
  else
    tilesOfHead = tilesOfHead * sizeOf(kernel.getQuery(), 0);
  AffineExpr tiles = tilesOfHead * countHeadTiles();
  if (schedule.getProgram() == Program::Dsinks)
    tiles = getAffineConstantExpr(countSinkTiles(), context);
  if (captured && captured->form == CapturedForm::Scattered)
    tiles = countScatteredTiles(sizes);
  else if (captured)
    tiles = schedule.getProgram() == Program::Dbuckets ? tiles * countBucketTiles() : countCapturedTiles(sizes);
  AffineExpr lists = blockMaskKnowsHeads() ? tiles : tilesOfHead;
  if (kind == ProgramKind::BlockMask)
    tiles = lists;
  if (hasBlockMask(kernel, schedule)) {
    AffineExpr columns = ofQueries ? keyRows(sizes) : sizeOf(kernel.getQuery(), kernel.isPacked() ? 0 : 1);
    setWorkspace(stepsWorkspace, lists, tile::BlockMaskOp::columns(columns.ceilDiv(getColumns())));
  }
  if (isBackward())
    setWorkspacesOfGradients(rows, sizes);
  if (schedule.isSplit())
    tiles = setWorkspaceOfParts(tiles, rows, sizes);
  if (SmallVector<AffineExpr> launch = listLaunchSizes(sizes); !launch.empty())
    program.setLaunchSizes(AffineMap::get(0, sizes.size() / 2, launch, context));
  program.setGrid(AffineMap::get(0, sizes.size() / 2, tiles));
  program.setGridSizes(sizes);
  setWorkspaceSizes(sizes.size() / 2);
}

/// An element of a tensor of lengths, as an index, at most `limit`.
Value TileBuilder::loadLength(Value lengths, Value position, Value limit) {
  Value length = memref::LoadOp::create(builder, loc, arguments.lookupOrDefault(lengths), position);
  Value count = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), length);
  return limit ? greatest(least(count, limit), index(0)) : count;
}

/// Says which head, or which heads that share tiles, the tile is for; or which key head where it is of keys.
void TileBuilder::placeHead(Value number) {
  if (getRowAxis() == Coordinate::Key)
    geometry.keyHead = number;
  else
    geometry.head = getHeads() == 1 ? number : mul(number, index(getHeads()));
}

/// The `group` of an access to a view whose heads lie along `headDimension`, or that has none.
SmallVector<int64_t> TileBuilder::rowGroup(std::optional<int64_t> headDimension) const {
  if (getHeads() == 1)
    return {};
  return headDimension ? SmallVector<int64_t>{getHeads(), *headDimension} : SmallVector<int64_t>{getHeads()};
}

/// Finds head, batch and first row of a tile, and its row of the lists of steps, whose number a tile of a block mask
/// has itself.
void TileBuilder::placeTile(Value tile) {
  bool isListed = hasBlockMask(kernel, schedule), lists = kind == ProgramKind::BlockMask;
  bool hasHeads = !lists || blockMaskKnowsHeads();
  Value heads = index(hasHeads ? countHeadTiles() : 1);
  if (kernel.isPacked()) {
    placeHead(arith::RemUIOp::create(builder, loc, tile, heads));
    Value place = arith::DivUIOp::create(builder, loc, tile, heads);
    buildPackedGeometry(place);
    if (isListed)
      listRow = lists || blockMaskKnowsHeads() ? tile : place;
    return;
  }
  geometry.query.stored = viewDim(lookup(kernel.getQuery()), 1);
  geometry.key.stored = countStored(Coordinate::Key, lookup(kernel.getKey()));
  Value rows = getSide(getRowAxis()).stored, extent = index(getExtent(getRowAxis()));
  Value tiles = arith::CeilDivUIOp::create(builder, loc, rows, extent);
  bool inSections = !lists && schedule.getPipeline() && schedule.getPipeline().getSectionBytes();
  auto [inHead, rest] = inSections ? buildSections(tile, tiles, geometry.key.stored)
                                   : std::pair<Value, Value>(arith::RemUIOp::create(builder, loc, tile, tiles),
                                                             arith::DivUIOp::create(builder, loc, tile, tiles));
  // A kernel takes the last queries first, and the first keys: under a causal mask they take longest. Tiles of one head
  // follow each other, so that its keys and values stay in the cache.
  bool ascends = lists || getRowAxis() == Coordinate::Key;
  Value number = ascends ? inHead : sub(sub(tiles, index(1)), inHead);
  geometry.row0 = mul(number, extent);
  if (schedule.getPipeline() && schedule.getPipeline().getBatchInside()) {
    Value batch = viewDim(lookup(kernel.getQuery()), 0);
    placeHead(arith::DivUIOp::create(builder, loc, rest, batch));
    geometry.batch = arith::RemUIOp::create(builder, loc, rest, batch);
  } else {
    placeHead(arith::RemUIOp::create(builder, loc, rest, heads));
    geometry.batch = arith::DivUIOp::create(builder, loc, rest, heads);
  }
  if (isListed)
    listRow = lists ? tile : add(mul(blockMaskKnowsHeads() ? rest : geometry.batch, tiles), number);
}

void TileBuilder::buildGeometry() {
  Value tile = program.getTile();
  if (schedule.getProgram() == Program::Dbuckets)
    firstBucket = mul(takePlace(tile, index(countBucketTiles())), index(countBucketsOfTile()));
  if (schedule.getProgram() == Program::Combine) {
    firstColumn = mul(takePlace(tile, index(countColumnTiles())), index(getColumns()));
  } else if (schedule.isSplit()) {
    part = tile;
    tile = takePlace(part, countTiles());
  }
  placeTile(tile);
  if (!kernel.isPacked()) {
    geometry.query.base = geometry.key.base = index(0);
    Value queryLengths = kernel.getQueryLengths(), keyLengths = kernel.getKeyLengths();
    geometry.query.count =
        queryLengths ? loadLength(queryLengths, geometry.batch, geometry.query.stored) : geometry.query.stored;
    geometry.key.count = keyLengths ? loadLength(keyLengths, geometry.batch, geometry.key.stored) : geometry.key.stored;
  }
  int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads();
  if (getRowAxis() == Coordinate::Query)
    geometry.keyHead = arith::DivUIOp::create(builder, loc, geometry.head, index(group));
  else if (group == 1 || kind == ProgramKind::BlockMask)
    geometry.head = geometry.keyHead;
  geometry.shift =
      kernel.getAlign() == Alignment::BottomRight ? sub(geometry.key.count, geometry.query.count) : index(0);
  if (Value offset = kernel.getQOffset())
    geometry.shift = add(geometry.shift, lookup(offset));
  Value left = sub(getSide(getRowAxis()).stored, geometry.row0);
  Value rows = getHeads() == 1 ? left : mul(left, index(getHeads()));
  tile::LiveRowsOp::create(builder, loc, greatest(least(rows, index(getRows())), index(0)));
}

/// Heads are worked on in sections whose keys and values fit in a cache together; within a section, the last rows of
/// all its heads come first. Returns the tile's number from the end of its head, and the number of that head over the
/// batch.
std::pair<Value, Value> TileBuilder::buildSections(Value tile, Value tilesOfHead, Value keyRows) {
  auto type = cast<RankedTensorType>(kernel.getKey().getType());
  int64_t dims = kernel.getHeadDim();
  if (Value value = kernel.getValueOrNull())
    dims += cast<RankedTensorType>(value.getType()).getShape().back();
  int64_t rowBytes = dims * type.getElementTypeBitWidth() / 8;
  auto divide = [&](Value a, Value b) -> Value { return arith::DivUIOp::create(builder, loc, a, b); };
  // Fewer heads than this leave too few long tiles to fill the gaps at the end.
  constexpr int64_t fewest = 16;
  // An index of a GPU has 32 bits, which hold any number of rows there is.
  int64_t rows = std::min<int64_t>(schedule.getPipeline().getSectionBytes() / rowBytes, INT32_MAX);
  Value fit = divide(index(rows), greatest(keyRows, index(1)));
  // A power of two, so that sections tend to divide the heads.
  Type i32 = builder.getI32Type();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  Value word = arith::IndexCastOp::create(builder, loc, i32, greatest(fit, index(fewest)));
  Value leading = math::CountLeadingZerosOp::create(builder, loc, word);
  Value power =
      arith::ShLIOp::create(builder, loc, constant(1), arith::SubIOp::create(builder, loc, constant(31), leading));
  Value batch = viewDim(lookup(kernel.getQuery()), 0);
  Value all = mul(batch, index(countHeadTiles()));
  Value section = least(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), power), all);
  Value tilesOfSection = mul(section, tilesOfHead);
  Value number = divide(tile, tilesOfSection);
  Value inside = arith::RemUIOp::create(builder, loc, tile, tilesOfSection);
  // The last section may have fewer heads. Both sizes are the same for all tiles, and so is what divisions by them
  // need.
  Value whole = divide(all, section), rest = greatest(sub(all, mul(whole, section)), index(1));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, number, whole);
  auto ofBoth = [&](Value last, Value others) -> Value {
    return arith::SelectOp::create(builder, loc, isLast, last, others);
  };
  Value head =
      ofBoth(arith::RemUIOp::create(builder, loc, inside, rest), arith::RemUIOp::create(builder, loc, inside, section));
  return {ofBoth(divide(inside, rest), divide(inside, section)), add(mul(number, section), head)};
}

/// Slots of a head of packed sequences, at least one (see `setGrid`).
Value TileBuilder::countSlots() {
  Value offsets = lookup(getRowAxis() == Coordinate::Query ? kernel.getQueryOffsets() : kernel.getKeyOffsets());
  Value rows = viewDim(lookup(rowTensor()), 0);
  Value tiles = arith::CeilDivUIOp::create(builder, loc, rows, index(getExtent(getRowAxis())));
  return greatest(add(tiles, sub(viewDim(offsets, 0), index(2))), index(1));
}

/// Finds the sequence that tile `slot` of a head falls in. Sequence b has the slots from floor(offset(b) / rows) + b
/// on: as many as it has tiles, or one more. That is a closed form which grows with b, so that b can be searched for,
/// where numbers of tiles would have to be summed. Slots that are left over hold no rows. The last come first: under a
/// causal mask the last rows of a sequence take longest.
void TileBuilder::buildPackedGeometry(Value slot) {
  bool ofQueries = getRowAxis() == Coordinate::Query;
  Value rowOffsets = ofQueries ? kernel.getQueryOffsets() : kernel.getKeyOffsets();
  Value one = index(1), rows = index(getExtent(getRowAxis()));
  Value offsets = lookup(rowOffsets);
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  auto firstSlot = [&](Value offset, Value b) { return add(arith::DivUIOp::create(builder, loc, offset, rows), b); };
  Value batch = sub(viewDim(offsets, 0), one), lastBatch = greatest(sub(batch, one), index(0));
  slot = sub(sub(countSlots(), one), slot);

  // Three bits of its number at once, from the highest down: loads that do not wait for each other.
  constexpr int64_t digitBits = 3, digits = 1 << digitBits;
  Type i32 = builder.getI32Type();
  Value word = arith::IndexCastOp::create(builder, loc, i32, lastBatch);
  Value zeros = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           math::CountLeadingZerosOp::create(builder, loc, word));
  Value rounds = arith::CeilDivUIOp::create(builder, loc, sub(index(32), zeros), index(digitBits));
  auto loop = scf::ForOp::create(
      builder, loc, index(0), rounds, one, index(0), [&](OpBuilder &, Location, Value round, ValueRange state) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(round.getParentBlock());
        Value shift = mul(sub(sub(rounds, one), round), index(digitBits)), found = state[0];
        for (int64_t digit = 1; digit < digits; ++digit) {
          Value b = least(add(state[0], arith::ShLIOp::create(builder, loc, index(digit), shift)), lastBatch);
          Value start = firstSlot(loadLength(rowOffsets, b, {}), b);
          found = arith::SelectOp::create(builder, loc, compare(arith::CmpIPredicate::sle, start, slot), b, found);
        }
        scf::YieldOp::create(builder, loc, found);
      });
  geometry.batch = loop.getResult(0);
  // Without sequences there is no offset but the first; reading it twice gives the empty sequence that is wanted.
  Value next = least(add(geometry.batch, one), batch);
  geometry.query.base = loadLength(kernel.getQueryOffsets(), geometry.batch, {});
  geometry.key.base = kernel.isPaged() ? index(0) : loadLength(kernel.getKeyOffsets(), geometry.batch, {});
  Value queries = sub(loadLength(kernel.getQueryOffsets(), next, {}), geometry.query.base), keys;
  if (!kernel.isPaged()) {
    keys = sub(loadLength(kernel.getKeyOffsets(), next, {}), geometry.key.base);
  } else {
    keys = countStored(Coordinate::Key, lookup(kernel.getKey()));
    if (Value lengths = kernel.getKeyLengths())
      keys = loadLength(lengths, geometry.batch, keys);
  }
  Value base = ofQueries ? geometry.query.base : geometry.key.base;
  Value row = mul(sub(slot, firstSlot(base, geometry.batch)), rows);
  geometry.holds = compare(arith::CmpIPredicate::slt, row, ofQueries ? queries : keys);
  auto orNone = [&](Value value) -> Value {
    return arith::SelectOp::create(builder, loc, geometry.holds, value, index(0));
  };
  geometry.row0 = orNone(row);
  geometry.query.stored = geometry.query.count = orNone(queries);
  geometry.key.stored = geometry.key.count = orNone(keys);
}

//===----------------------------------------------------------------------===//
// Products, and rows
//===----------------------------------------------------------------------===//

Value TileBuilder::product(Value a, Value b, Value acc, bool transposed, bool leftTransposed) {
  return tile::MmaOp::create(builder, loc, a, b, acc, transposed, leftTransposed, kernel.mayRoundToTf32());
}

Value TileBuilder::buildRowExists() {
  Value rows = vector::StepOp::create(builder, loc, rowType(builder.getIndexType()));
  if (getHeads() > 1)
    rows = arith::DivUIOp::create(builder, loc, rows, broadcast(index(getHeads())));
  Value left = broadcast(sub(getSide(getRowAxis()).count, geometry.row0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, rows, left);
}

Value TileBuilder::gatherHeads(llvm::function_ref<Value(Value)> ofHead) {
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
