//===- LegalizeIndex.cpp - Index arithmetic that fits 32 bits ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// `index` has 64 bits in a spec (S17). GPUs and SIMD lanes compute positions in 32, at half the cost: after this pass
// they may, since every operation on `index` that is left gives in 32 bits what it gives in 64.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/Limits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn/Passes.h"
#include "passes/attn/RegionRanges.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNLEGALIZEINDEX
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {

constexpr unsigned narrowBits = 32;

/// Rewrites one region of a kernel.
class Legalizer {
public:
  explicit Legalizer(Region &region)
      : region(region), ranges(region), builder(region.getContext()), wideType(builder.getI64Type()) {}

  /// Returns how many operations now compute in 64 bits.
  int64_t run();

private:
  bool isNarrow(Value value) const;
  bool isNarrowWithoutConstants(Value value) const;
  bool isExactWhenNarrow(Operation &op) const;
  void noteBase(Operation &op);
  void shortenShift(Operation &op);
  Value widen(Value value);
  void widenOp(Operation &op);
  void clampIndices(Operation &op);

  Region &region;
  RegionRanges ranges;
  OpBuilder builder;
  Type wideType;
  llvm::DenseMap<Value, Value> wide;              ///< values of type index in 64 bits
  llvm::DenseMap<Value, ConstantIntRanges> bases; ///< of sums: what is left without the constants in them
};

} // namespace

/// Emitters of code take constants out of sums, and put them in elsewhere: what is left must fit as well.
bool Legalizer::isNarrowWithoutConstants(Value value) const {
  auto it = bases.find(value);
  return it == bases.end() || RegionRanges::fits(it->second, narrowBits);
}

bool Legalizer::isNarrow(Value value) const {
  return ranges.fits(value, narrowBits) && isNarrowWithoutConstants(value);
}

void Legalizer::noteBase(Operation &op) {
  if (!isa<arith::AddIOp, arith::SubIOp>(op) || !op.getResult(0).getType().isIndex())
    return;
  auto baseOf = [&](Value value) {
    if (auto it = bases.find(value); it != bases.end())
      return it->second;
    return matchPattern(value, m_Constant()) ? ConstantIntRanges::constant(APInt::getZero(64)) : ranges.get(value);
  };
  ConstantIntRanges a = baseOf(op.getOperand(0)), b = baseOf(op.getOperand(1));
  bool isSum = isa<arith::AddIOp>(op), lowWraps = false, highWraps = false;
  const APInt &subtrahendLow = isSum ? b.smin() : b.smax(), &subtrahendHigh = isSum ? b.smax() : b.smin();
  APInt low = isSum ? a.smin().sadd_ov(subtrahendLow, lowWraps) : a.smin().ssub_ov(subtrahendLow, lowWraps);
  APInt high = isSum ? a.smax().sadd_ov(subtrahendHigh, highWraps) : a.smax().ssub_ov(subtrahendHigh, highWraps);
  bases.insert_or_assign(op.getResult(0), lowWraps || highWraps ? ConstantIntRanges::maxRange(64)
                                                                : ConstantIntRanges::fromSigned(low, high));
}

/// Whether an operation whose index operands and results all fit 32 bits gives the same in 32 bits.
bool Legalizer::isExactWhenNarrow(Operation &op) const {
  auto isNonNegative = [&] {
    return llvm::all_of(op.getOperands(), [&](Value value) {
      return !value.getType().isIndex() || ranges.get(value).smin().isNonNegative();
    });
  };
  auto isShort = [&] {
    ConstantIntRanges amount = ranges.get(op.getOperand(1));
    return amount.umax().ult(narrowBits);
  };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::SelectOp, arith::AndIOp,
            arith::OrIOp, arith::XOrIOp, arith::IndexCastOp, math::AbsIOp>([](auto) { return true; })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto) {
        // The least number of 32 bits by -1 has no quotient in 32 bits.
        return ranges.get(op.getOperand(0)).smin().sgt(APInt::getSignedMinValue(narrowBits).sext(64)) ||
               ranges.get(op.getOperand(1)).smin().isStrictlyPositive();
      })
      .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::MinUIOp, arith::MaxUIOp, arith::IndexCastUIOp>(
          [&](auto) { return isNonNegative(); })
      .Case<arith::ShLIOp, arith::ShRSIOp>([&](auto) { return isShort(); })
      .Case([&](arith::ShRUIOp) { return isShort() && isNonNegative(); })
      .Case(
          [&](arith::CmpIOp compare) { return compare.getPredicate() < arith::CmpIPredicate::ult || isNonNegative(); })
      // Whatever else there is may count bits.
      .Default([](Operation *) { return false; });
}

/// A narrow number has only its sign beyond bit 31: a longer shift gives what one by 31 gives.
void Legalizer::shortenShift(Operation &op) {
  APInt amount;
  if (!isa<arith::ShRSIOp>(op) || !op.getResult(0).getType().isIndex() || !isNarrow(op.getOperand(0)) ||
      !matchPattern(op.getOperand(1), m_ConstantInt(&amount)) || amount.ult(narrowBits) || amount.uge(64))
    return;
  builder.setInsertionPoint(&op);
  op.setOperand(1, arith::ConstantIndexOp::create(builder, op.getLoc(), narrowBits - 1));
}

/// `value`, of type index, as an i64.
Value Legalizer::widen(Value value) {
  Value &result = wide[value];
  if (result)
    return result;
  Operation *op = value.getDefiningOp();
  OpBuilder::InsertionGuard guard(builder);
  if (op && op->getParentRegion() == &region)
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(&region.front());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return result =
               arith::ConstantOp::create(builder, value.getLoc(), builder.getI64IntegerAttr(constant.getSExtValue()));
  return result = arith::IndexCastOp::create(builder, value.getLoc(), wideType, value);
}

/// Replaces an operation by the same one in 64 bits.
void Legalizer::widenOp(Operation &op) {
  builder.setInsertionPoint(&op);
  Location loc = op.getLoc();
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands(), [&](Value value) { return value.getType().isIndex() ? widen(value) : value; });
  SmallVector<Value> results;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type result = op.getResult(0).getType().isIndex() ? wideType : op.getResult(0).getType();
    Type operand = operands[0].getType();
    if (result == operand)
      results = {operands[0]};
    else if (result.getIntOrFloatBitWidth() < operand.getIntOrFloatBitWidth())
      results = {arith::TruncIOp::create(builder, loc, result, operands[0])};
    else if (isa<arith::IndexCastUIOp>(op))
      results = {arith::ExtUIOp::create(builder, loc, result, operands[0])};
    else
      results = {arith::ExtSIOp::create(builder, loc, result, operands[0])};
  } else {
    OperationState state(loc, op.getName(), operands, {}, op.getAttrs());
    for (Type type : op.getResultTypes())
      state.types.push_back(type.isIndex() ? wideType : type);
    results = llvm::to_vector_of<Value>(builder.create(state)->getResults());
  }
  for (auto [from, to] : llvm::zip_equal(op.getResults(), results)) {
    if (!from.getType().isIndex()) {
      from.replaceAllUsesWith(to);
      continue;
    }
    // Users that need 64 bits read the wide value, others the cast. The canonicalizer removes the one without users.
    Value narrow = arith::IndexCastOp::create(builder, loc, from.getType(), to);
    from.replaceAllUsesWith(narrow);
    wide[narrow] = to;
    ranges.copy(from, narrow);
  }
  op.erase();
}

/// Indices of captured tensors are clamped to their sizes, which fit: computed ones that do not fit are clamped sooner.
void Legalizer::clampIndices(Operation &op) {
  builder.setInsertionPoint(&op);
  for (OpOperand &operand : op.getOpOperands()) {
    if (!operand.get().getType().isIndex() || isNarrow(operand.get()))
      continue;
    auto limit = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, op.getLoc(), builder.getI64IntegerAttr(value));
    };
    Value below = arith::MinSIOp::create(builder, op.getLoc(), widen(operand.get()), limit(maxSize));
    Value within = arith::MaxSIOp::create(builder, op.getLoc(), below, limit(-maxSize));
    operand.set(arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), within));
  }
}

int64_t Legalizer::run() {
  int64_t widened = 0;
  for (Operation &op : llvm::make_early_inc_range(region.front())) {
    noteBase(op);
    auto isIndex = [](Type type) { return type.isIndex(); };
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        (llvm::none_of(op.getOperandTypes(), isIndex) && llvm::none_of(op.getResultTypes(), isIndex)))
      continue;
    if (isa<LoadOp, LoadRangeOp, YieldOp>(op)) {
      clampIndices(op);
      continue;
    }
    shortenShift(op);
    auto isFine = [&](Value value) { return !value.getType().isIndex() || isNarrow(value); };
    if (llvm::all_of(op.getOperands(), isFine) && llvm::all_of(op.getResults(), isFine) && isExactWhenNarrow(op))
      continue;
    widenOp(op);
    ++widened;
  }
  return widened;
}

namespace {
struct LegalizeIndex : attnc::attn::impl::AttnLegalizeIndexBase<LegalizeIndex> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOpInterface kernel) {
      for (Region &region : kernel->getRegions())
        if (!region.empty())
          numWidened += Legalizer(region).run();
    });
  }
};
} // namespace
