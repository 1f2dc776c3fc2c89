//===- AttnKernelOps.cpp - Verifying kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A message ends with the number of the rule that it enforces (docs/spec.md).
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/Limits.h"
#include "dialect/attn/RegionOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc::attn;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// True where two static sizes differ.
static bool conflict(int64_t a, int64_t b) { return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b; }

/// Requires dimension `dimA` of `a` and `dimB` of `b` to be able to be equal.
static LogicalResult verifySameDim(Operation *op, StringRef nameA, RankedTensorType a, unsigned dimA, StringRef nameB,
                                   RankedTensorType b, unsigned dimB, StringRef rule) {
  if (!conflict(a.getDimSize(dimA), b.getDimSize(dimB)))
    return success();
  return op->emitOpError() << "expected dimension " << dimA << " of " << nameA << " and dimension " << dimB << " of "
                           << nameB << " to be equal, got " << a.getDimSize(dimA) << " and " << b.getDimSize(dimB)
                           << " [" << rule << "]";
}

/// S14: head dims are static, from 8 to 256 in steps of 8.
static LogicalResult verifyHeadDim(Operation *op, StringRef name, int64_t size) {
  if (ShapedType::isDynamic(size))
    return op->emitOpError() << "expected a static head dim in the type of " << name << " [S14]";
  if (size < 8 || size > 256 || size % 8 != 0)
    return op->emitOpError() << "expected the head dim of " << name << " to be a multiple of 8 from 8 to 256, got "
                             << size << " [S14]";
  return success();
}

/// How rows of queries, or of keys and values, lie in memory.
static StringRef describeForm(KernelOpInterface op, bool ofKeys) {
  if (ofKeys && op.isPaged())
    return "4 [P, rows of a page, H, D] with paged";
  return (ofKeys ? op.areKeysPacked() : op.isPacked()) ? "3 [T, H, D] with varlen" : "4 [B, S, H, D]";
}

static LogicalResult verifyTensors(KernelOpInterface op) {
  if (op.isPaged() && op.areKeysPacked())
    return op->emitOpError("expected cumulative lengths of query alone where keys lie in pages [S19]");
  if (!op.isPaged() && op.isPacked() != op.areKeysPacked())
    return op->emitOpError("expected varlen to give cumulative lengths of query and key [S11]");
  RankedTensorType query = tensorType(op.getQuery()), key = tensorType(op.getKey());
  auto checkRank = [&](StringRef name, RankedTensorType type, bool ofKeys) -> LogicalResult {
    bool packed = ofKeys ? op.areKeysPacked() : op.isPacked();
    if (type.getRank() == (packed ? 3 : 4))
      return success();
    return op->emitOpError() << "expected " << name << " of rank " << describeForm(op, ofKeys) << ", got " << type
                             << (packed                   ? " [S11]"
                                 : ofKeys && op.isPaged() ? " [S19]"
                                                          : " [S1]");
  };
  if (failed(checkRank("query", query, /*ofKeys=*/false)) || failed(checkRank("key", key, /*ofKeys=*/true)))
    return failure();
  int64_t rank = key.getRank(), queryRank = query.getRank();
  if (query.getElementType() != key.getElementType())
    return op->emitOpError() << "expected query and key of one element type, got " << query.getElementType() << " and "
                             << key.getElementType() << " [S13]";
  for (auto [name, type] : {std::pair<StringRef, RankedTensorType>("query", query), {"key", key}})
    if (ShapedType::isDynamic(type.getDimSize(type.getRank() - 2)))
      return op->emitOpError() << "expected a static number of heads in the type of " << name << " [S10]";
  if (failed(verifyHeadDim(op, "query", query.getDimSize(queryRank - 1))) ||
      failed(verifySameDim(op, "query", query, queryRank - 1, "key", key, rank - 1, "S1")))
    return failure();
  if (failed(verifyHeadDim(op, "key", key.getDimSize(rank - 1))))
    return failure();
  if (!op.isPacked() && !op.isPaged() && failed(verifySameDim(op, "query", query, 0, "key", key, 0, "S1")))
    return failure();
  int64_t queryHeads = op.getQueryHeads(), keyHeads = op.getKeyHeads();
  if (keyHeads <= 0 || queryHeads % keyHeads != 0)
    return op->emitOpError() << "expected query heads to be a multiple of key heads, got " << queryHeads << " and "
                             << keyHeads << " [S10]";

  Value valueOperand = op.getValueOrNull();
  if (!valueOperand)
    return success();
  RankedTensorType value = tensorType(valueOperand);
  if (failed(checkRank("value", value, /*ofKeys=*/true)))
    return failure();
  if (value.getElementType() != key.getElementType())
    return op->emitOpError() << "expected key and value of one element type, got " << key.getElementType() << " and "
                             << value.getElementType() << " [S13]";
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (failed(verifySameDim(op, "key", key, dim, "value", value, dim, dim == rank - 2 ? "S10" : "S1")))
      return failure();
  return verifyHeadDim(op, "value", value.getDimSize(rank - 1));
}

/// S19: pages of a static number of rows, and a table with a row for each sequence.
static LogicalResult verifyPages(KernelOpInterface op) {
  if (!isa<ForwardOp>(op.getOperation()))
    return op->emitOpError("expected pages only with attn.forward [S19]");
  RankedTensorType key = tensorType(op.getKey()), value = tensorType(op.getValueOrNull());
  for (auto [name, type] : {std::pair<StringRef, RankedTensorType>("key", key), {"value", value}})
    if (int64_t rows = type.getDimSize(1); ShapedType::isDynamic(rows) || rows == 0)
      return op->emitOpError() << "expected a static number of rows of a page, 1 or more, in the type of " << name
                               << ", got " << type << " [S19]";
  RankedTensorType table = tensorType(op.getPageTable());
  if (!op.isPacked())
    return verifySameDim(op, "page table", table, 0, "query", tensorType(op.getQuery()), 0, "S19");
  // Of cumulative lengths there is one more than of sequences.
  int64_t offsets = tensorType(op.getQueryOffsets()).getDimSize(0);
  auto checkSequences = [&](StringRef name, RankedTensorType type) -> LogicalResult {
    if (ShapedType::isDynamic(offsets) || !conflict(type.getDimSize(0), offsets - 1))
      return success();
    return op->emitOpError() << "expected dimension 0 of " << name << " to be the number of sequences, got "
                             << type.getDimSize(0) << " where there are " << offsets << " cumulative lengths [S19]";
  };
  Value lengths = op.getKeyLengths();
  return failure(failed(checkSequences("page table", table)) ||
                 (lengths && failed(checkSequences("lengths", tensorType(lengths)))));
}

/// The number that is known of a literal-or-value clause, if any.
static std::optional<APFloat> literalOrConstant(std::optional<APFloat> literal, Value value) {
  FloatAttr constant;
  if (value && matchPattern(value, m_Constant(&constant)))
    return constant.getValue();
  return literal;
}

static LogicalResult verifyClauses(KernelOpInterface op) {
  RankedTensorType query = tensorType(op.getQuery());
  if (op.getScale() && op.getStaticScale())
    return op->emitOpError("expected one scale, a literal or a value [S1]");
  if (std::optional<APFloat> scale = literalOrConstant(op.getStaticScale(), op.getScale()); scale && !scale->isFinite())
    return op->emitOpError("expected a finite scale [S18]");
  if (op.getDropout() && op.getStaticDropout())
    return op->emitOpError("expected one dropout probability, a literal or a value [S9]");
  if (std::optional<APFloat> dropout = literalOrConstant(op.getStaticDropout(), op.getDropout())) {
    double p = dropout->convertToDouble();
    if (!(p >= 0 && p <= 1))
      return op->emitOpError() << "expected a dropout probability from 0 to 1, got " << p << " [S18]";
  }
  if (op.hasDropout() != static_cast<bool>(op.getSeed()))
    return op->emitOpError("expected dropout to have a probability and a seed [S9]");
  if (op.getSeed())
    if (auto halves = dyn_cast<RankedTensorType>(op.getSeed().getType());
        halves && halves.getDimSize(0) != 2 && halves.getDimSize(0) != 4)
      return op->emitOpError() << "expected a seed of type i64, tensor<2xi32> or tensor<4xi32>, got " << halves
                               << " [S9]";
  if (APInt offset; op.getQOffset() && matchPattern(op.getQOffset(), m_ConstantInt(&offset)))
    if (int64_t rows = offset.getSExtValue(); rows < minQueryOffset || rows > maxQueryOffset)
      return op->emitOpError() << "expected a literal q_offset from " << minQueryOffset << " to " << maxQueryOffset
                               << ", got " << rows << " [S2]";
  if (Value sinks = op.getSinks()) {
    RankedTensorType type = tensorType(sinks);
    bool perHead = type.getRank() == 2;
    if (type.getRank() < 1 || type.getRank() > 2 || ShapedType::isDynamic(type.getShape().back()) ||
        (perHead && type.getDimSize(0) != op.getQueryHeads()))
      return op->emitOpError() << "expected sinks of type [" << op.getQueryHeads() << ", n] or [n] with static n, got "
                               << type << " [S6]";
  }
  if (op.isPacked() && (op.getQueryLengths() || (op.getKeyLengths() && !op.isPaged())))
    return op->emitOpError("expected lengths or varlen, got both [S11]");
  if (!op.isPacked())
    for (Value lengths : {op.getQueryLengths(), op.getKeyLengths()})
      if (lengths && failed(verifySameDim(op, "lengths", tensorType(lengths), 0, "query", query, 0, "S11")))
        return failure();
  if (op.isPaged() && failed(verifyPages(op)))
    return failure();
  if (op.getQueryLengths() && op.getKeyLengths() &&
      failed(verifySameDim(op, "query lengths", tensorType(op.getQueryLengths()), 0, "key lengths",
                           tensorType(op.getKeyLengths()), 0, "S11")))
    return failure();
  if (op.areKeysPacked() && failed(verifySameDim(op, "query offsets", tensorType(op.getQueryOffsets()), 0,
                                                 "key offsets", tensorType(op.getKeyOffsets()), 0, "S11")))
    return failure();
  return success();
}

/// Together, schedules of `program` are for launches of all sizes, and each for some that none before it is for.
static LogicalResult verifySchedules(KernelOpInterface op, Program program) {
  // Conditions on many sizes may cut launches into more parts than anybody has use for, or patience.
  constexpr size_t mostPieces = 4096;
  std::string of = program == Program::Forward ? "" : " of program '" + stringifyProgram(program).str() + "'";
  OpenSizes open(op.getContext());
  for (ScheduleAttr schedule : op.getSchedules()) {
    if (schedule.getProgram() != program)
      continue;
    if (!open.take(schedule.getWhen()))
      return op->emitOpError() << "expected each schedule" << of
                               << " to be for launches that no earlier one covers, got one with when = "
                               << schedule.getWhen();
    if (open.getPieces().size() > mostPieces)
      return op->emitOpError() << "expected schedules" << of << " whose conditions cut launches into up to "
                               << mostPieces << " parts";
  }
  if (!open.empty())
    return op->emitOpError() << "expected a schedule" << of << " for launches of " << open.getPieces().front();
  return success();
}

/// A kernel has schedules for each of its programs, or for none.
static LogicalResult verifySchedules(KernelOpInterface op) {
  if (!op.getSchedulesAttr())
    return success();
  if (op.getSchedules().empty())
    return op->emitOpError("expected one or more schedules, got none");
  SmallVector<Program> programs{Program::Forward};
  if (auto backward = dyn_cast<BackwardOp>(op.getOperation())) {
    auto hasAny = [&](ArrayRef<Program> of) {
      return llvm::any_of(op.getSchedules(),
                          [&](ScheduleAttr schedule) { return llvm::is_contained(of, schedule.getProgram()); });
    };
    // The gradients of keys and values come of one program, or of one each; or all three come of one.
    if (hasAny(Program::Dqdkdv))
      programs = {Program::Delta, Program::Dqdkdv, Program::ConvertDq};
    else if (hasAny({Program::Dk, Program::Dv}))
      programs = {Program::Dq, Program::Dk, Program::Dv};
    else
      programs = {Program::Dq, Program::Dkdv};
    llvm::append_range(programs, getOtherPrograms(backward));
  }
  for (ScheduleAttr schedule : op.getSchedules())
    if (!llvm::is_contained(programs, schedule.getProgram()))
      return op->emitOpError() << "expected schedules for the programs "
                               << llvm::join(llvm::map_range(programs, stringifyProgram), ", ")
                               << ", got one with program = " << stringifyProgram(schedule.getProgram());
  for (ScheduleAttr schedule : op.getSchedules())
    if (schedule.isSplit() && !isa<ForwardOp>(op.getOperation()))
      return op->emitOpError("expected splits only with attn.forward [S16]");
  for (Program program : programs)
    if (failed(verifySchedules(op, program)))
      return failure();
  return success();
}

/// Regions hold pure arith, math and attn operations on scalars; captures are scalars, or tensors read by attn loads.
static LogicalResult verifyRegion(KernelOpInterface op, Region &region, StringRef name, ArrayRef<Type> arguments,
                                  ArrayRef<Type> results) {
  if (region.empty())
    return success();
  Block &block = region.front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(arguments))
    return op->emitOpError() << "expected region '" << name << "' to take (" << arguments << "), got ("
                             << block.getArgumentTypes() << ") [S2]";
  for (Operation &inner : block) {
    if (isa<YieldOp>(inner)) {
      if (inner.getOperandTypes() != TypeRange(results))
        return inner.emitOpError() << "expected region '" << name << "' to yield (" << results << "), got ("
                                   << inner.getOperandTypes() << ") [" << (name == "score" ? "S2" : "S3") << "]";
      continue;
    }
    Dialect *dialect = inner.getDialect();
    if (!dialect || !isa<arith::ArithDialect, math::MathDialect, AttnDialect>(dialect) || inner.getNumRegions() != 0)
      return inner.emitOpError() << "is not allowed in region '" << name
                                 << "'; expected operations of arith, math and attn [S2]";
    if (isa<LoadRangeOp>(inner) && (name == "score" || name == "mask"))
      return inner.emitOpError() << "belongs in the derived regions, not in region '" << name << "' [S4]";
    if (!isMemoryEffectFree(&inner))
      return inner.emitOpError() << "has side effects; region '" << name << "' must be pure [S2]";
    for (Value operand : inner.getOperands())
      if (isa<ShapedType>(operand.getType()) && !isa<AttnDialect>(dialect))
        return inner.emitOpError("computes on a tensor; read its elements with attn.load [S4]");
    // What passes derive is theirs.
    if ((name == "score" || name == "mask") && !isa<AttnDialect>(dialect) && failed(verifyRegionOp(&inner, name)))
      return failure();
  }
  return success();
}

static LogicalResult verifyKernelRegions(KernelOpInterface op) {
  Builder builder(op.getContext());
  Type index = builder.getIndexType(), f32 = builder.getF32Type(), i1 = builder.getI1Type();
  if (failed(verifyRegion(op, op.getScore(), "score", {f32, index, index, index, index}, {f32})) ||
      failed(verifyRegion(op, op.getMask(), "mask", {index, index, index, index}, {i1})) ||
      failed(verifyRegion(op, op.getBounds(), "bounds", {index, index, index, index}, {index, index, index, index})) ||
      failed(verifyRegion(op, op.getBlocks(), "blocks", {index, index, index, index, index, index}, {i1, i1})))
    return failure();
  Region *derivative = op.getDerivativeOrNull(), *queryBounds = op.getQueryBoundsOrNull();
  if (derivative) {
    SmallVector<Type> gradients{f32};
    for (const CapturedGradient &captured : getCapturedGradients(cast<BackwardOp>(op.getOperation())))
      llvm::append_range(gradients, captured.yieldedTypes());
    if (failed(verifyRegion(op, *derivative, "derivative", {f32, f32, index, index, index, index}, gradients)))
      return failure();
  }
  if (queryBounds && failed(verifyRegion(op, *queryBounds, "query_bounds", {index, index, index, index},
                                         SmallVector<Type>(4, builder.getI64Type()))))
    return failure();
  return success();
}

/// `out` is laid out like queries, with the head dim of values (S1, S14); `name` is what messages call it.
static LogicalResult verifyOut(KernelOpInterface op, StringRef name, RankedTensorType out) {
  RankedTensorType query = tensorType(op.getQuery()), value = tensorType(op.getValueOrNull());
  if (out.getElementType() != query.getElementType())
    return op->emitOpError() << "expected " << name << " of element type " << query.getElementType() << ", got "
                             << out.getElementType() << " [S13]";
  int64_t rank = query.getRank();
  if (out.getRank() != rank)
    return op->emitOpError() << "expected " << name << " of rank " << rank << ", got " << out << " [S1]";
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (out.getDimSize(dim) != query.getDimSize(dim))
      return op->emitOpError() << "expected dimension " << dim << " of " << name << " to be that of query, got " << out
                               << " and " << query << " [S1]";
  if (out.getShape().back() != value.getShape().back())
    return op->emitOpError() << "expected the head dim of " << name << " to be that of value, got "
                             << out.getShape().back() << " and " << value.getShape().back() << " [S14]";
  return success();
}

/// An LSE has one f32 for each row of each head (S8).
static LogicalResult verifyLse(KernelOpInterface op, StringRef name, Value lseValue) {
  if (!lseValue)
    return success();
  RankedTensorType query = tensorType(op.getQuery()), lse = tensorType(lseValue);
  SmallVector<int64_t> shape(query.getShape().drop_back());
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  if (lse.getShape() != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "expected " << name << " of type " << RankedTensorType::get(shape, lse.getElementType())
                             << ", got " << lse << " [S8]";
  return success();
}

LogicalResult ForwardOp::verify() {
  KernelOpInterface kernel = *this;
  if (failed(verifyTensors(kernel)) || failed(verifyClauses(kernel)) || failed(verifySchedules(kernel)))
    return failure();
  return success(succeeded(verifyOut(kernel, "out", tensorType(getOut()))) &&
                 succeeded(verifyLse(kernel, "lse", getLse())));
}

LogicalResult ForwardOp::verifyRegions() { return verifyKernelRegions(*this); }

LogicalResult WeightsOp::verify() {
  KernelOpInterface kernel = *this;
  if (kernel.isPacked())
    return emitOpError("expected padded sequences; the weights of packed ones have no rectangular shape [S11]");
  if (failed(verifyTensors(kernel)) || failed(verifyClauses(kernel)) || failed(verifySchedules(kernel)))
    return failure();
  RankedTensorType query = tensorType(getQuery()), key = tensorType(getKey());
  auto expected = RankedTensorType::get(
      {query.getDimSize(0), query.getDimSize(2), query.getDimSize(1), key.getDimSize(1)}, query.getElementType());
  if (getWeights().getType() != expected)
    return emitOpError() << "expected weights of type " << expected << ", got " << getWeights().getType() << " [S1]";
  return success();
}

LogicalResult WeightsOp::verifyRegions() { return verifyKernelRegions(*this); }

LogicalResult BackwardOp::verify() {
  KernelOpInterface kernel = *this;
  if (failed(verifyTensors(kernel)) || failed(verifyClauses(kernel)) || failed(verifyCaptured(*this)) ||
      failed(verifySchedules(kernel)) || failed(verifyOut(kernel, "out", tensorType(getOut()))) ||
      failed(verifyLse(kernel, "lse", getLse())) || failed(verifyOut(kernel, "d_out", tensorType(getDOut()))) ||
      failed(verifyLse(kernel, "d_lse", getDLse())))
    return failure();
  if (getQuery() == getKey() || getQuery() == getValue() || getKey() == getValue())
    return emitOpError(
        "expected query, key and value to be tensors of their own, which have gradients of their own [S15]");
  if (llvm::is_contained({getQuery(), getKey(), getValue()}, getOut()))
    return emitOpError("expected out to be what forward gave, got one of its query, key and value [S15]");
  if (getDSinks() && !getSinks())
    return emitOpError("expected sinks for d_sinks to be the gradient of [S15]");
  for (auto [name, operand, result] : {std::tuple<StringRef, Value, Value>("d_query", getQuery(), getDQuery()),
                                       {"d_key", getKey(), getDKey()},
                                       {"d_value", getValue(), getDValue()},
                                       {"d_sinks", getSinks(), getDSinks()}})
    if (result && operand.getType() != result.getType())
      return emitOpError() << "expected " << name << " of type " << operand.getType() << ", that of what it is the "
                           << "gradient of, got " << result.getType() << " [S15]";
  return success();
}

LogicalResult BackwardOp::verifyRegions() {
  if (failed(verifyKernelRegions(*this)) || failed(verifyCapturedReads(*this)))
    return failure();
  // The gradient of a captured tensor would be a part of that of the tensor as query, key, value or sinks.
  WalkResult result = getScore().walk([&](Operation *inner) -> WalkResult {
    for (Value operand : inner->getOperands())
      if (operand == getQuery() || operand == getKey() || operand == getValue() ||
          (getDSinks() && operand == getSinks()))
        return inner->emitOpError("expected the score to read no query, key, value or sinks of the kernel, whose "
                                  "gradients would have a second part [S15]");
    return success();
  });
  return failure(result.wasInterrupted());
}

Value ForwardOp::getValueOrNull() { return getValue(); }

Value WeightsOp::getValueOrNull() { return {}; }

Value BackwardOp::getValueOrNull() { return getValue(); }

Region *BackwardOp::getDerivativeOrNull() { return &getDerivative(); }

Region *BackwardOp::getQueryBoundsOrNull() { return &getQueryBounds(); }
