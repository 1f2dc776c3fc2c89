//===- ElementRegisters.h - Registers of an element -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_ELEMENTREGISTERS_H
#define ATTNC_PASSES_ATTN_ELEMENTREGISTERS_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// Whether gradients take the derivative of the score as a slope, computed together with the score: it is wanted for
/// the logit alone.
bool hasSlope(BackwardOp op);

/// Registers of a GPU's thread that each of its elements of a tile of logits takes in addition to the logit, as a mean:
/// for what scores load or compute and for random numbers, and in addition for what masks load. None where an element
/// is only masked, which steps of its own do, or where scores have no more than positions and scalars. `costs` are
/// those of the target's tables; without them, elements take none. With `isStaged`, captured tiles of 16 bits are in
/// shared memory.
double getElementRegisters(KernelOpInterface kernel, RegisterCostsAttr costs, bool isStaged = false);

/// The operations of `region`, a score or its derivative, that are computed for every pair: those of the logit, of its
/// gradient, or of the key's position. What depends on the head or the query alone moves out of the loop over keys.
llvm::SetVector<mlir::Operation *> getOperationsOfPairs(mlir::Region &region);

/// Divisions that each element takes in the regions of `kernel`, but for reciprocals.
int64_t countDivisions(KernelOpInterface kernel);

/// What the mask alone takes of them, for what it loads.
double getMaskRegisters(KernelOpInterface kernel, RegisterCostsAttr costs);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_ELEMENTREGISTERS_H
