//===- TileProgram.cpp - Syntax and rules of programs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attnc::tile;

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void ProgramOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

ValueRange ProgramOp::getWorkspaceViews() {
  return getBody().front().getArguments().drop_back().take_back(countWorkspaces());
}

SmallVector<std::pair<WorkspaceAttr, Value>> ProgramOp::listWorkspaces() {
  SmallVector<std::pair<WorkspaceAttr, Value>> list;
  if (std::optional<ArrayAttr> workspaces = getWorkspaces())
    for (auto [workspace, view] : llvm::zip_equal(workspaces->getAsRange<WorkspaceAttr>(), getWorkspaceViews()))
      list.emplace_back(workspace, view);
  return list;
}

Value ProgramOp::getWorkspaceView(StringRef name) {
  for (auto [workspace, view] : listWorkspaces())
    if (workspace.getName() == name)
      return view;
  return {};
}

/// A workspace is a view of rows and columns, with sizes that the grid's symbols give.
static LogicalResult verifyWorkspaces(ProgramOp program) {
  if (size_t arguments = program.getArgumentTypes().size() - 1; arguments < program.countWorkspaces())
    return program.emitOpError() << "expected " << program.countWorkspaces()
                                 << " views of workspaces as the arguments before the last, got " << arguments
                                 << " arguments there";
  llvm::StringSet<> names;
  for (auto [workspace, view] : program.listWorkspaces()) {
    AffineMap sizes = workspace.getSizes();
    if (sizes.getNumDims() != 0 || sizes.getNumResults() != 2 ||
        sizes.getNumSymbols() != program.getGrid().getNumSymbols())
      return program.emitOpError() << "expected two sizes of workspace '" << workspace.getName()
                                   << "', without dimensions, from the symbols of the grid";
    auto type = dyn_cast<MemRefType>(view.getType());
    auto columns = dyn_cast<AffineConstantExpr>(sizes.getResult(1));
    if (!type || type.getRank() != 2 || type.getElementTypeBitWidth() != 32 || !type.isDynamicDim(0) ||
        (!type.isDynamicDim(1) && (!columns || columns.getValue() != type.getDimSize(1))))
      return program.emitOpError() << "expected rows of i32 or f32 for workspace '" << workspace.getName()
                                   << "', memref<?x?xf32> or with the columns that its sizes say, got "
                                   << view.getType();
    if (!names.insert(workspace.getName()).second)
      return program.emitOpError() << "expected one workspace '" << workspace.getName() << "', got two";
  }
  return success();
}

LogicalResult ProgramOp::verify() {
  if (isExternal())
    return emitOpError("expected a body");
  ArrayRef<Type> arguments = getArgumentTypes();
  if (arguments.empty() || !arguments.back().isIndex())
    return emitOpError("expected the number of the tile, an index, as the last argument");
  if (!getResultTypes().empty())
    return emitOpError("expected no results");
  if (getGrid().getNumDims() != 0 || getGrid().getNumResults() != 1 ||
      getGridSizes().size() != size_t(2) * getGrid().getNumSymbols())
    return emitOpError("expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol");
  auto isDim = [&](int64_t argument, int64_t dim) {
    return argument >= 0 && argument < static_cast<int64_t>(arguments.size()) && isa<MemRefType>(arguments[argument]) &&
           dim >= 0 && dim < cast<MemRefType>(arguments[argument]).getRank();
  };
  for (size_t pair = 0; pair < getGridSizes().size(); pair += 2)
    if (int64_t argument = getGridSizes()[pair], dim = getGridSizes()[pair + 1]; !isDim(argument, dim))
      return emitOpError() << "expected grid_sizes to name dimensions of arguments, got (" << argument << ", " << dim
                           << ")";
  if (std::optional<AffineMap> sizes = getLaunchSizes();
      sizes && (sizes->getNumDims() != 0 || sizes->getNumResults() != attnc::attn::getMaxEnumValForSize() + 1 ||
                sizes->getNumSymbols() != getGrid().getNumSymbols()))
    return emitOpError() << "expected launch_sizes to give the " << attnc::attn::getMaxEnumValForSize() + 1
                         << " sizes of #attn.sizes, without dimensions, from the symbols of the grid";
  if ((getWhen() || getUnless()) && !getLaunchSizes())
    return emitOpError("expected launch_sizes with when and unless");
  if (failed(verifyWorkspaces(*this)))
    return failure();
  if (std::optional<ArrayRef<int64_t>> boxes = getBoxes()) {
    if (boxes->empty() || boxes->size() % 2 != 0)
      return emitOpError("expected boxes to name an argument and its dimension of rows, each");
    for (size_t pair = 0; pair < boxes->size(); pair += 2)
      if (int64_t argument = (*boxes)[pair], dim = (*boxes)[pair + 1];
          !isDim(argument, dim) || dim + 1 >= cast<MemRefType>(arguments[argument]).getRank())
        return emitOpError() << "expected boxes to name dimensions of arguments, but the last, got (" << argument
                             << ", " << dim << ")";
  }
  // Warps that have the same rows may have more of them together.
  bool mayShare = getPipelineAttr() && getPipelineAttr().getStaging() == attn::Staging::CpAsync;
  if (getRows() <= 0 || getPanel() <= 0 || (getRows() % getPanel() != 0 && !(mayShare && getPanel() % getRows() == 0)))
    return emitOpError() << "expected panel to divide rows, got " << getPanel() << " and " << getRows();
  return success();
}
