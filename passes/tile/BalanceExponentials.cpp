//===- BalanceExponentials.cpp - Exponentials by multiply-adds --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/RegionOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEBALANCEEXPONENTIALS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

namespace {

/// What of a program decides where its exponentials are computed.
struct Work {
  explicit Work(ProgramOp program) {
    program.walk([&](Operation *op) {
      slow |= attn::getFunctionFacts(op).isSlow();
      sharesReciprocals |= op->hasAttr(sharedReciprocalAttrName);
      looksAfterwards |= isa<AnyOp>(op);
      if (auto start = dyn_cast<StartOp>(op); start && start.getTransposed())
        dims = getTileType(start.getA()).getDimSize(1);
    });
  }

  bool slow = false; ///< whether there is a function that takes more than an exponential
  bool sharesReciprocals = false;
  bool looksAfterwards = false; ///< at weights, which may have overflowed
  int64_t dims = 0;             ///< of a key, where warpgroups multiply by it; else 0
};

struct BalanceExponentials : attnc::tile::impl::TileBalanceExponentialsBase<BalanceExponentials> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(approximateMathAttrName))
      return;
    Work work(getOperation());
    int64_t share = chooseShare(work);
    if (share == 0)
      return;
    getOperation().walk([&](math::Exp2Op power) {
      // What a score region makes powers of may be anything.
      if (!power->hasAttr(weightAttrName) || !isa<MapOp>(power->getParentOp()))
        return;
      power->setAttr(multiplyAddShareAttrName, IntegerAttr::get(IntegerType::get(&getContext(), 64), share));
      ++numShared;
    });
  }

  /// Of how many exponentials one is left to multiply-add units; 0 for none. A tanh and an exponential an element keep
  /// the unit of functions busier than products keep the tensor cores, the more so the shorter the rows of keys are;
  /// but multiply-adds take registers' ports from products (docs/rationale/hopper-schedule.md). Where elements share
  /// reciprocals, they have products enough from 128 dims on. Weights that are looked at afterwards may be too large
  /// for the polynomial.
  static int64_t chooseShare(const Work &work) {
    if (!work.slow || work.looksAfterwards || work.dims == 0 || work.dims > 128)
      return 0;
    if (work.dims > 64)
      return work.sharesReciprocals ? 0 : 4;
    return 8;
  }
};
} // namespace
