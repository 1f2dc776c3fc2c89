//===- SpecCheck.cpp - What a spec may not hold -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/SpecCheck.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;

/// Whether `text` holds a control character.
static bool holdsControl(StringRef text) {
  return llvm::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// Whether `name` may stand in the assembly of every machine.
static bool isIdentifier(StringRef name) {
  bool fits = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
  return fits && !name.empty() && name.size() <= longestName && !llvm::isDigit(name.front());
}

/// Nothing reads an encoding, so a spec that has one means something else by it.
static LogicalResult checkType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getEncoding())
    return op->emitOpError() << "expected tensor types without an encoding, got " << type;
  return success();
}

/// Names go to files, pictures and terminals.
static LogicalResult checkName(func::FuncOp function, DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>("attn.name") : StringAttr();
  if (name && (name.getValue().empty() || name.getValue().size() > longestName || holdsControl(name.getValue())))
    return function.emitOpError() << "expected attn.name to be of 1 to " << longestName
                                  << " characters and none of control, got '" << name.getValue() << "'";
  return success();
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (!isIdentifier(function.getName()))
    return function.emitOpError("expected a name of letters, digits, '_' and '$' as assemblers take them");
  for (TypeRange types : {TypeRange(function.getArgumentTypes()), TypeRange(function.getResultTypes())}) {
    if (types.size() > mostArguments)
      return function.emitOpError() << "expected at most " << mostArguments << " arguments or results, got "
                                    << types.size();
    for (Type type : types)
      if (failed(checkType(function, type)))
        return failure();
  }
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  function.getAllResultAttrs(attributes);
  for (DictionaryAttr dictionary : attributes)
    if (failed(checkName(function, dictionary)))
      return failure();
  size_t kernels = 0;
  for (Block &block : function.getBody())
    for (Operation &op : block)
      if (isa<attn::KernelOpInterface>(op) && ++kernels > mostKernels)
        return op.emitOpError() << "expected at most " << mostKernels << " kernels in a function";
  return success();
}

/// Passes say to each other by attributes what they have proven; a spec has nothing to say in that way.
static LogicalResult checkAttributes(Operation *op) {
  if (DictionaryAttr attributes = op->getDiscardableAttrDictionary(); !attributes.empty())
    return op->emitOpError() << "has no attribute '" << attributes.begin()->getName().getValue() << "'";
  return success();
}

/// Each operation of a region is repeated for every element of a tile that a thread holds.
static LogicalResult checkRegion(Region &region) {
  size_t count = 0, costly = 0;
  for (Block &block : region)
    for (Operation &op : block) {
      if (++count > mostOperations)
        return op.emitOpError() << "expected at most " << mostOperations << " operations in a region";
      if (failed(checkAttributes(&op)))
        return failure();
      bool isCostly = isa<attn::IndexedOpInterface>(op) || isa_and_nonnull<math::MathDialect>(op.getDialect());
      if (isCostly && ++costly > mostCostlyOperations)
        return op.emitOpError() << "expected at most " << mostCostlyOperations
                                << " operations of math or on captured tensors in a region";
    }
  return success();
}

static LogicalResult checkKernel(attn::KernelOpInterface op) {
  for (auto [name, region] : {std::pair("bounds", &op.getBounds()),
                              {"blocks", &op.getBlocks()},
                              {"derivative", op.getDerivativeOrNull()},
                              {"query_bounds", op.getQueryBoundsOrNull()}})
    if (region && !region->empty()) {
      Location place = region->front().empty() ? region->getLoc() : region->front().front().getLoc();
      return mlir::emitError(place) << "a spec may not hold '" << name << "', which the compiler derives from its mask";
    }
  if (Value sinks = op.getSinks())
    if (int64_t count = cast<RankedTensorType>(sinks.getType()).getShape().back(); count > mostSinks)
      return op.emitOpError() << "expected at most " << mostSinks << " sinks of a head, got " << count << " [S6]";
  unsigned number = 0;
  for (Region *region : {&op.getScore(), &op.getMask()}) {
    if (failed(checkRegion(*region)))
      return failure();
    attn::settleCoordinates(*region, number++);
  }
  return checkAttributes(op);
}

/// Whether an operation is well; what is in its regions comes of its own.
static LogicalResult check(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (failed(checkType(op, type)))
        return failure();
  if (auto function = dyn_cast<func::FuncOp>(op))
    return checkFunction(function);
  if (auto kernel = dyn_cast<attn::KernelOpInterface>(op))
    return checkKernel(kernel);
  if (isa<attn::LoadRangeOp>(op))
    return op->emitOpError("is for what the compiler derives, not for a spec");
  return success();
}

LogicalResult jit::checkSpec(ModuleOp spec) {
  return failure(spec.walk<WalkOrder::PreOrder>([](Operation *op) { return WalkResult(check(op)); }).wasInterrupted());
}
