//===- SplitOperands.cpp - Parts of f32, once for all warps -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESPLITOPERANDS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether all that reads the tile of `get` multiplies by its parts, as a right operand.
static bool isMultipliedInParts(GetOp get) {
  return !get->use_empty() && get.getShared().getType().getTile().getElementType().isF32() &&
         llvm::all_of(get->getUses(), [](OpOperand &use) {
           auto product = dyn_cast<MmaOp>(use.getOwner());
           return product && !product.getTf32() && &use == &product.getBMutable();
         });
}

/// The first operation of kind `Op` on `ring` that follows `from` in its block; null where there is none.
template <typename Op>
static Op findNext(Operation *from, Value ring) {
  for (Operation *op = from->getNextNode(); op; op = op->getNextNode())
    if (auto found = dyn_cast<Op>(op); found && found.getRing() == ring)
      return found;
  return {};
}

/// Whether nothing between two operations of a block, of which `first` comes first, uses `ring`.
static bool isUntouchedBetween(Operation *first, Operation *last, Value ring) {
  return llvm::none_of(llvm::make_range(first->getIterator(), last->getIterator()), [&](Operation &op) {
    return op
        .walk([&](Operation *inner) {
          return llvm::is_contained(inner->getOperands(), ring) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

/// Moves `put` up to right after `place`, together with the operations that compute its operands, if these are pure and
/// nothing in between uses its ring.
static void moveUp(PutOp put, Operation *place) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == place->getBlock() && place->isBeforeInBlock(op); };
  SetVector<Operation *> slice;
  bool movable = isUntouchedBetween(place->getNextNode(), put, put.getRing()) &&
                 succeeded(getBackwardSlice(put.getOperation(), &slice, options)) &&
                 llvm::all_of(slice, [&](Operation *op) { return op == put || isPure(op); });
  if (!movable)
    return;
  for (Operation *op : slice) {
    op->moveAfter(place);
    place = op;
  }
}

/// Splits what `gets` wait for, which stand one after the other, and gives products its parts. `rings` are where those
/// go. All is waited for, split, and told of at once: a step has two barriers then, however many tiles it reads.
static void split(MutableArrayRef<GetOp> gets, ArrayRef<TypedValue<RingType>> rings) {
  Operation *place = gets.back();
  OpBuilder builder(place->getContext());
  SmallVector<ReleaseOp> released =
      llvm::map_to_vector(gets, [](GetOp get) { return findNext<ReleaseOp>(get, get.getRing()); });
  builder.setInsertionPointAfter(place);
  for (auto [get, ring, release] : llvm::zip_equal(gets, rings, released)) {
    SplitOp::create(builder, get.getLoc(), get.getShared(), ring);
    builder.clone(*release);
  }
  for (auto [get, ring, release] : llvm::zip_equal(gets, rings, released)) {
    auto type = SharedTileType::get(builder.getContext(), cast<VectorType>(ring.getType().getElement()));
    auto parts = GetOp::create(builder, get.getLoc(), type, ring);
    get.getShared().replaceUsesWithIf(parts.getShared(), [](OpOperand &use) { return isa<MmaOp>(use.getOwner()); });
    release.getRingMutable().assign(ring);
    place = parts;
  }
  for (GetOp get : gets)
    if (auto put = findNext<PutOp>(place, get.getRing()))
      moveUp(put, place);
}

namespace {
struct SplitOperands : attnc::tile::impl::TileSplitOperandsBase<SplitOperands> {
  /// A ring for the parts of what `get` waits for.
  static TypedValue<RingType> createRing(GetOp get) {
    auto source = get.getRing().getDefiningOp<RingOp>();
    OpBuilder builder(source);
    builder.setInsertionPointAfter(source);
    auto type = RingType::get(get.getContext(), /*stages=*/1, getPartsOf(get.getShared().getType().getTile()));
    return RingOp::create(builder, source.getLoc(), type, IntegerAttr(), IntegerAttr()).getRing();
  }

  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || !pipeline.getSplitFloats())
      return;
    SmallVector<GetOp> gets;
    getOperation().walk([&](GetOp get) {
      if (isMultipliedInParts(get))
        gets.push_back(get);
    });
    llvm::DenseMap<Value, TypedValue<RingType>> rings; // of parts, by those that tiles come in
    for (size_t number = 0; number < gets.size();) {
      GetOp first = gets[number];
      // The last to be put is waited for first: others are there then.
      SmallVector<GetOp> together{first};
      for (GetOp next : ArrayRef(gets).drop_front(number + 1)) {
        if (next->getBlock() != first->getBlock() || !isUntouchedBetween(together.front(), next, next.getRing()))
          break;
        next->moveBefore(together.front());
        together.insert(together.begin(), next);
      }
      number += together.size();
      split(together, llvm::map_to_vector(together, [&](GetOp get) {
              auto &ring = rings[get.getRing()];
              if (!ring)
                ring = createRing(get);
              return ring;
            }));
      numSplit += together.size();
    }
  }
};
} // namespace
