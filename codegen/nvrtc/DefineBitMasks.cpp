//===- DefineBitMasks.cpp - Bits that a condition keeps or drops -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// codegen/nvptx/BitMasks.h says what ptxas would make of the selections, and does the same to LLVM IR.
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Ptx.h"
#include "codegen/nvrtc/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace attnc::nvrtc {
#define GEN_PASS_DEF_NVRTCDEFINEBITMASKS
#include "codegen/nvrtc/Passes.h.inc"
} // namespace attnc::nvrtc

using namespace mlir;
using namespace attnc;

namespace {
/// A choice between the bits of a word and 0.
struct BitChoice {
  Operation *op;
  Value condition;
  Value bits;    ///< null for all bits
  bool inverted; ///< whether they are kept where the condition does not hold
};
} // namespace

/// `op` as a choice of bits, if it is one.
static std::optional<BitChoice> getBitChoice(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  Type type = op->getResult(0).getType();
  if (!type.isInteger(32) && !type.isInteger(64))
    return std::nullopt;
  if (auto extension = dyn_cast<arith::ExtSIOp>(op); extension && extension.getIn().getType().isInteger(1))
    return BitChoice{op, extension.getIn(), {}, false};
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select || !select.getCondition().getType().isInteger(1))
    return std::nullopt;
  if (matchPattern(select.getFalseValue(), m_Zero()))
    return BitChoice{op, select.getCondition(), select.getTrueValue(), false};
  if (matchPattern(select.getTrueValue(), m_Zero()))
    return BitChoice{op, select.getCondition(), select.getFalseValue(), true};
  return std::nullopt;
}

/// Whether an `and` with what is no constant reads the choice, or bits found by logic are chosen: then ptxas makes a
/// mask.
static bool becomesMask(const BitChoice &choice) {
  if (choice.bits && isa_and_present<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(choice.bits.getDefiningOp()))
    return true;
  return llvm::any_of(choice.op->getUsers(), [](Operation *user) {
    return isa<arith::AndIOp>(user) &&
           llvm::none_of(user->getOperands(), [](Value value) { return matchPattern(value, m_Constant()); });
  });
}

/// All bits of `type` where `condition` holds and none elsewhere, computed right after its definition.
static Value createMask(Value condition, Type type) {
  OpBuilder b(condition.getContext());
  b.setInsertionPointAfterValue(condition);
  nvptx::Ptx ptx(b, condition.getLoc());
  if (type.isInteger(64))
    return ptx.assembly("wideBitMask", type, "selp.b64 $0, -1, 0, $1;", "lb", condition, /*sideEffects=*/false);
  return ptx.assembly("bitMask", type, "selp.b32 $0, -1, 0, $1;", "rb", condition, /*sideEffects=*/false);
}

namespace {
struct NvrtcDefineBitMasks : nvrtc::impl::NvrtcDefineBitMasksBase<NvrtcDefineBitMasks> {
  void runOnOperation() override {
    llvm::MapVector<std::pair<Value, Type>, SmallVector<BitChoice>> choices;
    getOperation()->walk([&](Operation *op) {
      std::optional<BitChoice> choice = getBitChoice(op);
      // In the block of its condition, where both are always made, a mask is not missing.
      if (choice && choice->condition.getParentBlock() != op->getBlock() && becomesMask(*choice))
        choices[{choice->condition, op->getResult(0).getType()}].push_back(*choice);
    });
    for (auto &[key, users] : choices) {
      auto [condition, type] = key;
      Value mask = createMask(condition, type), inverse;
      for (const BitChoice &choice : users) {
        OpBuilder b(choice.op);
        Location loc = choice.op->getLoc();
        Value kept = mask;
        if (choice.inverted) {
          if (!inverse) {
            OpBuilder after(&getContext());
            after.setInsertionPointAfterValue(mask);
            Value ones = arith::ConstantOp::create(after, loc, after.getIntegerAttr(type, -1));
            inverse = arith::XOrIOp::create(after, loc, mask, ones);
          }
          kept = inverse;
        }
        Value word = choice.bits ? arith::AndIOp::create(b, loc, choice.bits, kept).getResult() : kept;
        choice.op->replaceAllUsesWith(ValueRange(word));
        choice.op->erase();
      }
    }
  }
};
} // namespace
