//===- ReferenceCompiler.cpp - From regions to scalar programs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Sugar is written out from its formula in AttnOps.td, not by its `expand`: tests hold the two against each other.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/reference/ReferenceProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc::attn;

/// Width of an integer or index type; 0 for any other, and for one above 64 bits.
static unsigned getIntegerWidth(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

/// Kind of a float type; nothing for any other.
static std::optional<ElementKind> getFloatKind(Type type) {
  return isa<FloatType>(type) ? getElementKind(type) : std::nullopt;
}

namespace attnc::attn::reference {

/// Appends the instructions of one region to a program.
class RegionCompiler {
public:
  RegionCompiler(const Arguments &arguments, Precision precision, ScalarProgram &program)
      : arguments(arguments), precision(precision), program(program) {}

  LogicalResult compile(Region &region);

private:
  /// What an operation compiles to: the slot of its result, or -1 where it has no meaning here.
  int lower(Operation *op);
  int lowerByName(Operation *op);

  int newSlot(Slot value = {});
  int constant(double value);
  int constant(int64_t value);
  /// The slot of a value; captured scalars are constants of the program. -1 for one that is not bound.
  int slotOf(Value value);
  /// The kind that float results of `type` are rounded to.
  ElementKind roundingOf(Type type) const;

  int append(Instruction step);
  int integer(IntegerFunction function, int a, int b, unsigned width, unsigned resultWidth);
  int binary(StringRef rule, int a, int b, Type type);
  int load(IndexedOpInterface op, Value tensor, ValueRange indices, unsigned first = 0);

  int lowerSugar(Operation *op);
  int lowerWindow(WindowOp op);
  int lowerAlibi(AlibiOp op);

  const Arguments &arguments;
  Precision precision;
  ScalarProgram &program;
  llvm::DenseMap<Value, int> slots;
};

int RegionCompiler::newSlot(Slot value) {
  program.initialSlots.push_back(value);
  return static_cast<int>(program.initialSlots.size()) - 1;
}

int RegionCompiler::constant(double value) {
  Slot slot;
  slot.f = value;
  return newSlot(slot);
}

int RegionCompiler::constant(int64_t value) {
  Slot slot;
  slot.i = value;
  return newSlot(slot);
}

int RegionCompiler::slotOf(Value value) {
  auto [it, inserted] = slots.try_emplace(value, -1);
  if (!inserted)
    return it->second;
  if (getFloatKind(value.getType())) {
    if (std::optional<double> number = arguments.getFloat(value)) {
      it->second = constant(*number);
      if (auto argument = dyn_cast<BlockArgument>(value))
        program.scalars.push_back({it->second, {argument.getArgNumber(), *getFloatKind(value.getType()), nullptr, {}}});
    }
  } else if (getIntegerWidth(value.getType())) {
    if (std::optional<int64_t> number = arguments.getInteger(value))
      it->second = constant(*number);
  }
  return it->second;
}

ElementKind RegionCompiler::roundingOf(Type type) const {
  return precision == Precision::Exact ? ElementKind::F64 : *getFloatKind(type);
}

int RegionCompiler::append(Instruction step) {
  step.result = newSlot();
  program.instructions.push_back(step);
  return step.result;
}

int RegionCompiler::integer(IntegerFunction function, int a, int b, unsigned width, unsigned resultWidth) {
  Instruction step;
  step.kind = Instruction::Integer;
  step.operands[0] = a;
  step.operands[1] = b;
  step.width = width;
  step.resultWidth = resultWidth;
  step.integer = function;
  return append(step);
}

int RegionCompiler::binary(StringRef rule, int a, int b, Type type) {
  Instruction step;
  step.kind = Instruction::Binary;
  step.operands[0] = a;
  step.operands[1] = b;
  step.rounding = roundingOf(type);
  step.binary = findBinaryRule(rule);
  return append(step);
}

/// A coordinate addresses the row as stored, any other index is taken as it is (`attn.load`). `indices` start at index
/// `first` of the operation.
int RegionCompiler::load(IndexedOpInterface op, Value tensor, ValueRange indices, unsigned first) {
  const HostArray *array = arguments.getArray(tensor);
  CapturedLoad load{cast<BlockArgument>(tensor).getArgNumber(), *getElementKind(array->elementType), array->data, {}};
  static constexpr int stored[] = {SlotB, SlotH, SlotRow, SlotColumn};
  for (auto [index, size, stride] : llvm::zip_equal(indices, array->shape, array->strides)) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(op, first + load.dims.size());
    int slot = coordinate ? stored[static_cast<unsigned>(*coordinate)] : slotOf(index);
    load.dims.push_back({slot, size, stride});
  }
  Instruction step;
  step.kind = Instruction::Load;
  step.load = static_cast<unsigned>(program.loads.size());
  program.loads.push_back(std::move(load));
  return append(step);
}

//===----------------------------------------------------------------------===//
// Sugar
//===----------------------------------------------------------------------===//

static int64_t isAtMost(int64_t a, int64_t b, unsigned) { return a <= b; }
static int64_t isBelow(int64_t a, int64_t b, unsigned) { return a < b; }
static int64_t isSameSegment(int64_t a, int64_t b, unsigned) { return a == b && a >= 0; }
static int64_t both(int64_t a, int64_t b, unsigned) { return a & b; }
/// As `arith.subi` and `math.absi` compute them: positions are far from the ends of 64 bits, computed numbers may wrap.
static int64_t difference(int64_t a, int64_t b, unsigned) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
static int64_t distance(int64_t a, int64_t b, unsigned) {
  int64_t steps = difference(a, b, 64);
  return steps < 0 ? difference(0, steps, 64) : steps;
}
/// A side of a window that counts as 0 where it is negative, and reaches everything from 2^31 on.
static int64_t isWithin(int64_t steps, int64_t side, unsigned) {
  return side >= int64_t{1} << 31 || steps <= std::max<int64_t>(side, 0);
}

/// i - left <= j and j <= i + right, put as i - j <= left and j - i <= right, which no side overflows.
int RegionCompiler::lowerWindow(WindowOp op) {
  int i = slotOf(op.getI()), j = slotOf(op.getJ()), keep = constant(int64_t{-1});
  auto side = [&](int behind, int ahead, Value value, std::optional<int64_t> literal) {
    if (!value && !literal)
      return;
    int bound = value ? slotOf(value) : constant(*literal);
    int inside = integer(isWithin, integer(difference, behind, ahead, 64, 64), bound, 64, 1);
    keep = integer(both, keep, inside, 1, 1);
  };
  side(i, j, op.getLeftValue(), op.getLeft());
  side(j, i, op.getRightValue(), op.getRight());
  return keep;
}

int RegionCompiler::lowerAlibi(AlibiOp op) {
  Type f32 = op.getType();
  Instruction convert;
  convert.kind = Instruction::ToFloat;
  convert.operands[0] = integer(distance, slotOf(op.getI()), slotOf(op.getJ()), 64, 64);
  convert.rounding = roundingOf(f32);
  convert.toFloat = signedToFloat;
  int penalty = binary("arith.mulf", load(op, op.getSlopes(), op.getHead()), append(convert), f32);
  return binary("arith.subf", slotOf(op.getLogit()), penalty, f32);
}

int RegionCompiler::lowerSugar(Operation *op) {
  return llvm::TypeSwitch<Operation *, int>(op)
      .Case([&](SoftcapOp op) {
        int cap = op.getCap() ? slotOf(op.getCap()) : constant(op.getStaticCap()->convertToDouble());
        return binary("attn.softcap", slotOf(op.getLogit()), cap, op.getType());
      })
      .Case([&](AlibiOp op) { return lowerAlibi(op); })
      .Case([&](BiasOp op) {
        return binary("arith.addf", slotOf(op.getLogit()), load(op, op.getTensor(), op.getIndices()), op.getType());
      })
      .Case([&](CausalOp op) { return integer(isAtMost, slotOf(op.getJ()), slotOf(op.getI()), 64, 1); })
      .Case([&](WindowOp op) { return lowerWindow(op); })
      .Case([&](SameSegmentOp op) {
        int query = load(op, op.getQueryIds(), op.getQueryIndices());
        int key = load(op, op.getKeyIds(), op.getKeyIndices(), op.getQueryIndices().size());
        return integer(isSameSegment, query, key, 32, 1);
      })
      .Case([&](PrefixOp op) {
        return integer(isBelow, slotOf(op.getJ()), load(op, op.getLengths(), op.getIndices()), 64, 1);
      })
      .Default([](Operation *) { return -1; });
}

//===----------------------------------------------------------------------===//
// arith and math
//===----------------------------------------------------------------------===//

/// Operations that one function of ReferenceRules.h means.
int RegionCompiler::lowerByName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  Type result = op->getResult(0).getType(), operand = op->getOperand(0).getType();
  Instruction step;
  // A rule of one operand gets it twice.
  for (auto [number, value] : llvm::enumerate(op->getOperands()))
    step.operands[number] = slotOf(value);
  if (op->getNumOperands() == 1)
    step.operands[1] = step.operands[0];
  if (getFloatKind(result))
    step.rounding = roundingOf(result);
  if (getIntegerWidth(result))
    step.resultWidth = getIntegerWidth(result);
  if (getIntegerWidth(operand))
    step.width = getIntegerWidth(operand);

  if (isa<arith::TruncFOp>(op)) {
    step.kind = Instruction::Narrow;
    step.narrow = {*getFloatKind(operand), *getFloatKind(result)};
    return append(step);
  }
  if (const UnaryRule *rule = findUnaryRule(name)) {
    step.kind = Instruction::Unary;
    step.unary = rule;
    return append(step);
  }
  if (const BinaryRule *rule = findBinaryRule(name)) {
    step.kind = Instruction::Binary;
    step.binary = rule;
    return append(step);
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    step.integer = getIntegerComparison(static_cast<unsigned>(compare.getPredicate()));
  else
    step.integer = findIntegerRule(name);
  if (step.integer) {
    step.kind = Instruction::Integer;
    return append(step);
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    step.testFloat = getFloatComparison(static_cast<unsigned>(compare.getPredicate()));
  else
    step.testFloat = findFloatPredicate(name);
  if (step.testFloat) {
    step.kind = Instruction::TestFloat;
    return append(step);
  }
  bool isBitcast = isa<arith::BitcastOp>(op) && step.operands[0] >= 0;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) ||
      (isBitcast && getFloatKind(result) && getIntegerWidth(operand) > 16)) {
    step.kind = Instruction::ToFloat;
    step.toFloat = isBitcast ? bitsToFloat : isa<arith::SIToFPOp>(op) ? signedToFloat : unsignedToFloat;
    return append(step);
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) ||
      (isBitcast && getFloatKind(operand) && getIntegerWidth(result) > 16)) {
    step.kind = Instruction::ToInteger;
    step.width = step.resultWidth;
    step.toInteger = isBitcast ? floatToBits : isa<arith::FPToSIOp>(op) ? floatToSigned : floatToUnsigned;
    return append(step);
  }
  return -1;
}

int RegionCompiler::lower(Operation *op) {
  if (op->getNumResults() != 1)
    return -1;
  auto isScalar = [](Type type) { return getFloatKind(type) || getIntegerWidth(type); };
  if (!isScalar(op->getResult(0).getType()))
    return -1;
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()) && (!isScalar(operand.getType()) || slotOf(operand) < 0))
      return -1;

  if (op->hasTrait<OpTrait::ConstantLike>())
    return slotOf(op->getResult(0));
  if (auto read = dyn_cast<LoadOp>(op))
    return load(read, read.getTensor(), read.getIndices());
  if (isa<SugarOpInterface>(op))
    return lowerSugar(op);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Instruction step;
    step.kind = Instruction::Select;
    for (auto [number, value] : llvm::enumerate(op->getOperands()))
      step.operands[number] = slotOf(value);
    return append(step);
  }
  if (auto fma = dyn_cast<math::FmaOp>(op)) {
    Instruction step;
    step.kind = Instruction::MultiplyAdd;
    step.rounding = roundingOf(fma.getType());
    for (auto [number, value] : llvm::enumerate(op->getOperands()))
      step.operands[number] = slotOf(value);
    return append(step);
  }
  if (auto clamp = dyn_cast<math::ClampFOp>(op)) {
    int atLeast = binary("arith.maximumf", slotOf(clamp.getValue()), slotOf(clamp.getMin()), clamp.getType());
    return binary("arith.minimumf", atLeast, slotOf(clamp.getMax()), clamp.getType());
  }
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    Instruction convert;
    convert.kind = Instruction::ToFloat;
    convert.operands[0] = slotOf(power.getRhs());
    convert.rounding = ElementKind::F64;
    convert.toFloat = signedToFloat;
    return binary("math.powf", slotOf(power.getLhs()), append(convert), power.getType());
  }
  return op->getNumOperands() == 1 || op->getNumOperands() == 2 ? lowerByName(op) : -1;
}

LogicalResult RegionCompiler::compile(Region &region) {
  program.initialSlots.resize(NumFixedSlots, Slot{});
  Block &block = region.front();
  bool hasLogit = block.getNumArguments() == 5;
  if (hasLogit)
    slots[block.getArgument(0)] = SlotLogit;
  static constexpr int positions[] = {SlotB, SlotH, SlotI, SlotJ};
  for (auto [argument, slot] : llvm::zip_equal(block.getArguments().drop_front(hasLogit), positions))
    slots[argument] = slot;
  for (Operation &op : block.without_terminator()) {
    int slot = lower(&op);
    if (slot < 0)
      return op.emitOpError("has no meaning in the reference; expected a scalar operation of arith, math or attn");
    slots[op.getResult(0)] = slot;
  }
  Value yielded = block.getTerminator()->getOperand(0);
  program.resultSlot = slotOf(yielded);
  return success(program.resultSlot >= 0);
}

FailureOr<ScalarProgram> ScalarProgram::compile(Region &region, const Arguments &arguments, Precision precision) {
  ScalarProgram program;
  if (failed(RegionCompiler(arguments, precision, program).compile(region)))
    return failure();
  return program;
}

} // namespace attnc::attn::reference
