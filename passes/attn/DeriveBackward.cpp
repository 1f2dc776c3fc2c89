//===- DeriveBackward.cpp - From a forward function to its backward - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/DeriveBackward.h"
#include "dialect/attn/CapturedGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/attn/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNDERIVEBACKWARD
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {

/// One argument or result: its type and the name that callers know it by.
struct Named {
  Type type;
  std::string name;
};

/// The type of the LSE of `op`, returned or not.
RankedTensorType lseType(ForwardOp op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  SmallVector<int64_t> shape(query.getShape().drop_back());
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return RankedTensorType::get(shape, Float32Type::get(op.getContext()));
}

/// Names of a function's arguments and results, as callers know them, and new ones that differ from them.
class NameBook {
public:
  explicit NameBook(func::FuncOp function) : function(function) {
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      taken.push_back(ofArgument(number));
  }

  std::string ofArgument(unsigned number) { return name(function.getArgAttrDict(number), "arg", number); }
  std::string ofResult(unsigned number) { return name(function.getResultAttrDict(number), "out", number); }

  /// `wanted`, or where it is taken, that and the least number that is not.
  std::string take(std::string wanted) {
    std::string found = wanted;
    for (unsigned number = 2; llvm::is_contained(taken, found); ++number)
      found = wanted + std::to_string(number);
    taken.push_back(found);
    return found;
  }

private:
  static std::string name(DictionaryAttr attributes, StringRef prefix, unsigned number) {
    auto given = attributes ? attributes.getAs<StringAttr>("attn.name") : StringAttr();
    return given ? given.str() : (prefix + Twine(number)).str();
  }

  func::FuncOp function;
  SmallVector<std::string> taken;
};

/// Writes the backward of one function after it.
class BackwardWriter {
public:
  explicit BackwardWriter(func::FuncOp forward) : forward(forward), names(forward), builder(forward.getContext()) {}

  FailureOr<func::FuncOp> write();

private:
  LogicalResult check();
  LogicalResult findLearned();
  std::optional<unsigned> findResult(Value value);
  Value addArgument(Type type, std::string name);
  void writeKernel(ForwardOp op);

  func::FuncOp forward;
  NameBook names;
  OpBuilder builder;
  func::FuncOp backward;
  IRMapping mapping;
  llvm::SetVector<Value> learned; ///< captured values that have gradients
  SmallVector<Named> arguments, results;
  SmallVector<Value> returned;
};

} // namespace

/// The first result of the function that is `value`.
std::optional<unsigned> BackwardWriter::findResult(Value value) {
  Operation *ret = forward.getBody().front().getTerminator();
  for (auto [number, operand] : llvm::enumerate(ret->getOperands()))
    if (operand == value)
      return number;
  return std::nullopt;
}

LogicalResult BackwardWriter::check() {
  for (auto kernel : forward.getOps<KernelOpInterface>()) {
    auto op = dyn_cast<ForwardOp>(kernel.getOperation());
    if (!op)
      return kernel->emitOpError("has no backward; expected attn.forward alone [S15]");
    if (kernel.isPaged())
      return op.emitOpError("has no gradients: its keys lie in pages [S19]");
    if (!findResult(op.getOut()))
      return op.emitOpError("expected the function to return what is to be differentiated [S15]");
  }
  return findLearned();
}

/// Whether the score region of `op` reads `tensor`.
static bool readsInScore(ForwardOp op, Value tensor) {
  return op.getScore()
      .walk([&](Operation *inner) {
        return llvm::is_contained(inner->getOperands(), tensor) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether what `op` makes of the products of queries and keys reads `captured`.
static bool readsCaptured(ForwardOp op, Value captured) {
  return op.getScale() == captured || readsInScore(op, captured);
}

/// Whether `tensor` is one that a kernel differentiates by anyway.
static bool isOwn(ForwardOp op, Value tensor) {
  return llvm::is_contained({op.getQuery(), op.getKey(), op.getValue(), op.getSinks()}, tensor);
}

/// The axes that the dimensions of `captured` lie along where the score of `op` reads it, as letters: once, where it is
/// always read by the same coordinates, otherwise for each read. A scalar, or a tensor without dimensions, has one
/// element, at whatever coordinates it is read.
static std::string findAxes(ForwardOp op, Value captured) {
  auto type = dyn_cast<RankedTensorType>(captured.getType());
  if (!type || type.getRank() == 0)
    return {getAxisLetter(Coordinate::Batch)};
  SmallVector<std::string> reads;
  bool isComputed = false;
  op.getScore().walk([&](IndexedOpInterface inner) {
    forCapturedReads(inner, [&](Value tensor, unsigned first) {
      if (tensor != captured)
        return;
      std::string &letters = reads.emplace_back();
      for (unsigned dim = 0; dim < type.getRank(); ++dim) {
        // What is of size 1 is the same for all.
        std::optional<Coordinate> axis = Coordinate::Batch;
        if (type.getDimSize(dim) != 1)
          axis = getIndexCoordinate(inner, first + dim);
        isComputed |= !axis;
        letters += getAxisLetter(axis);
      }
    });
  });
  return !isComputed && llvm::all_equal(reads) ? reads.front() : llvm::join(reads, ",");
}

/// The captured tensors that have gradients: arguments that `attn.requires_grad` marks.
LogicalResult BackwardWriter::findLearned() {
  for (BlockArgument argument : forward.getArguments()) {
    Attribute mark = forward.getArgAttr(argument.getArgNumber(), requiresGradAttrName);
    if (!mark)
      continue;
    std::string name = names.ofArgument(argument.getArgNumber());
    if (!isa<UnitAttr>(mark))
      return forward.emitOpError() << "expected " << requiresGradAttrName << " to have no value, got " << mark;
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!argument.getType().isF32() && (!type || !isa<FloatType>(type.getElementType())))
      return forward.emitOpError() << "expected " << requiresGradAttrName << " on tensors of floats and on f32, got "
                                   << argument.getType() << " for '" << name << "' [S15]";
    auto learns = [&](ForwardOp op) { return readsCaptured(op, argument) && !isOwn(op, argument); };
    if (llvm::any_of(forward.getOps<ForwardOp>(), learns))
      learned.insert(argument);
    // What is differentiated anyway may say so.
    bool isTensor = llvm::any_of(forward.getOps<ForwardOp>(), [&](ForwardOp op) { return isOwn(op, argument); });
    if (!isTensor && !learned.contains(argument))
      return forward.emitOpError() << "expected a score that reads '" << name
                                   << "', which requires a gradient, or that it is the scale [S15]";
  }
  return success();
}

/// Makes the scale of `op` the first factor of its score, whose gradients are those of all that it reads.
static void scaleInScore(BackwardOp op) {
  Value scale = op.getScale();
  op.getScaleMutable().clear();
  OpBuilder builder(op.getContext());
  op.setStaticScaleAttr(builder.getF32FloatAttr(1));
  Location loc = op.getLoc();
  Region &score = op.getScore();
  bool isNew = score.empty();
  if (isNew) {
    SmallVector<Type> types{builder.getF32Type()};
    types.append(4, builder.getIndexType());
    builder.createBlock(&score, {}, types, SmallVector<Location>(types.size(), loc));
  }
  Block &block = score.front();
  builder.setInsertionPointToStart(&block);
  Value product = block.getArgument(0), scaled = arith::MulFOp::create(builder, loc, product, scale);
  product.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  if (isNew)
    YieldOp::create(builder, loc, scaled);
}

Value BackwardWriter::addArgument(Type type, std::string name) {
  Block &body = backward.getBody().front();
  arguments.push_back({type, std::move(name)});
  return body.addArgument(type, forward.getLoc());
}

void BackwardWriter::writeKernel(ForwardOp op) {
  unsigned outNumber = *findResult(op.getOut());
  std::optional<unsigned> lseNumber = op.getLse() ? findResult(op.getLse()) : std::nullopt;
  std::string outName = names.ofResult(outNumber), lseName = lseNumber ? names.ofResult(*lseNumber) : "lse";
  Type out = op.getOut().getType(), lse = lseType(op);
  Value savedOut = addArgument(out, names.take(outName)), savedLse = addArgument(lse, names.take(lseName));
  Value outGradient = addArgument(out, names.take("d_" + outName));
  Value lseGradient = lseNumber ? addArgument(lse, names.take("d_" + lseName)) : Value();

  SmallVector<Value> operands{mapping.lookup(op.getQuery()),
                              mapping.lookup(op.getKey()),
                              mapping.lookup(op.getValue()),
                              savedOut,
                              savedLse,
                              outGradient};
  SmallVector<int32_t> segments(operands.size(), 1);
  if (lseGradient)
    operands.push_back(lseGradient);
  segments.push_back(lseGradient ? 1 : 0);
  SmallVector<Value> captured;
  SmallVector<Attribute> axes;
  for (Value tensor : learned)
    if (readsCaptured(op, tensor) && !isOwn(op, tensor)) {
      captured.push_back(tensor);
      axes.push_back(builder.getStringAttr(findAxes(op, tensor)));
      operands.push_back(mapping.lookup(tensor));
    }
  segments.push_back(static_cast<int32_t>(captured.size()));
  constexpr unsigned tensors = 3;
  for (Value clause : op->getOperands().drop_front(tensors))
    operands.push_back(mapping.lookup(clause));
  llvm::append_range(segments, ArrayRef(op.getProperties().getOperandSegmentSizes()).drop_front(tensors));

  OperationState state(op.getLoc(), BackwardOp::getOperationName());
  state.addOperands(operands);
  SmallVector<Value> differentiated{op.getQuery(), op.getKey(), op.getValue()};
  if (op.getSinks())
    differentiated.push_back(op.getSinks());
  llvm::append_range(differentiated, captured);
  for (Value tensor : differentiated)
    state.addTypes(getGradientType(tensor));
  // A schedule is one of forward.
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != op.getSchedulesAttrName() && attribute.getName() != "operandSegmentSizes")
      state.addAttribute(attribute.getName(), attribute.getValue());
  state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
  state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr({1, 1, 1, op.getSinks() ? 1 : 0,
                                                                         static_cast<int32_t>(captured.size())}));
  if (!captured.empty())
    state.addAttribute("captured_axes", builder.getArrayAttr(axes));
  for (unsigned number = 0; number < NumKernelRegions; ++number) {
    Region *region = state.addRegion();
    if (number == ScoreRegion || number == MaskRegion)
      op->getRegion(number).cloneInto(region, mapping);
  }
  auto written = cast<BackwardOp>(builder.create(state));
  if (op.getScale() && learned.contains(op.getScale()))
    scaleInScore(written);
  for (auto [tensor, gradient] : llvm::zip_equal(differentiated, written->getResults())) {
    results.push_back({gradient.getType(), "d_" + names.ofArgument(cast<BlockArgument>(tensor).getArgNumber())});
    returned.push_back(gradient);
  }
}

FailureOr<func::FuncOp> BackwardWriter::write() {
  if (failed(check()))
    return failure();
  builder.setInsertionPointAfter(forward);
  backward = func::FuncOp::create(builder, forward.getLoc(), (forward.getName() + "_backward").str(),
                                  builder.getFunctionType({}, {}));
  Block *body = backward.addEntryBlock();
  for (BlockArgument argument : forward.getArguments())
    mapping.map(argument, addArgument(argument.getType(), names.ofArgument(argument.getArgNumber())));
  builder.setInsertionPointToEnd(body);
  for (Operation &op : forward.getBody().front().without_terminator()) {
    if (auto kernel = dyn_cast<ForwardOp>(op))
      writeKernel(kernel);
    else
      builder.clone(op, mapping);
  }
  func::ReturnOp::create(builder, forward.getLoc(), returned);

  for (StringRef name : {deterministicAttrName, tf32AttrName})
    if (Attribute asked = forward->getAttr(name))
      backward->setAttr(name, asked);
  auto typesOf = [](ArrayRef<Named> list) { return llvm::map_to_vector(list, [](const Named &n) { return n.type; }); };
  backward.setFunctionType(builder.getFunctionType(typesOf(arguments), typesOf(results)));
  for (auto [number, argument] : llvm::enumerate(arguments))
    backward.setArgAttr(number, "attn.name", builder.getStringAttr(argument.name));
  for (auto [number, result] : llvm::enumerate(results))
    backward.setResultAttr(number, "attn.name", builder.getStringAttr(names.take(result.name)));
  return backward;
}

FailureOr<func::FuncOp> attnc::attn::deriveBackward(func::FuncOp forward) { return BackwardWriter(forward).write(); }

namespace {
struct DeriveBackward : attnc::attn::impl::AttnDeriveBackwardBase<DeriveBackward> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.getOps<KernelOpInterface>().empty())
        continue;
      if (failed(deriveBackward(function)))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
