//===- AllocateShared.cpp - Laying out shared memory ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/TargetInterface.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "passes/tile/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEALLOCATESHARED
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {
struct AllocateShared : attnc::tile::impl::TileAllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (!program.getPipeline())
      return;
    Builder builder(program.getContext());
    int64_t next = 0;
    std::string sum;
    auto place = [&](VectorType tile, int64_t count) {
      int64_t offset = next, bytes = SharedLayout(tile).bytes();
      next += count * bytes;
      sum += (sum.empty() ? "" : " + ") + (count > 1 ? std::to_string(count) + " * " : "") + std::to_string(bytes);
      return builder.getI64IntegerAttr(offset);
    };
    SmallVector<RingOp> rings(program.getBody().getOps<RingOp>());
    auto placeRings = [&](bool ofVectors) {
      for (RingOp ring : rings)
        if (auto tile = dyn_cast<VectorType>(ring.getRing().getType().getElement());
            tile && bringsVectors(ring) == ofVectors)
          ring.setOffsetAttr(place(tile, ring.getRing().getType().getStages()));
    };
    placeRings(/*ofVectors=*/false);
    for (auto buffer : program.getBody().getOps<BufferOp>())
      buffer.setOffsetAttr(place(buffer.getShared().getType().getTile(), 1));
    // After the tiles, which begin at larger multiples of bytes.
    placeRings(/*ofVectors=*/true);
    // A program that computes a block mask does nothing else.
    if (listsSteps(program))
      next += blockMaskBytes;
    // Barriers and numbers, 8 bytes each, after the tiles; the one for landings where a copy may bring too much.
    constexpr int64_t word = 8;
    bool hasRoles = program.getPipeline()->getStaging() == attnc::attn::Staging::Tma;
    for (RingOp ring : hasRoles ? ArrayRef(rings) : ArrayRef<RingOp>()) {
      int64_t stages = ring.getRing().getType().getStages();
      ring.setBarriersAttr(builder.getI64IntegerAttr(next));
      next += (2 * stages + (mayClearRows(ring) ? 1 : 0)) * word;
      if (isa<IndexType>(ring.getRing().getType().getElement())) {
        ring.setOffsetAttr(builder.getI64IntegerAttr(next));
        next += stages * word;
      }
    }
    program.setSharedBytes(next);
    auto target =
        program->getParentOfType<ModuleOp>()->getAttrOfType<attnc::attn::TargetInterface>(attnc::attn::targetAttrName);
    if (!target || next <= target.getSharedBytes())
      return;
    auto error = program.emitError() << "needs " << next << " bytes of shared memory (" << sum
                                     << (hasRoles ? " and barriers" : "") << "), but " << target.getMachineName();
    if (int64_t bytes = target.getSharedBytes())
      error << " has " << bytes << ": choose smaller tiles or fewer stages";
    else
      error << " has none: choose a schedule without a pipeline";
    signalPassFailure();
  }
};
} // namespace
