//===- TileBuilder.cpp - Builds one tile program ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileBuilder.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/PipelineFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

Type TileBuilder::workspaceType(const Workspace &workspace) const {
  int64_t columns = workspace.knownColumns;
  return MemRefType::get({ShapedType::kDynamic, columns}, workspace.element,
                         StridedLayoutAttr::get(loc.getContext(), 0, {columns, 1}));
}

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
  if (ordersQuerySums())
    list.push_back({semaphoresWorkspace.str(), builder.getI32Type()});
  for (const CapturedGradient &of : listScattered())
    list.push_back({scatteredWorkspace(of), f32});
  return list;
}

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
    : TileSteps(module.getContext(), function, kernel, schedule, kind, std::move(captured)) {
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
  if (isBackward()) {
    setWorkspacesOfGradients(rows, sizes);
    setScatteredWorkspaces(sizes);
  }
  if (schedule.isSplit())
    tiles = setWorkspaceOfParts(tiles, rows, sizes);
  if (SmallVector<AffineExpr> launch = listLaunchSizes(sizes); !launch.empty())
    program.setLaunchSizes(AffineMap::get(0, sizes.size() / 2, launch, context));
  program.setGrid(AffineMap::get(0, sizes.size() / 2, tiles));
  program.setGridSizes(sizes);
  setWorkspaceSizes(sizes.size() / 2);
}

/// Whether the block mask looks at areas of queries and keys.
static bool looksAtAreas(KernelOpInterface kernel) {
  auto isArea = [](LoadRangeOp range) {
    auto isLong = [&](size_t dim) {
      std::optional<Coordinate> coordinate = getIndexCoordinate(range, dim);
      return coordinate == Coordinate::Query || coordinate == Coordinate::Key;
    };
    return llvm::count_if(llvm::seq<size_t>(range.getFirst().size()), isLong) > 1;
  };
  return kernel.getBlocks()
      .walk([&](LoadRangeOp range) { return isArea(range) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

PipelineAttr TileBuilder::programPipeline() const {
  PipelineAttr pipeline = schedule.getPipeline();
  if (kind == ProgramKind::Kernel || !pipeline)
    return pipeline;
  const int64_t warpgroups = looksAtAreas(kernel) ? 8 : 4;
  PipelineFields fields;
  fields.consumers = warpgroups;
  fields.blockMask = true;
  return fields.get(pipeline.getContext());
}
