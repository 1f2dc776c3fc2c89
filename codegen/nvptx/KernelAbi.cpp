//===- KernelAbi.cpp - How the runtime calls a GPU kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/KernelAbi.h"
#include "codegen/describe/DescribeImage.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/Ptx.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Addresses of device memory.
static constexpr unsigned globalSpace = 1;
/// What a workspace is passed as: address, rows, columns.
static constexpr int32_t workspaceSlots = 3;

/// Bytes that workspaces are aligned to, as include/attnc.h asks of callers; allocations of the driver are by far.
static constexpr int64_t workspaceAlignment = 16;

TensorMap attnc::nvptx::getTensorMap(tile::PutOp put) {
  return {cast<BlockArgument>(put.getView()).getArgNumber(), tile::TensorBox(put)};
}

TensorMap attnc::nvptx::getTensorMap(tile::StoreOp store) {
  return {cast<BlockArgument>(store.getView()).getArgNumber(), tile::TensorBox(store)};
}

SmallVector<Value> TensorMap::coordinates(ValueRange position) const {
  return llvm::map_to_vector(llvm::reverse(box.order), [&](int64_t dim) { return position[dim]; });
}

Value View::address(OpBuilder &builder, Location loc, ValueRange indices) const {
  Ptx ptx(builder, loc);
  Value offset;
  for (auto [position, stride] : llvm::zip_equal(indices, strides)) {
    Value part = arith::MulIOp::create(builder, loc, ptx.widen(position), stride);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, part).getResult() : part;
  }
  if (!offset)
    return pointer;
  Type element = type.getElementType();
  // Booleans take a byte each.
  if (element.isInteger(1))
    element = builder.getI8Type();
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value View::load(OpBuilder &builder, Location loc, ValueRange indices) const {
  Value at = address(builder, loc, indices);
  if (!type.getElementType().isInteger(1))
    return LLVM::LoadOp::create(builder, loc, type.getElementType(), at);
  Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), at);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, byte, zero);
}

/// Lets code that people read call `value` by `name`: its location says it.
static Value named(Value value, const Twine &name) {
  value.setLoc(NameLoc::get(StringAttr::get(value.getContext(), name), value.getLoc()));
  return value;
}

/// What `argument` of a program is called in the spec.
static std::string nameOf(BlockArgument argument) {
  auto name = dyn_cast<NameLoc>(argument.getLoc());
  return name ? name.getName().str() : "argument" + std::to_string(argument.getArgNumber());
}

/// Slots of the argument block that a program argument takes.
static int64_t countSlots(Type type) {
  auto view = dyn_cast<MemRefType>(type);
  return view ? 1 + 2 * view.getRank() : 1;
}

KernelAbi::KernelAbi(OpBuilder &builder, tile::ProgramOp program) {
  bool boxes = program.getPipelineAttr().getStaging() == attn::Staging::Tma;
  auto add = [&](const TensorMap &map) {
    if (!llvm::is_contained(maps, map))
      maps.push_back(map);
  };
  program.walk([&](Operation *op) {
    if (!boxes)
      return;
    if (auto put = dyn_cast<tile::PutOp>(op); put && !tile::bringsVectors(put))
      add(getTensorMap(put));
    else if (auto store = dyn_cast<tile::StoreOp>(op); store && store.getBuffer() && !store.getBlocked())
      add(getTensorMap(store));
  });

  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  bool dynamic = program.getPipelineAttr().getDynamic();
  SmallVector<Type> types(1 + maps.size(), pointer);
  types.push_back(i64);
  if (dynamic)
    types.push_back(LLVM::LLVMPointerType::get(context, globalSpace));
  if (program.countWorkspaces())
    types.push_back(pointer);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  function = LLVM::LLVMFuncOp::create(builder, program.getLoc(), describe::getEntryName(program), type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());

  minBlocks = program->getAttrOfType<IntegerAttr>(tile::minBlocksAttrName);
  if (program->hasAttr(tile::approximateMathAttrName))
    function->setAttr(nvptx::approximateMathAttrName, builder.getUnitAttr());

  int64_t slots = 0;
  for (Type argument : program.getCallerTypes())
    slots += countSlots(argument);
  auto byValue = [&](unsigned number, Type held, int64_t alignment) {
    function.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(held));
    function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(alignment));
    // Without it, LLVM copies the parameter to local memory.
    function.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  };
  byValue(0, LLVM::LLVMArrayType::get(i64, slots), 8);
  for (size_t number = 0; number < maps.size(); ++number)
    byValue(1 + number, LLVM::LLVMArrayType::get(builder.getI8Type(), tensorMapBytes), tensorMapAlignment);

  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  named(function.getArgument(0), "arguments");
  for (auto [number, map] : llvm::enumerate(maps))
    named(function.getArgument(1 + number), nameOf(program.getBody().getArgument(map.argument)) + "_map");
  Value passed = named(function.getArgument(1 + maps.size()), "num_tiles");
  Value word = arith::ConstantOp::create(builder, program.getLoc(), builder.getI64IntegerAttr(32));
  zero = arith::TruncIOp::create(builder, program.getLoc(), builder.getI32Type(),
                                 arith::ShRUIOp::create(builder, program.getLoc(), passed, word));
  tileCount = named(arith::TruncIOp::create(builder, program.getLoc(), builder.getI32Type(), passed), "tiles");
  if (dynamic)
    counter = named(function.getArgument(2 + maps.size()), "counter");
  readArguments(builder, program);
  if (!program.countWorkspaces())
    return;
  early = tile::startsEarly(program);
  unsigned last = types.size() - 1;
  byValue(last, LLVM::LLVMArrayType::get(i64, int64_t(workspaceSlots) * program.countWorkspaces()), 8);
  named(function.getArgument(last), "workspaces");
  int32_t place = 0;
  for (auto [workspace, view] : program.listWorkspaces()) {
    readWorkspace(builder, workspace, view, function.getArgument(last), place);
    place += workspaceSlots;
  }
}

/// A workspace: its address, its rows and its columns, from number `first` of `block` on.
void KernelAbi::readWorkspace(OpBuilder &builder, tile::WorkspaceAttr workspace, Value view, Value block,
                              int32_t first) {
  Location loc = view.getParentRegion()->getLoc();
  Ptx ptx(builder, loc);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto slot = [&](int32_t number) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, i64, block, ArrayRef<LLVM::GEPArg>{first + number});
    return LLVM::LoadOp::create(builder, loc, i64, address);
  };
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  auto columns = dyn_cast<AffineConstantExpr>(workspace.getSizes().getResult(1));
  Value address = slot(0);
  // Rows of a known number of bytes tell where they are aligned, if the memory does.
  if (columns)
    address = arith::AndIOp::create(builder, loc, address, ptx.i64(-workspaceAlignment));
  View read{cast<MemRefType>(view.getType()),
            named(LLVM::IntToPtrOp::create(builder, loc, global, address), nameOf(cast<BlockArgument>(view))),
            {},
            {}};
  for (int32_t dim : {1, 2})
    read.sizes.push_back(arith::TruncIOp::create(builder, loc, builder.getI32Type(), slot(dim)));
  read.strides = {columns ? ptx.i64(columns.getValue()) : slot(2), ptx.i64(1)};
  views.try_emplace(view, read);
}

void KernelAbi::readArguments(OpBuilder &builder, tile::ProgramOp program) {
  Location loc = program.getLoc();
  Ptx ptx(builder, loc);
  Value block = function.getArgument(0);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  int32_t slot = 0;
  auto next = [&]() -> Value {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), block, ArrayRef<LLVM::GEPArg>{slot++});
    return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address);
  };
  for (BlockArgument argument : program.getBody().front().getArguments().take_front(program.getCallerTypes().size())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    std::string name = nameOf(argument);
    if (!type) {
      Value bits = next();
      Type held = argument.getType().isIndex() ? builder.getI32Type() : argument.getType();
      Type integer = builder.getIntegerType(held.getIntOrFloatBitWidth());
      Value low = integer.isInteger(64) ? bits : arith::TruncIOp::create(builder, loc, integer, bits).getResult();
      scalars[argument] = isa<FloatType>(held) ? arith::BitcastOp::create(builder, loc, held, low).getResult() : low;
      named(scalars[argument], name);
      continue;
    }
    View view{type, named(LLVM::IntToPtrOp::create(builder, loc, global, next()), name), {}, {}};
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = next();
      int64_t known = type.getDimSize(dim);
      view.sizes.push_back(
          ShapedType::isDynamic(known)
              ? named(arith::TruncIOp::create(builder, loc, builder.getI32Type(), size), name + "_size" + Twine(dim))
              : ptx.i32(known));
    }
    auto [strides, offset] = type.getStridesAndOffset();
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      Value stored = named(next(), name + "_stride" + Twine(dim));
      view.strides.push_back(ShapedType::isDynamic(stride) ? stored : ptx.i64(stride));
    }
    views.try_emplace(argument, view);
  }
}

Value KernelAbi::getTensorMapAddress(const TensorMap &map) {
  return function.getArgument(1 + (llvm::find(maps, map) - maps.begin()));
}

void KernelAbi::setLaunch(int64_t threads, int64_t sharedBytes, bool persistent) {
  MLIRContext *context = function.getContext();
  Builder builder(context);
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
  if (minBlocks)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(static_cast<int32_t>(minBlocks.getInt())));
  SmallVector<Attribute> described = llvm::map_to_vector(maps, [&](const TensorMap &map) -> Attribute {
    return tile::TensorMapAttr::get(
        context, map.argument, builder.getDenseI64ArrayAttr(map.box.sizes), tile::SharedLayout::rowBytes,
        llvm::is_sorted(map.box.order) ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(map.box.order));
  });
  function->setAttr(tile::launchAttrName,
                    tile::LaunchAttr::get(context, threads, sharedBytes, persistent, /*blocks_per_multiprocessor=*/1,
                                          static_cast<bool>(counter), early,
                                          described.empty() ? ArrayAttr() : builder.getArrayAttr(described)));
}
