//===- FuseExponent.cpp - (x - m) * c as one operation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEFUSEEXPONENT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// (x - m) * c in a map: the operations, and the number of m among the map's row vectors.
struct Exponent {
  arith::SubFOp difference;
  arith::MulFOp product;
  FloatAttr factor;
  unsigned row;
};

} // namespace

/// Looks for an exponent whose row vector the map uses for nothing else.
static std::optional<Exponent> findExponent(MapOp map) {
  for (auto product : map.getBody().getOps<arith::MulFOp>()) {
    auto difference = product.getLhs().getDefiningOp<arith::SubFOp>();
    FloatAttr factor;
    if (!difference || !difference->hasOneUse() || !matchPattern(product.getRhs(), m_Constant(&factor)))
      continue;
    auto row = dyn_cast<BlockArgument>(difference.getRhs());
    if (!row || !row.hasOneUse() || row.getOwner() != &map.getBody().front())
      continue;
    unsigned number = row.getArgNumber() - map.getTiles().size();
    if (row.getArgNumber() >= map.getTiles().size() && number < map.getRows().size())
      return Exponent{difference, product, factor, number};
  }
  return std::nullopt;
}

static void fuse(MapOp map, Exponent exponent) {
  OpBuilder builder(map);
  Location loc = map.getLoc();
  Value maxima = map.getRows()[exponent.row];
  auto splat = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(cast<ShapedType>(maxima.getType()), value));
  };
  builder.setInsertionPointAfterValue(maxima);
  Value factor = splat(exponent.factor.getValue());
  Value offsets = arith::MulFOp::create(builder, loc, maxima, splat(neg(exponent.factor.getValue())));
  map.getRowsMutable()[exponent.row].set(offsets);

  // Row factors come from the same rounded offsets.
  for (Operation *user : llvm::make_early_inc_range(maxima.getUsers())) {
    auto growth = dyn_cast<arith::SubFOp>(user);
    auto scaled = growth && growth->hasOneUse() ? dyn_cast<arith::MulFOp>(*growth->user_begin()) : arith::MulFOp();
    DenseFPElementsAttr by;
    if (!scaled || growth.getRhs() != maxima || !matchPattern(scaled.getRhs(), m_Constant(&by)) || !by.isSplat() ||
        by.getSplatValue<APFloat>() != exponent.factor.getValue())
      continue;
    builder.setInsertionPoint(scaled);
    Value before = arith::MulFOp::create(builder, loc, growth.getLhs(), factor);
    scaled.replaceAllUsesWith(arith::AddFOp::create(builder, loc, before, offsets).getResult());
  }

  builder.setInsertionPoint(exponent.product);
  exponent.product.replaceAllUsesWith(math::FmaOp::create(builder, loc, exponent.difference.getLhs(),
                                                          exponent.product.getRhs(), exponent.difference.getRhs())
                                          .getResult());
  exponent.product->erase();
  exponent.difference->erase();
}

namespace {
struct FuseExponent : attnc::tile::impl::TileFuseExponentBase<FuseExponent> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    getOperation()->walk([](MapOp map) {
      // f16 overflows where the rounded offset of a large row maximum is off by more than 15; bf16 does not.
      bool wide = llvm::all_of(map.getResultTypes(), [](Type type) {
        Type element = cast<VectorType>(type).getElementType();
        return element.isF32() || element.isBF16();
      });
      bool narrow = llvm::any_of(map.getResultTypes(),
                                 [](Type type) { return cast<VectorType>(type).getElementType().isBF16(); });
      if (!wide || !narrow)
        return;
      if (std::optional<Exponent> exponent = findExponent(map))
        fuse(map, *exponent);
    });
  }
};
} // namespace
