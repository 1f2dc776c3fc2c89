//===- CapturedGradients.cpp - What gradients of captures sum ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/CapturedGradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attnc::attn;

/// Of coordinates, and of a computed index.
static constexpr StringLiteral axisLetters = "bhijn";

/// Elements along a computed index that a gradient may have: the elements of a tile are looked at for each.
static constexpr int64_t mostBuckets = 1024;

RankedTensorType attnc::attn::getGradientType(Value captured) {
  auto tensor = dyn_cast<RankedTensorType>(captured.getType());
  return tensor ? tensor : RankedTensorType::get({1}, captured.getType());
}

char attnc::attn::getAxisLetter(std::optional<Coordinate> axis) {
  return axis ? axisLetters[static_cast<size_t>(*axis)] : axisLetters.back();
}

std::optional<Axes> attnc::attn::parseAxes(StringRef letters) {
  Axes axes;
  for (char letter : letters) {
    size_t place = axisLetters.find(letter);
    if (place == StringRef::npos)
      return std::nullopt;
    bool isComputed = place + 1 == axisLetters.size();
    axes.push_back(isComputed ? std::nullopt : std::optional(static_cast<Coordinate>(place)));
  }
  return axes;
}

std::optional<unsigned> CapturedGradient::dimAlong(Coordinate axis) const {
  for (auto [dim, addressed] : llvm::enumerate(axes))
    if (addressed == axis && getGradientType(tensor).getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

std::optional<unsigned> CapturedGradient::dimOfBuckets() const {
  for (auto [dim, addressed] : llvm::enumerate(axes))
    if (!addressed && getGradientType(tensor).getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

int64_t CapturedGradient::countBuckets() const {
  std::optional<unsigned> dim = dimOfBuckets();
  return dim ? getGradientType(tensor).getDimSize(*dim) : 1;
}

int64_t CapturedGradient::countStatistics() const {
  return form == CapturedForm::Tiles || form == CapturedForm::SharedTiles ? 0 : countBuckets();
}

static CapturedForm getForm(BackwardOp op, const CapturedGradient &captured) {
  bool ofQueries = captured.isAlong(Coordinate::Query), ofKeys = captured.isAlong(Coordinate::Key);
  if (captured.dimOfBuckets())
    return CapturedForm::Buckets;
  if (!ofQueries || !ofKeys)
    return ofQueries ? CapturedForm::QuerySums : ofKeys ? CapturedForm::KeySums : CapturedForm::Sums;
  auto isOwn = [&](Coordinate axis) { return captured.isAlong(axis) || getAxisSize(op, axis) == 1; };
  return isOwn(Coordinate::Batch) && isOwn(Coordinate::Head) ? CapturedForm::Tiles : CapturedForm::SharedTiles;
}

SmallVector<CapturedGradient> attnc::attn::getCapturedGradients(BackwardOp op) {
  SmallVector<CapturedGradient> all;
  unsigned yielded = 1;
  for (auto [number, tensor] : llvm::enumerate(op.getCaptured())) {
    StringRef letters = cast<StringAttr>((*op.getCapturedAxes())[number]);
    CapturedGradient captured{static_cast<unsigned>(number), tensor, op.getDCaptured()[number], *parseAxes(letters)};
    captured.form = getForm(op, captured);
    captured.yielded = yielded;
    // With a computed index, that follows.
    yielded += captured.form == CapturedForm::Buckets ? 2 : 1;
    all.push_back(std::move(captured));
  }
  return all;
}

SmallVector<CapturedGradient> attnc::attn::getCapturedGradients(BackwardOp op, ArrayRef<CapturedForm> forms) {
  SmallVector<CapturedGradient> all = getCapturedGradients(op);
  llvm::erase_if(all, [&](const CapturedGradient &one) { return !llvm::is_contained(forms, one.form); });
  return all;
}

SmallVector<Program> attnc::attn::getOtherPrograms(BackwardOp op) {
  SmallVector<Program> programs;
  if (op.getDSinks())
    programs.push_back(Program::Dsinks);
  if (!getCapturedGradients(op, {CapturedForm::SharedTiles}).empty())
    programs.push_back(Program::Dbias);
  if (!getCapturedGradients(op, {CapturedForm::Buckets}).empty())
    programs.push_back(Program::Dbuckets);
  if (llvm::any_of(getCapturedGradients(op), [](const CapturedGradient &one) { return one.countStatistics() > 0; }))
    programs.push_back(Program::Dsums);
  return programs;
}

void attnc::attn::forCapturedReads(Operation *op, llvm::function_ref<void(Value, unsigned)> visit) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    visit(load.getTensor(), 0);
  } else if (auto range = dyn_cast<LoadRangeOp>(op)) {
    visit(range.getTensor(), 0);
  } else if (auto bias = dyn_cast<BiasOp>(op)) {
    visit(bias.getTensor(), 0);
  } else if (auto alibi = dyn_cast<AlibiOp>(op)) {
    visit(alibi.getSlopes(), 0);
  } else if (auto segment = dyn_cast<SameSegmentOp>(op)) {
    visit(segment.getQueryIds(), 0);
    visit(segment.getKeyIds(), segment.getQueryIndices().size());
  } else if (auto prefix = dyn_cast<PrefixOp>(op)) {
    visit(prefix.getLengths(), 0);
  }
}

/// What messages call a captured tensor: by its name, where it has one.
static std::string describe(Value tensor, unsigned number) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name") : StringAttr();
  return name ? ("captured tensor '" + name.getValue() + "'").str() : "captured tensor " + std::to_string(number);
}

/// One captured tensor: the axes that its dimensions lie along.
static LogicalResult verifyAxes(BackwardOp op, unsigned number, const CapturedGradient &captured) {
  RankedTensorType type = getGradientType(captured.tensor);
  auto error = [&] { return op.emitOpError() << describe(captured.tensor, number) << ": "; };
  if (type.getRank() == 0 || static_cast<int64_t>(captured.axes.size()) != type.getRank())
    return error() << "expected an axis for each of 1 dimension or more of " << type << ", got " << captured.axes.size()
                   << " [S15]";
  for (unsigned dim = 0; dim < captured.axes.size(); ++dim) {
    std::optional<Coordinate> axis = captured.axes[dim];
    if (type.getDimSize(dim) == 1)
      continue;
    if (!axis && captured.dimOfBuckets() != dim)
      return error() << "expected a computed index for one dimension alone [S15]";
    if (axis && captured.dimAlong(*axis) != dim)
      return error() << "expected each axis once, got '" << getAxisLetter(axis) << "' for a second dimension [S15]";
    if (!axis) {
      if (type.isDynamicDim(dim) || type.getDimSize(dim) == 0 || type.getDimSize(dim) > mostBuckets ||
          captured.isAlong(Coordinate::Query) || captured.isAlong(Coordinate::Key))
        return error() << "expected a computed index into a dimension of a static size from 1 to " << mostBuckets
                       << ", of a tensor without dimensions along queries and keys [S15]";
      continue;
    }
    int64_t size = getAxisSize(op, *axis), own = type.getDimSize(dim);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(own) && size != own)
      return error() << "expected dimension " << dim << " to have size 1 or that of its axis, " << size << ", got "
                     << own << " [S4]";
  }
  bool isPacked = KernelOpInterface(op).isPacked();
  if (isPacked && captured.isAlong(Coordinate::Batch))
    return error() << "expected no dimension along the sequences of packed tensors [S15]";
  if (isPacked && captured.isAlong(Coordinate::Query) && captured.isAlong(Coordinate::Key))
    return error() << "expected no dimensions along both queries and keys of packed tensors [S15]";
  return success();
}

LogicalResult attnc::attn::verifyCaptured(BackwardOp op) {
  size_t count = op.getCaptured().size(), axes = op.getCapturedAxes() ? op.getCapturedAxes()->size() : 0;
  if (count != axes || count != op.getDCaptured().size())
    return op.emitOpError() << "expected axes and a gradient for each of " << count << " captured tensors, got " << axes
                            << " and " << op.getDCaptured().size() << " [S15]";
  for (auto [number, tensor] : llvm::enumerate(op.getCaptured())) {
    StringRef letters = cast<StringAttr>((*op.getCapturedAxes())[number]);
    std::optional<Axes> parsed = parseAxes(letters);
    if (!parsed)
      return op.emitOpError() << "expected axes of the letters " << axisLetters << ", got '" << letters << "' [S15]";
    CapturedGradient captured{static_cast<unsigned>(number), tensor, op.getDCaptured()[number], *parsed, {}, 0};
    if (failed(verifyAxes(op, number, captured)))
      return failure();
    if (captured.gradient.getType() != getGradientType(tensor))
      return op.emitOpError() << "expected the gradient of " << describe(tensor, number) << " to have its type, "
                              << getGradientType(tensor) << ", got " << captured.gradient.getType() << " [S15]";
    bool isOther = llvm::is_contained({op.getQuery(), op.getKey(), op.getValue(), op.getSinks()}, tensor) ||
                   llvm::is_contained(op.getCaptured().take_front(number), tensor);
    if (isOther)
      return op.emitOpError() << "expected " << describe(tensor, number)
                              << " to be one that has no other gradient here [S15]";
  }
  return success();
}

LogicalResult attnc::attn::verifyCapturedReads(BackwardOp op) {
  if (op.getCaptured().empty())
    return success();
  SmallVector<CapturedGradient> all = getCapturedGradients(op);
  SmallVector<unsigned> reads(all.size());
  WalkResult result = op.getScore().walk([&](IndexedOpInterface inner) -> WalkResult {
    bool isRight = true;
    forCapturedReads(inner, [&](Value tensor, unsigned first) {
      const CapturedGradient *captured =
          llvm::find_if(all, [&](const CapturedGradient &one) { return one.tensor == tensor; });
      if (captured == all.end())
        return;
      for (auto [dim, axis] : llvm::enumerate(captured->axes))
        if (getGradientType(tensor).getDimSize(dim) != 1 && getIndexCoordinate(inner, first + dim) != axis)
          isRight = false;
      if (++reads[captured->number] > 1 && captured->form == CapturedForm::Buckets)
        isRight = false;
    });
    if (isRight)
      return WalkResult::advance();
    return inner->emitOpError("expected a tensor that has a gradient to be read by the coordinates that the kernel's "
                              "'captured' clause gives, and with a computed index once [S15]");
  });
  return failure(result.wasInterrupted());
}
