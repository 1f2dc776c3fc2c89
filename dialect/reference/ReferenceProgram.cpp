//===- ReferenceProgram.cpp - Running scalar programs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceProgram.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::attn::reference;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

const HostArray *Arguments::getArray(Value value) const {
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  return argument ? std::get_if<HostArray>(&values[argument.getArgNumber()]) : nullptr;
}

std::optional<double> Arguments::getFloat(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const double *number = std::get_if<double>(&values[argument.getArgNumber()]);
    std::optional<ElementKind> kind = getElementKind(value.getType());
    return number && kind ? std::optional(roundToKind(*kind, *number)) : std::nullopt;
  }
  FloatAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValueAsDouble();
}

std::optional<int64_t> Arguments::getInteger(Value value) const {
  unsigned width = value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const int64_t *number = std::get_if<int64_t>(&values[argument.getArgNumber()]);
    return number ? std::optional(wrapToWidth(*number, width)) : std::nullopt;
  }
  IntegerAttr constant;
  if (width > 64 || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValue().getSExtValue();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int64_t CapturedLoad::offset(ArrayRef<Slot> slots) const {
  int64_t sum = 0;
  for (const Dim &dim : dims)
    sum += std::clamp<int64_t>(slots[dim.slot].i, 0, dim.size - 1) * dim.stride;
  return sum;
}

int64_t CapturedLoad::offset(ArrayRef<Slot> slots, ArrayRef<int64_t> strides) const {
  int64_t sum = 0;
  for (auto [dim, stride] : llvm::zip_equal(dims, strides))
    sum += std::clamp<int64_t>(slots[dim.slot].i, 0, dim.size - 1) * stride;
  return sum;
}

/// a * b + c, rounded once to `kind`. Rounding to f64 first would decide ties: -1e30 * 1.5 + s lies halfway between two
/// f32, and the sign of an s that f64 drops says which of them is nearest. So a sum that is not exact gets an odd last
/// bit (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums").
static double multiplyAdd(ElementKind kind, double a, double b, double c) {
  if (kind == ElementKind::F64)
    return std::fma(a, b, c);
  double product = a * b; // exact: two factors of 24 bits
  double sum = product + c;
  if (!std::isfinite(sum))
    return roundToKind(kind, sum);
  double added = sum - product;
  double rest = (product - (sum - added)) + (c - added);
  bool isOdd = llvm::bit_cast<uint64_t>(sum) & 1;
  if (rest != 0 && !isOdd)
    sum = std::nextafter(sum, std::copysign(HUGE_VAL, rest));
  return roundToKind(kind, sum);
}

/// The element that `load` addresses. A set i1 is -1, as every i1 in a slot.
static Slot loadCaptured(const CapturedLoad &load, ArrayRef<Slot> slots) {
  Slot slot;
  int64_t offset = load.offset(slots);
  if (load.kind <= ElementKind::BF16)
    slot.f = loadElement(load.kind, load.data, offset);
  else
    slot.i = loadIntegerElement(load.kind, load.data, offset) * (load.kind == ElementKind::I1 ? -1 : 1);
  return slot;
}

/// `arith.truncf` of x. What the type `from` holds exactly, as it does what a tensor or a position gives, is rounded as
/// the machine rounds it, also where nothing else is: a comparison may read it. Other numbers would be rounded by a
/// machine before, and perhaps to either side: they stay as they are.
static double narrow(ElementKind from, ElementKind to, double x) {
  return roundToKind(from, x) == x ? roundToKind(to, x) : x;
}

Slot ScalarProgram::run(std::vector<Slot> &slots) const {
  for (const Instruction &step : instructions) {
    Slot a = slots[step.operands[0]], b = slots[step.operands[1]];
    Slot &result = slots[step.result];
    switch (step.kind) {
    case Instruction::Unary:
      result.f = roundToKind(step.rounding, step.unary->value(a.f));
      break;
    case Instruction::Binary:
      result.f = roundToKind(step.rounding, step.binary->value(a.f, b.f));
      break;
    case Instruction::Narrow:
      result.f = roundToKind(step.rounding, narrow(step.narrow.from, step.narrow.to, a.f));
      break;
    case Instruction::MultiplyAdd:
      result.f = multiplyAdd(step.rounding, a.f, b.f, slots[step.operands[2]].f);
      break;
    case Instruction::Integer:
      result.i = wrapToWidth(step.integer(a.i, b.i, step.width), step.resultWidth);
      break;
    case Instruction::TestFloat:
      result.i = -static_cast<int64_t>(step.testFloat(a.f, b.f));
      break;
    case Instruction::ToFloat:
      result.f = roundToKind(step.rounding, step.toFloat(a.i, step.width));
      break;
    case Instruction::ToInteger:
      result.i = wrapToWidth(step.toInteger(a.f, step.width), step.resultWidth);
      break;
    case Instruction::Select:
      result = a.i ? b : slots[step.operands[2]];
      break;
    case Instruction::Load:
      result = loadCaptured(loads[step.load], slots);
      break;
    }
  }
  return slots[resultSlot];
}

double ScalarProgram::differentiate(ArrayRef<Slot> slots, double gradient, std::vector<double> &adjoints,
                                    LoadGradient onLoad) const {
  adjoints.assign(slots.size(), 0);
  adjoints[resultSlot] = gradient;
  for (const Instruction &step : llvm::reverse(instructions)) {
    double bar = adjoints[step.result];
    // What does not count has no derivative: sqrt at a point that a select left out must not make 0 * inf.
    if (bar == 0)
      continue;
    Slot a = slots[step.operands[0]], b = slots[step.operands[1]], y = slots[step.result];
    switch (step.kind) {
    case Instruction::Narrow:
      adjoints[step.operands[0]] += bar;
      break;
    case Instruction::Unary:
      adjoints[step.operands[0]] += bar * step.unary->slope(a.f, y.f);
      break;
    case Instruction::Binary:
      // No slope of 0 for the operand that was not taken: 0 times an infinite gradient is NaN.
      if (!step.binary->slopeA) {
        adjoints[step.operands[y.f == a.f ? 0 : 1]] += bar;
        break;
      }
      adjoints[step.operands[0]] += bar * step.binary->slopeA(a.f, b.f, y.f);
      adjoints[step.operands[1]] += bar * step.binary->slopeB(a.f, b.f, y.f);
      break;
    case Instruction::MultiplyAdd:
      adjoints[step.operands[0]] += bar * b.f;
      adjoints[step.operands[1]] += bar * a.f;
      adjoints[step.operands[2]] += bar;
      break;
    case Instruction::Select:
      adjoints[step.operands[a.i ? 1 : 2]] += bar;
      break;
    case Instruction::Load:
      onLoad(loads[step.load], bar);
      break;
    case Instruction::Integer:
    case Instruction::TestFloat:
    case Instruction::ToFloat:
    case Instruction::ToInteger:
      break;
    }
  }
  for (const auto &[slot, scalar] : scalars)
    if (adjoints[slot] != 0)
      onLoad(scalar, adjoints[slot]);
  return adjoints[SlotLogit];
}
