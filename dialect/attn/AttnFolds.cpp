//===- AttnFolds.cpp - Folds and canonical forms ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attnc::attn;

/// A cap of infinity changes no finite logit; a constant cap is part of the kernel.
OpFoldResult SoftcapOp::fold(FoldAdaptor adaptor) {
  if (auto constant = dyn_cast_or_null<FloatAttr>(adaptor.getCap())) {
    if (!(constant.getValueAsDouble() > 0))
      return {};
    setStaticCapAttr(constant);
    getCapMutable().clear();
    return getResult();
  }
  if (getStaticCap() && getStaticCap()->isInfinity())
    return getLogit();
  return {};
}

/// A window without sides keeps everything; constant sides are part of the kernel.
OpFoldResult WindowOp::fold(FoldAdaptor adaptor) {
  bool changed = false;
  if (auto constant = dyn_cast_or_null<IntegerAttr>(adaptor.getLeftValue()); constant && constant.getInt() >= 0) {
    setLeft(constant.getInt());
    getLeftValueMutable().clear();
    changed = true;
  }
  if (auto constant = dyn_cast_or_null<IntegerAttr>(adaptor.getRightValue()); constant && constant.getInt() >= 0) {
    setRight(constant.getInt());
    getRightValueMutable().clear();
    changed = true;
  }
  if (!getLeft() && !getLeftValue() && !getRight() && !getRightValue())
    return BoolAttr::get(getContext(), true);
  return changed ? OpFoldResult(getResult()) : OpFoldResult();
}

namespace {

/// `scale(%c)` and `dropout(%c, ...)` of a constant become literals. A constant that no literal may be stays a value,
/// and the launch refuses it.
template <typename Op>
struct FoldConstantClauses : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    bool changed = false;
    auto fold = [&](Value value, MutableOperandRange operand, bool (*isLegal)(const APFloat &),
                    void (Op::*setLiteral)(FloatAttr)) {
      FloatAttr literal;
      if (!value || !matchPattern(value, m_Constant(&literal)) || !isLegal(literal.getValue()))
        return;
      changed = true;
      rewriter.modifyOpInPlace(op, [&] {
        (op.*setLiteral)(literal);
        operand.clear();
      });
    };
    auto isFinite = [](const APFloat &number) { return number.isFinite(); };
    auto isProbability = [](const APFloat &number) {
      return number.convertToDouble() >= 0 && number.convertToDouble() <= 1;
    };
    fold(op.getScale(), op.getScaleMutable(), isFinite, &Op::setStaticScaleAttr);
    fold(op.getDropout(), op.getDropoutMutable(), isProbability, &Op::setStaticDropoutAttr);
    return success(changed);
  }
};

/// Dropout of probability 0 drops nothing (S9).
template <typename Op>
struct DropZeroDropout : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getStaticDropout() || !op.getStaticDropout()->isZero())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.removeStaticDropoutAttr();
      op.getSeedMutable().clear();
    });
    return success();
  }
};

/// Whether the derivative of a score that yields its logit says nothing either. That of a score which was simplified to
/// that may: it is of what was written.
static bool isDerivativeOfIdentity(KernelOpInterface op) {
  Region *derivative = op.getDerivativeOrNull();
  if (!derivative || derivative->empty())
    return true;
  Operation *yield = derivative->front().getTerminator();
  return yield->getNumOperands() == 1 && yield->getOperand(0) == derivative->getArgument(0);
}

/// A score region that yields its logit and a mask region that keeps everything say nothing.
template <typename Op>
struct DropIdentityRegions : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto yielded = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
    Region &score = op.getScore(), &mask = op.getMask();
    bool dropScore = !score.empty() && yielded(score) == score.getArgument(0) && isDerivativeOfIdentity(op);
    bool dropMask = !mask.empty() && matchPattern(yielded(mask), m_One());
    if (!dropScore && !dropMask)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (dropScore)
        rewriter.eraseBlock(&score.front());
      Region *derivative = KernelOpInterface(op).getDerivativeOrNull();
      if (dropScore && derivative && !derivative->empty())
        rewriter.eraseBlock(&derivative->front());
      if (dropMask)
        rewriter.eraseBlock(&mask.front());
    });
    return success();
  }
};

/// Windows that cannot drop a key: both sequence lengths are static, and no position is further away. Positions run
/// from the shift to Sq - 1 + shift for queries and from 0 to Sk - 1 for keys; a run-time offset or length says
/// nothing.
struct DropWideWindow : OpRewritePattern<WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowOp op, PatternRewriter &rewriter) const override {
    auto kernel = dyn_cast<KernelOpInterface>(op->getParentOp());
    if (!kernel || kernel.isPacked() || kernel.getQOffset() || kernel.getQueryLengths() || kernel.getKeyLengths())
      return failure();
    auto argI = dyn_cast<BlockArgument>(op.getI()), argJ = dyn_cast<BlockArgument>(op.getJ());
    Block *mask = op->getBlock();
    if (!argI || !argJ || mask->getParent() != &kernel.getMask() || argI.getArgNumber() != 2 ||
        argJ.getArgNumber() != 3)
      return failure();
    int64_t sq = getAxisSize(kernel, Coordinate::Query), sk = getAxisSize(kernel, Coordinate::Key);
    if (ShapedType::isDynamic(sq) || ShapedType::isDynamic(sk))
      return failure();
    int64_t shift = kernel.getAlign() == Alignment::BottomRight ? sk - sq : 0;
    // Left drops j < i - left for the last query and key 0; right drops j > i + right for query 0 and the last key.
    bool dropLeft = op.getLeft() && static_cast<int64_t>(*op.getLeft()) >= sq - 1 + shift;
    bool dropRight = op.getRight() && static_cast<int64_t>(*op.getRight()) >= sk - 1 - shift;
    if (!dropLeft && !dropRight)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (dropLeft)
        op.removeLeftAttr();
      if (dropRight)
        op.removeRightAttr();
    });
    return success();
  }
};

} // namespace

void ForwardOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldConstantClauses<ForwardOp>, DropZeroDropout<ForwardOp>, DropIdentityRegions<ForwardOp>>(context);
}

void WeightsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldConstantClauses<WeightsOp>, DropZeroDropout<WeightsOp>, DropIdentityRegions<WeightsOp>>(context);
}

void BackwardOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldConstantClauses<BackwardOp>, DropZeroDropout<BackwardOp>, DropIdentityRegions<BackwardOp>>(context);
}

void WindowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropWideWindow>(context);
}
