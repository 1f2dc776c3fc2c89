//===- BitMasks.cpp - Bits that a condition keeps or drops ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/BitMasks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// Whether an `and` with what is no constant reads `select`, so that ptxas makes it one of three words.
static bool isUsedByAnd(SelectInst &select) {
  return any_of(select.users(), [](User *user) {
    return match(user, m_And(m_Value(), m_Value())) && !isa<Constant>(user->getOperand(0)) &&
           !isa<Constant>(user->getOperand(1));
  });
}

/// Whether `select` gives 0 or bits that ptxas finds by logic, or uses in an `and`, and so can find together with the
/// mask.
static bool selectsBits(SelectInst &select) {
  if (!select.getType()->isIntegerTy(32) && !select.getType()->isIntegerTy(64))
    return false;
  bool keeps = match(select.getFalseValue(), m_Zero());
  if (!keeps && !match(select.getTrueValue(), m_Zero()))
    return false;
  Value *bits = keeps ? select.getTrueValue() : select.getFalseValue();
  return match(bits, m_BitwiseLogic(m_Value(), m_Value())) || isUsedByAnd(select);
}

/// All bits of `type` where `condition` holds and none elsewhere, found after its definition. LLVM has no word for it
/// that it does not turn into selections again.
static Value *createMask(Instruction *condition, Type *type) {
  IRBuilder<> builder(condition->getParent(), *condition->getInsertionPointAfterDef());
  auto *function = FunctionType::get(type, builder.getInt1Ty(), /*isVarArg=*/false);
  bool isWide = type->isIntegerTy(64);
  return builder.CreateCall(InlineAsm::get(function, isWide ? "selp.b64 $0, -1, 0, $1;" : "selp.b32 $0, -1, 0, $1;",
                                           isWide ? "=l,b" : "=r,b", /*hasSideEffects=*/false),
                            condition);
}

static void defineBitMasks(Function &function) {
  MapVector<std::pair<Instruction *, Type *>, SmallVector<SelectInst *>> selects;
  for (Instruction &instruction : instructions(function))
    if (auto *select = dyn_cast<SelectInst>(&instruction); select && selectsBits(*select))
      if (auto *condition = dyn_cast<Instruction>(select->getCondition()))
        selects[{condition, select->getType()}].push_back(select);
  for (auto &[key, users] : selects) {
    auto [condition, type] = key;
    SmallPtrSet<BasicBlock *, 4> blocks;
    for (SelectInst *select : users)
      blocks.insert(select->getParent());
    // One loop is several where ptxas unrolls it.
    bool mayUnroll = any_of(users, [&](SelectInst *select) {
      return isUsedByAnd(*select) && select->getParent() != condition->getParent();
    });
    if (blocks.size() < 2 && !mayUnroll)
      continue;
    Value *mask = createMask(condition, type);
    for (SelectInst *select : users) {
      IRBuilder<> builder(select);
      bool keeps = match(select->getFalseValue(), m_Zero());
      Value *bits = keeps ? builder.CreateAnd(select->getTrueValue(), mask)
                          : builder.CreateAnd(select->getFalseValue(), builder.CreateNot(mask));
      select->replaceAllUsesWith(bits);
      select->eraseFromParent();
    }
  }
}

void attnc::nvptx::defineBitMasks(Module &module) {
  for (Function &function : module)
    ::defineBitMasks(function);
}
