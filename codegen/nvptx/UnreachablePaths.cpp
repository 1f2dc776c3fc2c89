//===- UnreachablePaths.cpp - Paths that are never taken --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/UnreachablePaths.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace attnc;

/// The condition of a conditional branch that ends `block`, or null.
static const llvm::Value *getCondition(const llvm::BasicBlock &block) {
  const auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  return branch && branch->isConditional() ? branch->getCondition() : nullptr;
}

/// Whether a branch ends in `from` whose condition is a constant and says not to go `to`.
static bool isNeverTaken(const llvm::BasicBlock *from, const llvm::BasicBlock *to) {
  const auto *constant = llvm::dyn_cast_if_present<llvm::ConstantInt>(getCondition(*from));
  return constant && llvm::cast<llvm::BranchInst>(from->getTerminator())->getSuccessor(constant->isZero()) != to;
}

/// The instructions that are reached only where nothing is defined.
static llvm::SmallVector<llvm::Instruction *> findUnreachable(llvm::Function &function, const llvm::LoopInfo &loops) {
  llvm::SmallVector<llvm::Instruction *> places;
  for (llvm::BasicBlock &block : function)
    if (llvm::isa_and_present<llvm::UndefValue>(getCondition(block)))
      places.push_back(block.getTerminator());
  for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<llvm::Loop::Edge> exits;
    loop->getExitEdges(exits);
    if (llvm::all_of(exits, [](const auto &edge) { return isNeverTaken(edge.first, edge.second); }))
      places.push_back(&*loop->getHeader()->getFirstNonPHIIt());
  }
  return places;
}

llvm::PreservedAnalyses nvptx::RemoveUnreachablePaths::run(llvm::Function &function,
                                                           llvm::FunctionAnalysisManager &analyses) {
  llvm::SmallVector<llvm::Instruction *> places =
      findUnreachable(function, analyses.getResult<llvm::LoopAnalysis>(function));
  if (places.empty())
    return llvm::PreservedAnalyses::all();

  // All calls of a kernel return: what comes right before such a place is never reached either.
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      call->addFnAttr(llvm::Attribute::WillReturn);
  for (llvm::Instruction *place : places)
    new llvm::UnreachableInst(function.getContext(), place->getIterator());
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (llvm::isa<llvm::UnreachableInst>(instruction)) {
        llvm::changeToUnreachable(&instruction);
        break;
      }
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::SimplifyCFGPass().run(function, analyses);
  return llvm::PreservedAnalyses::none();
}
