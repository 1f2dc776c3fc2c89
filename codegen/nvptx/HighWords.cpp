//===- HighWords.cpp - Upper words of products on GPUs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/HighWords.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace attnc;
using namespace llvm::PatternMatch;

namespace {
/// The words of a number of 64 bits; the upper one is null where it is 0.
struct Words {
  llvm::Value *low, *high;
};
} // namespace

static Words split(llvm::IRBuilder<> &builder, llvm::Value *value) {
  llvm::Type *word = builder.getInt32Ty();
  llvm::Value *narrow = nullptr;
  if (match(value, m_ZExt(m_Value(narrow))) && narrow->getType()->isIntegerTy(32))
    return {narrow, nullptr};
  llvm::Value *low = builder.CreateTrunc(value, word);
  const llvm::APInt *constant = nullptr;
  if (match(value, m_APInt(constant)) && constant->isIntN(32))
    return {low, nullptr};
  return {low, builder.CreateTrunc(builder.CreateLShr(value, 32), word)};
}

void nvptx::defineHighWords(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::Value *x = nullptr, *y = nullptr;
      if (!instruction.getType()->isIntegerTy(32) ||
          !match(&instruction, m_Trunc(m_LShr(m_OneUse(m_Mul(m_Value(x), m_Value(y))), m_SpecificInt(32)))) ||
          !x->getType()->isIntegerTy(64))
        continue;
      // The product of lower words, and those of a lower and an upper one, whose own lower words count.
      llvm::IRBuilder<> builder(&instruction);
      Words a = split(builder, x), c = split(builder, y);
      llvm::Value *sum = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_mulhi_ui, {}, {a.low, c.low});
      if (a.high)
        sum = builder.CreateAdd(sum, builder.CreateMul(a.high, c.low));
      if (c.high)
        sum = builder.CreateAdd(sum, builder.CreateMul(a.low, c.high));
      instruction.replaceAllUsesWith(sum);
      instruction.eraseFromParent();
    }
}
