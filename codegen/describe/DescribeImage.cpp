//===- DescribeImage.cpp - What the runtime must know of a kernel - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/describe/DescribeImage.h"
#include "codegen/describe/Types.h"
#include "dialect/attn/Limits.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/IR/AffineExpr.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using attn::ArgumentUse;
using image::GridRule;

static_assert(attn::maxWorkspaceRows == image::maxWorkspaceRows, "programs count on what launches check");
static_assert(tile::mostThreads == image::maxBlockThreads, "programs and launches know one largest block");
static_assert(tile::copyUnitBytes == image::tensorMapUnitBytes, "programs and launches know one copy engine");

/// The element type of an argument, where one can have it.
static FailureOr<image::DType> dtypeOf(func::FuncOp function, Type type) {
  std::optional<image::DType> dtype = describe::toDType(type);
  if (dtype && *dtype != image::DType::F64)
    return *dtype;
  return function.emitOpError() << "has an argument of element type " << type << ", which cannot be passed [S13]";
}

/// Limits that a use sets on a scalar, in addition to those of its other uses (S18).
static void setLimits(image::ArgSpec &spec, ArgumentUse use) {
  auto narrow = [&](double min, std::optional<double> max = std::nullopt) {
    spec.min = std::max(spec.min.value_or(min), min);
    if (max)
      spec.max = std::min(spec.max.value_or(*max), *max);
  };
  switch (use) {
  case ArgumentUse::Probability:
    narrow(0, 1);
    spec.notNaN = true;
    break;
  case ArgumentUse::Window:
    narrow(0);
    break;
  case ArgumentUse::Cap:
    narrow(std::numeric_limits<float>::min(), std::numeric_limits<float>::max());
    spec.notNaN = true;
    break;
  case ArgumentUse::Scale:
    narrow(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
    spec.notNaN = true;
    break;
  case ArgumentUse::QueryLengths: // tensors, which have contents
  case ArgumentUse::KeyLengths:
  case ArgumentUse::QueryOffsets:
  case ArgumentUse::KeyOffsets:
  case ArgumentUse::PageTable:
  case ArgumentUse::QueryOffset: // limited by where it puts queries
  case ArgumentUse::SegmentIds:
  case ArgumentUse::PrefixLengths:
  case ArgumentUse::Seed:
    break;
  }
}

/// The symbol of the size of a dimension of `tensor`.
static int getSymbol(const attn::KernelFunction &kernel, Value tensor, unsigned dim) {
  return kernel.inputs[cast<BlockArgument>(tensor).getArgNumber()].dims[dim].symbol;
}

/// The symbol of the rows of queries, and of keys.
static int getQueryRows(const attn::KernelFunction &kernel, attn::KernelOpInterface op) {
  return getSymbol(kernel, op.getQuery(), op.isPacked() ? 0 : 1);
}
static int getKeyRows(const attn::KernelFunction &kernel, attn::KernelOpInterface op) {
  if (op.isPaged())
    return getSymbol(kernel, op.getPageTable(), 1);
  return getSymbol(kernel, op.getKey(), op.areKeysPacked() ? 0 : 1);
}

/// What the lengths of sequences hold, for each kernel and side that an argument gives them to (S11), and page tables
/// (S19).
static void setContent(image::ArgSpec &spec, const attn::KernelFunction &kernel, unsigned number) {
  auto isArgument = [&](Value value) {
    auto argument = dyn_cast_if_present<BlockArgument>(value);
    return argument && argument.getArgNumber() == number;
  };
  auto add = [&](Value lengths, int symbol, image::ContentRule rule) {
    if (!isArgument(lengths))
      return;
    spec.content = rule;
    if (!llvm::is_contained(spec.contentSymbols, symbol))
      spec.contentSymbols.push_back(symbol);
  };
  for (attn::KernelOpInterface op : kernel.kernels) {
    int queries = getQueryRows(kernel, op), keys = getKeyRows(kernel, op);
    add(op.getQueryLengths(), queries, image::ContentRule::Lengths);
    add(op.getKeyLengths(), keys, image::ContentRule::Lengths);
    add(op.getQueryOffsets(), queries, image::ContentRule::CumulativeLengths);
    add(op.getKeyOffsets(), keys, image::ContentRule::CumulativeLengths);
    if (!isArgument(op.getPageTable()))
      continue;
    auto lengths = dyn_cast_if_present<BlockArgument>(op.getKeyLengths());
    spec.pages.push_back(
        {getSymbol(kernel, op.getKey(), 0), op.getPageRows(), lengths ? static_cast<int>(lengths.getArgNumber()) : -1});
  }
}

/// Where the queries stand that an argument moves, one rule for each kernel that it is the offset of (S2).
static void setPositions(image::ArgSpec &spec, const attn::KernelFunction &kernel, unsigned number) {
  for (attn::KernelOpInterface op : kernel.kernels) {
    auto offset = dyn_cast_if_present<BlockArgument>(op.getQOffset());
    if (!offset || offset.getArgNumber() != number)
      continue;
    image::PositionRule rule{attn::minPosition, attn::maxPosition, getQueryRows(kernel, op)};
    if (op.getAlign() == attn::Alignment::BottomRight)
      rule.keys = getKeyRows(kernel, op);
    spec.positions.push_back(rule);
  }
}

static FailureOr<image::ArgSpec> describeArgument(const attn::KernelFunction &kernel,
                                                  const attn::KernelArgument &argument, image::ArgRole role) {
  image::ArgSpec spec;
  spec.name = argument.name;
  spec.role = role;
  spec.kind = argument.isTensor() ? image::ArgKind::Tensor : image::ArgKind::Scalar;
  spec.isIndex = argument.type.isIndex();
  spec.unitInnerStride = argument.unitInnerStride;
  bool isOffsets = argument.isUsedAs(ArgumentUse::QueryOffsets) || argument.isUsedAs(ArgumentUse::KeyOffsets);
  Type element = getElementTypeOrSelf(argument.type);
  FailureOr<image::DType> dtype = dtypeOf(kernel.function, element);
  if (failed(dtype))
    return failure();
  spec.dtype = *dtype;
  for (const attn::KernelDim &dim : argument.dims) {
    if (dim.size > attn::maxSize) {
      func::FuncOp function = kernel.function;
      return function.emitOpError() << "expected dimension " << spec.dims.size() << " of '" << argument.name
                                    << "' to be at most " << attn::maxSize << ", got " << dim.size << " [S18]";
    }
    image::DimSpec out{ShapedType::isDynamic(dim.size) ? -1 : dim.size, dim.symbol, dim.broadcast, dim.extra, dim.unit};
    // A computed index is clamped to the dimension, which must then hold something.
    if (dim.indexed == attn::IndexKind::Computed || isOffsets)
      out.minSize = 1;
    out.maxSize = attn::maxSize / dim.unit;
    spec.dims.push_back(out);
  }
  for (ArgumentUse use : argument.uses)
    setLimits(spec, use);
  return spec;
}

/// A grid's affine expression as a rule over the image's symbols.
static FailureOr<GridRule> describeGrid(AffineExpr expr, ArrayRef<GridRule> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return GridRule::constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sizes[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  // A rule has no negative numbers, which grids have as terms alone.
  auto term = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool subtracts = binary.getKind() == AffineExprKind::Add && term && term.getValue() < 0;
  FailureOr<GridRule> lhs = describeGrid(binary.getLHS(), sizes),
                      rhs = describeGrid(subtracts ? -binary.getRHS() : binary.getRHS(), sizes);
  if (failed(lhs) || failed(rhs))
    return failure();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return GridRule::combine(subtracts ? GridRule::Op::Sub : GridRule::Op::Add, *lhs, *rhs);
  case AffineExprKind::Mul:
    return GridRule::combine(GridRule::Op::Mul, *lhs, *rhs);
  case AffineExprKind::CeilDiv:
    return GridRule::combine(GridRule::Op::CeilDiv, *lhs, *rhs);
  case AffineExprKind::FloorDiv:
    return GridRule::combine(GridRule::Op::FloorDiv, *lhs, *rhs);
  default:
    return failure();
  }
}

/// The launches that a program is for, as rules over the image's symbols; `sizes` are those of the grid's symbols.
static FailureOr<image::LaunchRule> describeLaunches(tile::ProgramOp program, ArrayRef<GridRule> sizes) {
  bool isKnown = true; // whether the runtime can evaluate what is asked for
  auto describe = [&](attn::SizesAttr condition) {
    image::SizeCondition described;
    for (attn::SizeRange range : condition.getRanges()) {
      FailureOr<GridRule> size =
          describeGrid(program.getLaunchSizes()->getResult(static_cast<unsigned>(range.size)), sizes);
      isKnown &= succeeded(size);
      if (succeeded(size))
        described.push_back({*size, range.min, range.max});
    }
    return described;
  };
  image::LaunchRule rule;
  if (std::optional<attn::SizesAttr> when = program.getWhen())
    rule.when = describe(*when);
  if (std::optional<ArrayAttr> unless = program.getUnless())
    for (auto condition : unless->getAsRange<attn::SizesAttr>())
      rule.unless.push_back(describe(condition));
  if (!isKnown)
    return program.emitOpError("has conditions on sizes that the runtime cannot evaluate");
  return rule;
}

std::string describe::getEntryName(tile::ProgramOp program) { return (program.getName() + "_entry").str(); }

FailureOr<image::KernelImage> describe::describeImage(const attn::KernelFunction &kernel, ModuleOp tileModule) {
  image::KernelImage image;
  func::FuncOp function = kernel.function;
  image.name = function.getName().str();
  for (const std::string &symbol : kernel.symbols)
    image.symbols.push_back(symbol);
  auto add = [&](const attn::KernelArgument &argument, image::ArgRole role) -> LogicalResult {
    FailureOr<image::ArgSpec> spec = describeArgument(kernel, argument, role);
    if (failed(spec))
      return failure();
    if (role == image::ArgRole::Input) {
      setContent(*spec, kernel, image.args.size());
      setPositions(*spec, kernel, image.args.size());
    }
    image.args.push_back(std::move(*spec));
    return success();
  };
  for (const attn::KernelArgument &argument : kernel.inputs)
    if (failed(add(argument, image::ArgRole::Input)))
      return failure();
  for (const attn::KernelArgument &argument : kernel.outputs)
    if (failed(add(argument, image::ArgRole::Output)))
      return failure();

  for (auto program : tileModule.getOps<tile::ProgramOp>()) {
    SmallVector<GridRule> sizes;
    ArrayRef<int64_t> pairs = program.getGridSizes();
    for (size_t pair = 0; pair < pairs.size(); pair += 2) {
      const image::DimSpec &dim = image.args[pairs[pair]].dims[pairs[pair + 1]];
      GridRule size = dim.size >= 0 ? GridRule::constant(dim.size) : GridRule::symbol(dim.symbol);
      if (dim.size < 0 && dim.unit > 1)
        size = GridRule::combine(GridRule::Op::CeilDiv, size, GridRule::constant(dim.unit));
      if (dim.size < 0 && dim.extra > 0)
        size = GridRule::combine(GridRule::Op::Add, size, GridRule::constant(dim.extra));
      sizes.push_back(size);
    }
    FailureOr<GridRule> grid = describeGrid(program.getGrid().getResult(0), sizes);
    if (failed(grid))
      return program.emitOpError("has a grid that the runtime cannot evaluate");
    image::KernelEntry entry;
    entry.symbol = getEntryName(program);
    entry.grid = *grid;
    for (auto [workspace, view] : program.listWorkspaces()) {
      FailureOr<GridRule> rows = describeGrid(workspace.getSizes().getResult(0), sizes);
      FailureOr<GridRule> columns = describeGrid(workspace.getSizes().getResult(1), sizes);
      if (failed(rows) || failed(columns))
        return program.emitOpError() << "has a workspace '" << workspace.getName()
                                     << "' whose size the runtime cannot evaluate";
      auto known = llvm::find(image.workspaces, workspace.getName());
      entry.workspaces.push_back({static_cast<int>(known - image.workspaces.begin()), *rows, *columns});
      if (known == image.workspaces.end())
        image.workspaces.push_back(workspace.getName().str());
    }
    FailureOr<image::LaunchRule> launches = describeLaunches(program, sizes);
    if (failed(launches))
      return failure();
    entry.launches = std::move(*launches);
    if (std::optional<ArrayRef<int64_t>> boxes = program.getBoxes()) {
      entry.boxes.emplace().all = !program.getWithoutBoxes();
      for (size_t pair = 0; pair < boxes->size(); pair += 2)
        entry.boxes->tensors.push_back({static_cast<int>((*boxes)[pair]), static_cast<int>((*boxes)[pair + 1])});
    }
    image.entries.push_back(std::move(entry));
  }
  return image;
}
