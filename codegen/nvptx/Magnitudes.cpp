//===- Magnitudes.cpp - Magnitudes of the least integers --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Magnitudes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// Whether `use`, of a magnitude, cannot come to compare it with 0.
static bool isHarmless(const Use &use) {
  if (isa<SIToFPInst, UIToFPInst>(use.getUser()))
    return true;
  if (auto *greater = dyn_cast<MinMaxIntrinsic>(use.getUser());
      greater && greater->getIntrinsicID() == Intrinsic::smax) {
    auto *least = dyn_cast<ConstantInt>(greater->getOperand(1 - use.getOperandNo()));
    return least && least->getValue().isStrictlyPositive();
  }
  auto *compare = dyn_cast<ICmpInst>(use.getUser());
  if (!compare)
    return false;
  auto *other = dyn_cast<Constant>(compare->getOperand(1 - use.getOperandNo()));
  return !other || !other->isNullValue();
}

void attnc::nvptx::defineMagnitudes(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *magnitude = dyn_cast<IntrinsicInst>(&instruction);
      if (!magnitude || magnitude->getIntrinsicID() != Intrinsic::abs)
        continue;
      Type *type = magnitude->getType();
      bool isWide = type->isIntegerTy(32) || type->isIntegerTy(64);
      bool excludesLeast = cast<ConstantInt>(magnitude->getArgOperand(1))->isOne();
      if (!isWide || excludesLeast || all_of(magnitude->uses(), isHarmless))
        continue;
      IRBuilder<> builder(magnitude);
      Value *number = magnitude->getArgOperand(0);
      auto *negation = FunctionType::get(type, type, /*isVarArg=*/false);
      // In LLVM's own words this would be a magnitude again when it selects instructions.
      bool isWord = type->isIntegerTy(32);
      auto *assembly =
          InlineAsm::get(negation, isWord ? "neg.s32 $0, $1;" : "neg.s64 $0, $1;", isWord ? "=r,r" : "=l,l",
                         /*hasSideEffects=*/false);
      Value *negative = builder.CreateCall(assembly, number);
      magnitude->replaceAllUsesWith(builder.CreateBinaryIntrinsic(Intrinsic::smax, number, negative));
      magnitude->eraseFromParent();
    }
}
