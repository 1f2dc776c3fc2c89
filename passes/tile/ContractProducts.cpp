//===- ContractProducts.cpp - Products that are not rounded -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/RowTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"
#include <cmath>
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILECONTRACTPRODUCTS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Whether a product of constants is a normal number of f32: others lose what its factors, one by one, do not.
static bool isNormal(double product) {
  double magnitude = std::abs(product);
  return magnitude >= std::numeric_limits<float>::min() && magnitude <= std::numeric_limits<float>::max();
}

/// A product and a sum become one operation, which rounds once. Elements of tiles are rounded before: a maximum that is
/// taken from one has seen it as it is. So is a product that several read, whose difference from itself is zero then.
static bool mayContract(Operation &op, ArrayRef<BlockArgument> elements) {
  if (isa<arith::MulFOp>(op))
    return op.getResult(0).hasOneUse();
  auto isElement = [&](Value operand) { return llvm::is_contained(elements, operand); };
  return isa<arith::AddFOp, arith::SubFOp>(op) && llvm::none_of(op.getOperands(), isElement);
}

namespace {
struct ContractProducts : attnc::tile::impl::TileContractProductsBase<ContractProducts> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      getOperation().walk([&](MapOp map) { contractScaling(map); });
    if (!getOperation()->hasAttr(approximateMathAttrName))
      return;
    getOperation().walk([&](Operation *op) {
      if (auto map = dyn_cast<MapOp>(op))
        contract(op, map.getTiles().size());
      else if (auto mask = dyn_cast<MaskOp>(op))
        contract(op, mask.getTiles().size());
    });
  }

  /// The product of a map that scales what a `tile.mma` alone adds to. Without tensor cores, whose accumulators are
  /// rounded first, elements are added one by one, so that the product can be fused.
  void contractScaling(MapOp map) {
    auto product = map.getScalesRows() && map->hasOneUse() ? dyn_cast<MmaOp>(*map->user_begin()) : MmaOp();
    if (!product || product.getAcc() != map.getResult(0))
      return;
    cast<arith::MulFOp>(map.getBody().front().front()).setFastmath(arith::FastMathFlags::contract);
    ++numContracted;
  }

  /// `op`: a map or a mask of so many tiles. What is computed once a row stays exact.
  void contract(Operation *op, size_t tiles) {
    Block &body = op->getRegion(0).front();
    ArrayRef<BlockArgument> elements = body.getArguments().take_front(tiles);
    RowTerms terms(op);
    SmallVector<Operation *> products;
    llvm::SmallPtrSet<Operation *, 8> ofElements;
    auto flags = arith::FastMathFlagsAttr::get(&getContext(), arith::FastMathFlags::contract);
    for (Operation &inner : body.without_terminator()) {
      if (terms.add(inner))
        continue;
      if (mayContract(inner, elements)) {
        inner.setAttr("fastmath", flags);
        ++numContracted;
      }
      if (isa<arith::MulFOp>(inner)) {
        products.push_back(&inner);
        ofElements.insert(&inner);
      }
    }
    // The last product first: of three, it takes the factor of the second, which stays as it is.
    for (Operation *product : llvm::reverse(products))
      joinFactors(cast<arith::MulFOp>(product), ofElements);
  }

  /// (x * a) * b is x * (a * b).
  void joinFactors(arith::MulFOp product, const llvm::SmallPtrSetImpl<Operation *> &ofElements) {
    FloatAttr first, second;
    auto before = product.getLhs().getDefiningOp<arith::MulFOp>();
    if (!before || !ofElements.contains(before) || !product.getType().isF32() ||
        !matchPattern(product.getRhs(), m_Constant(&second)) || !matchPattern(before.getRhs(), m_Constant(&first)) ||
        !isNormal(first.getValueAsDouble() * second.getValueAsDouble()))
      return;
    OpBuilder builder(product);
    float factor = first.getValue().convertToFloat() * second.getValue().convertToFloat();
    Value constant = arith::ConstantOp::create(builder, product.getLoc(), builder.getF32FloatAttr(factor));
    product->setOperands({before.getLhs(), constant});
    product.setFastmath(arith::FastMathFlags::none);
    ++numJoined;
  }
};
} // namespace
