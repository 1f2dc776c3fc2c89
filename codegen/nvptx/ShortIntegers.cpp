//===- ShortIntegers.cpp - Integers of 16 bits and less on GPUs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ShortIntegers.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

/// -`value`, an i32. LLVM has no word for a negation in 32 bits that it does not narrow where 16 of them are used.
static Value *negate(IRBuilder<> &builder, Value *value) {
  auto *type = FunctionType::get(builder.getInt32Ty(), builder.getInt32Ty(), /*isVarArg=*/false);
  return builder.CreateCall(InlineAsm::get(type, "neg.s32 $0, $1;", "=r,r", /*hasSideEffects=*/false), value);
}

/// The value of `instruction` found in 32 bits, as its own type; null where ptxas may have it as it is.
static Value *widen(Instruction &instruction) {
  Type *type = instruction.getType();
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > 16)
    return nullptr;
  IRBuilder<> builder(&instruction);
  auto extend = [&](Value *value, bool isSigned) {
    return builder.CreateIntCast(value, builder.getInt32Ty(), isSigned);
  };
  if (auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction)) {
    Value *lhs = extend(extreme->getLHS(), extreme->isSigned()), *rhs = extend(extreme->getRHS(), extreme->isSigned());
    return builder.CreateTrunc(builder.CreateBinaryIntrinsic(extreme->getIntrinsicID(), lhs, rhs), type);
  }
  Value *value = nullptr;
  if (PatternMatch::match(&instruction, PatternMatch::m_Intrinsic<Intrinsic::abs>(PatternMatch::m_Value(value)))) {
    Value *wide = extend(value, /*isSigned=*/true);
    return builder.CreateTrunc(builder.CreateBinaryIntrinsic(Intrinsic::abs, wide, builder.getFalse()), type);
  }
  // A product with -2^n becomes a shift and a negation where LLVM selects instructions.
  Instruction *of = &instruction;
  if (auto *truncation = dyn_cast<TruncInst>(&instruction))
    of = dyn_cast<Instruction>(truncation->getOperand(0));
  const APInt *factor = nullptr;
  if (of && PatternMatch::match(of, PatternMatch::m_Neg(PatternMatch::m_Value(value))))
    return builder.CreateTrunc(negate(builder, extend(value, /*isSigned=*/true)), type);
  if (of && PatternMatch::match(of, PatternMatch::m_Mul(PatternMatch::m_Value(value), PatternMatch::m_APInt(factor))) &&
      factor->isNegatedPowerOf2()) {
    Value *shifted = builder.CreateShl(extend(value, /*isSigned=*/true), std::min((-*factor).logBase2(), 31U));
    return builder.CreateTrunc(negate(builder, shifted), type);
  }
  return nullptr;
}

void attnc::nvptx::widenShortIntegers(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (Value *wide = widen(instruction)) {
        instruction.replaceAllUsesWith(wide);
        instruction.eraseFromParent();
      }
}
