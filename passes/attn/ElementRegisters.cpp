//===- ElementRegisters.cpp - Registers of an element -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/ElementRegisters.h"
#include "dialect/attn/RegionOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn/ScoreRange.h"

using namespace mlir;
using namespace attnc::attn;

SetVector<Operation *> attnc::attn::getOperationsOfPairs(Region &region) {
  SetVector<Operation *> found;
  if (region.empty())
    return found;
  constexpr size_t coordinates = 4;
  for (BlockArgument ofPair : region.getArguments().drop_back(coordinates))
    getForwardSlice(ofPair, &found);
  getForwardSlice(region.getArguments().back(), &found);
  return found;
}

/// Whether the score takes functions of each pair that a unit of their own computes, or many instructions:
/// exponentials, tanh, quotients and the like.
static bool hasFunctions(Region &score) {
  return llvm::any_of(getOperationsOfPairs(score), [](Operation *op) { return getFunctionFacts(op).work > 0; });
}

bool attnc::attn::hasSlope(BackwardOp op) { return op.getCaptured().empty() && !op.getDerivative().empty(); }

/// Whether scores are functions whose values are kept with the logits. Where all weights are relative to one number,
/// which gradients have in the LSE, nothing asks for the logits again.
static bool keepsFunctions(KernelOpInterface kernel) {
  return hasFunctions(kernel.getScore()) && !findNarrowRange(kernel) && !isa<BackwardOp>(kernel.getOperation());
}

/// Registers for what a score or mask loads that differs from key to key. Where tiles of 16 bits are staged, they are
/// read as their elements are computed.
static double registersOfLoads(Region &region, RegisterCostsAttr costs, bool isStaged) {
  if (region.empty() || !costs)
    return 0;
  SetVector<Operation *> ofQueries, ofKeys;
  ArrayRef<BlockArgument> positions = region.getArguments().take_back(2);
  getForwardSlice(positions[0], &ofQueries);
  getForwardSlice(positions[1], &ofKeys);
  double registers = 0;
  region.walk([&](LoadOp load) {
    if (!ofKeys.contains(load))
      return;
    bool narrow = load.getResult().getType().getIntOrFloatBitWidth() == 16;
    bool isTile = ofQueries.contains(load);
    if (narrow && isTile && isStaged)
      return;
    FloatAttr cost = isTile ? (narrow ? costs.getNarrowTile() : costs.getTile())
                            : (narrow ? costs.getNarrowVector() : costs.getVector());
    registers += cost.getValueAsDouble();
  });
  return registers;
}

int64_t attnc::attn::countDivisions(KernelOpInterface kernel) {
  int64_t count = 0;
  for (Region *region : kernel.getElementRegions())
    region->walk([&](arith::DivFOp op) { count += !matchPattern(op.getLhs(), m_OneFloat()); });
  return count;
}

double attnc::attn::getMaskRegisters(KernelOpInterface kernel, RegisterCostsAttr costs) {
  return registersOfLoads(kernel.getMask(), costs, /*isStaged=*/false);
}

double attnc::attn::getElementRegisters(KernelOpInterface kernel, RegisterCostsAttr costs, bool isStaged) {
  if (!costs)
    return 0;
  double registers = registersOfLoads(kernel.getScore(), costs, isStaged);
  if (keepsFunctions(kernel))
    registers += costs.getFunction().getValueAsDouble();
  if (kernel.hasDropout())
    registers += costs.getDropout().getValueAsDouble();
  return registers > 0 ? registers + getMaskRegisters(kernel, costs) : 0;
}
