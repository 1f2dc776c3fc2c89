//===- CapturedGradients.cpp - What gradients of captures sum ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/CapturedGradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attnc::attn;

/// Of coordinates, and of a computed index.
static constexpr StringLiteral axisLetters = "bhijn";

/// Elements along a computed index that are looked at one by one: the elements of a tile are compared with each, which
/// gives sums in one order, and takes longer than adding them up in memory where there are many
/// (docs/rationale/backward.md).
static constexpr int64_t mostBuckets = 64, mostOrderedBuckets = 1024;

bool attnc::attn::isDeterministic(BackwardOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && function->hasAttr(deterministicAttrName);
}

RankedTensorType attnc::attn::getGradientType(Value captured) {
  auto tensor = dyn_cast<RankedTensorType>(captured.getType());
  return tensor && tensor.getRank() > 0 ? tensor : RankedTensorType::get({1}, getElementTypeOrSelf(captured));
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

std::optional<SmallVector<Axes>> attnc::attn::parseReads(StringRef letters) {
  SmallVector<Axes> reads;
  SmallVector<StringRef> parts;
  letters.split(parts, ',');
  for (StringRef part : parts) {
    std::optional<Axes> axes = parseAxes(part);
    if (!axes || (!reads.empty() && axes->size() != reads.front().size()))
      return std::nullopt;
    reads.push_back(std::move(*axes));
  }
  return reads;
}

std::optional<unsigned> CapturedGradient::dimAlong(Coordinate axis) const {
  for (auto [dim, addressed] : llvm::enumerate(axes()))
    if (addressed == axis && getGradientType(tensor).getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

std::optional<unsigned> CapturedGradient::dimOfBuckets() const {
  for (auto [dim, addressed] : llvm::enumerate(axes()))
    if (!addressed && getGradientType(tensor).getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

int64_t CapturedGradient::countBuckets() const {
  std::optional<unsigned> dim = dimOfBuckets();
  return dim ? getGradientType(tensor).getDimSize(*dim) : 1;
}

int64_t CapturedGradient::countStatistics() const {
  bool hasOwn = llvm::is_contained({CapturedForm::Tiles, CapturedForm::SharedTiles, CapturedForm::Scattered}, form);
  return hasOwn ? 0 : countBuckets();
}

SmallVector<unsigned> CapturedGradient::indexedDims() const {
  RankedTensorType type = getGradientType(tensor);
  auto isIndexed = [&](unsigned dim) { return type.getDimSize(dim) != 1; };
  return llvm::to_vector(llvm::make_filter_range(llvm::seq<unsigned>(type.getRank()), isIndexed));
}

SmallVector<unsigned> CapturedGradient::computedDims(const Axes &read) const {
  SmallVector<unsigned> dims = indexedDims();
  llvm::erase_if(dims, [&](unsigned dim) { return read[dim].has_value(); });
  return dims;
}

SmallVector<Type> CapturedGradient::yieldedTypes() const {
  Type f32 = Float32Type::get(tensor.getContext()), i32 = IntegerType::get(tensor.getContext(), 32);
  if (form == CapturedForm::Buckets)
    return {f32, f32};
  if (form != CapturedForm::Scattered)
    return {f32};
  SmallVector<Type> types;
  for (const Axes &read : reads) {
    types.push_back(f32);
    types.append(computedDims(read).size(), i32);
  }
  return types;
}

/// Whether none of the other forms holds for a gradient: the tensor is read several times, by two computed indices, by
/// one of many elements, or by one where rows or columns address it as well. Packed sequences leave their numbers, and
/// pairs of queries and keys, no rows or tiles of their own.
static bool isScattered(BackwardOp op, const CapturedGradient &captured) {
  bool ofQueries = captured.isAlong(Coordinate::Query), ofKeys = captured.isAlong(Coordinate::Key);
  if (captured.reads.size() > 1)
    return true;
  if (KernelOpInterface(op).isPacked() && (captured.isAlong(Coordinate::Batch) || (ofQueries && ofKeys)))
    return true;
  for (unsigned dim : captured.indexedDims())
    if (captured.axes()[dim] ? captured.dimAlong(*captured.axes()[dim]) != dim : captured.dimOfBuckets() != dim)
      return true;
  // A size that is open counts as many.
  int64_t buckets = captured.countBuckets();
  return captured.dimOfBuckets() && (ofQueries || ofKeys || ShapedType::isDynamic(buckets) ||
                                     buckets > (isDeterministic(op) ? mostOrderedBuckets : mostBuckets));
}

static CapturedForm getForm(BackwardOp op, const CapturedGradient &captured) {
  bool ofQueries = captured.isAlong(Coordinate::Query), ofKeys = captured.isAlong(Coordinate::Key);
  if (isScattered(op, captured))
    return CapturedForm::Scattered;
  if (captured.dimOfBuckets())
    return CapturedForm::Buckets;
  if (!ofQueries || !ofKeys)
    return ofQueries ? CapturedForm::QuerySums : ofKeys ? CapturedForm::KeySums : CapturedForm::Sums;
  auto isOwn = [&](Coordinate axis) { return captured.isAlong(axis) || getAxisSize(op, axis) == 1; };
  return isOwn(Coordinate::Batch) && isOwn(Coordinate::Head) ? CapturedForm::Tiles : CapturedForm::SharedTiles;
}

/// Captured tensor `number` of `op`, but for its place among what the derivative region yields.
static CapturedGradient readCaptured(BackwardOp op, unsigned number) {
  StringRef letters = cast<StringAttr>((*op.getCapturedAxes())[number]);
  CapturedGradient captured{number, op.getCaptured()[number], op.getDCaptured()[number], *parseReads(letters)};
  if (static_cast<int64_t>(captured.axes().size()) == getGradientType(captured.tensor).getRank())
    captured.form = getForm(op, captured);
  return captured;
}

SmallVector<CapturedGradient> attnc::attn::getCapturedGradients(BackwardOp op) {
  SmallVector<CapturedGradient> all;
  unsigned yielded = 1;
  for (unsigned number = 0; number < op.getCaptured().size(); ++number) {
    CapturedGradient captured = readCaptured(op, number);
    captured.yielded = yielded;
    yielded += captured.yieldedTypes().size();
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
  bool hasScattered = !getCapturedGradients(op, {CapturedForm::Scattered}).empty();
  if (hasScattered)
    programs.append({Program::ClearScattered, Program::Dscattered});
  auto hasSums = [](const CapturedGradient &one) { return one.countStatistics() > 0; };
  if (hasScattered || llvm::any_of(getCapturedGradients(op), hasSums))
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
static LogicalResult verifyAxes(BackwardOp op, const CapturedGradient &captured) {
  RankedTensorType type = getGradientType(captured.tensor);
  auto error = [&] { return op.emitOpError() << describe(captured.tensor, captured.number) << ": "; };
  // What has no dimensions has one axis all the same.
  if (static_cast<int64_t>(captured.axes().size()) != type.getRank())
    return error() << "expected an axis for each dimension of " << type << ", got " << captured.axes().size()
                   << " [S15]";
  for (const Axes &read : captured.reads)
    for (unsigned dim : captured.computedDims(read))
      if (type.getDimSize(dim) == 0)
        return error() << "expected an element or more for the computed index into dimension " << dim << ", got "
                       << type << " [S15]";
  if (captured.form == CapturedForm::Scattered) {
    double elements = 1;
    for (unsigned dim : captured.indexedDims())
      elements *= type.isDynamicDim(dim) ? 1 : static_cast<double>(type.getDimSize(dim));
    if (elements > std::numeric_limits<int32_t>::max())
      return error() << "expected fewer than 2^31 elements of a tensor whose gradient is scattered, got " << type
                     << " [S15]";
    if (isDeterministic(op))
      return error() << "expected, for " << deterministicAttrName << ", a tensor that is always read by the same "
                     << "coordinates, or once by one computed index into a dimension of a static size from 1 to "
                     << mostOrderedBuckets << " and by no query, key or packed sequence: gradients of others are added "
                     << "up in no order [S15]";
    return success();
  }
  for (unsigned dim : captured.indexedDims()) {
    std::optional<Coordinate> axis = captured.axes()[dim];
    if (!axis)
      continue;
    int64_t size = getAxisSize(op, *axis), own = type.getDimSize(dim);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(own) && size != own)
      return error() << "expected dimension " << dim << " to have size 1 or that of its axis, " << size << ", got "
                     << own << " [S4]";
  }
  return success();
}

LogicalResult attnc::attn::verifyCaptured(BackwardOp op) {
  size_t count = op.getCaptured().size(), axes = op.getCapturedAxes() ? op.getCapturedAxes()->size() : 0;
  if (count != axes || count != op.getDCaptured().size())
    return op.emitOpError() << "expected axes and a gradient for each of " << count << " captured tensors, got " << axes
                            << " and " << op.getDCaptured().size() << " [S15]";
  for (auto [number, tensor] : llvm::enumerate(op.getCaptured())) {
    StringRef letters = cast<StringAttr>((*op.getCapturedAxes())[number]);
    if (!parseReads(letters))
      return op.emitOpError() << "expected axes of the letters " << axisLetters << ", as many for each read, got '"
                              << letters << "' [S15]";
    CapturedGradient captured = readCaptured(op, number);
    if (failed(verifyAxes(op, captured)))
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

/// Whether the tensor of `captured`, whose indices are those of `op` from `first` on, is read along one of `reads`,
/// which then is done.
static bool takeRead(IndexedOpInterface op, unsigned first, const CapturedGradient &captured,
                     SmallVectorImpl<Axes> &reads) {
  auto isIt = [&](const Axes &read) {
    return llvm::all_of(captured.indexedDims(),
                        [&](unsigned dim) { return getIndexCoordinate(op, first + dim) == read[dim]; });
  };
  Axes *read = llvm::find_if(reads, isIt);
  if (read == reads.end())
    return false;
  // What all read alike is one sum.
  if (captured.form == CapturedForm::Scattered || captured.form == CapturedForm::Buckets)
    reads.erase(read);
  return true;
}

LogicalResult attnc::attn::verifyCapturedReads(BackwardOp op) {
  SmallVector<CapturedGradient> all;
  if (!op.getCaptured().empty())
    all = getCapturedGradients(op);
  WalkResult result = op.getScore().walk([&](IndexedOpInterface inner) -> WalkResult {
    bool isRight = true;
    forCapturedReads(inner, [&](Value tensor, unsigned first) {
      for (CapturedGradient &captured : all)
        if (captured.tensor == tensor)
          isRight &= takeRead(inner, first, captured, captured.reads);
    });
    if (isRight)
      return WalkResult::advance();
    return inner->emitOpError("expected a tensor that has a gradient to be read by the coordinates that the kernel's "
                              "'captured' clause gives, and with a computed index as often as it says [S15]");
  });
  return failure(result.wasInterrupted());
}
