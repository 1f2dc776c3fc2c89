//===- TrailingZeros.cpp - Counts of trailing zeros -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/TrailingZeros.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

void attnc::nvptx::defineTrailingZeros(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::cttz || !call->getType()->getScalarType()->isIntegerTy(64))
        continue;
      IRBuilder<> builder(call);
      Value *word = call->getArgOperand(0);
      Value *zeros =
          builder.CreateAnd(builder.CreateSub(word, ConstantInt::get(word->getType(), 1)), builder.CreateNot(word));
      call->replaceAllUsesWith(builder.CreateUnaryIntrinsic(Intrinsic::ctpop, zeros));
      call->eraseFromParent();
    }
}
