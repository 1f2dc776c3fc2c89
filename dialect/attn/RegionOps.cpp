//===- RegionOps.cpp - What score and mask regions may hold -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/RegionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attnc::attn;

static constexpr double infinity = std::numeric_limits<double>::infinity(), halfTurn = llvm::numbers::pi;

/// Facts that several rows share. Roundings are one instruction, but of the unit that converts numbers.
static constexpr FunctionFacts rounding = {0.5, Trend::Rising}, function = {1}, wave = {1, Trend::Open, -1, 1};
static constexpr FunctionFacts exponential = {1, Trend::Rising, 0, infinity, Approximation::Fine};
static constexpr FunctionFacts logarithm = {1, Trend::Open, -infinity, infinity, Approximation::Fine};
/// A reciprocal, and a dozen instructions of other units: those that refine the quotient, and a branch for numbers far
/// from 1.
static constexpr FunctionFacts quotient = {1};
/// An exponential and a reciprocal. Its rounding errors reach results by the slope of a soft cap.
static constexpr FunctionFacts tangent = {2, Trend::Rising, -1, 1, Approximation::Coarse, /*tolerance=*/3};

static constexpr RegionOp regionOps[] = {
    {"arith.constant", 0, Scalars, 0},
    {"arith.select", Scalars, Scalars, 0},
    {"arith.cmpi", Integers, I1, 0},
    {"arith.cmpf", Floats, I1, 0},

    {"arith.addi", Integers, Integers, 0},
    {"arith.subi", Integers, Integers, 0},
    {"arith.muli", Integers, Integers, 0},
    {"arith.divsi", Integers, Integers, 0},
    {"arith.divui", Integers, Integers, 0},
    {"arith.ceildivsi", Integers, Integers, 0},
    {"arith.ceildivui", Integers, Integers, 0},
    {"arith.floordivsi", Integers, Integers, 0},
    {"arith.remsi", Integers, Integers, 0},
    {"arith.remui", Integers, Integers, 0},
    {"arith.maxsi", Integers, Integers, 0},
    {"arith.maxui", Integers, Integers, 0},
    {"arith.minsi", Integers, Integers, 0},
    {"arith.minui", Integers, Integers, 0},
    {"arith.andi", Integers, Integers, 0},
    {"arith.ori", Integers, Integers, 0},
    {"arith.xori", Integers, Integers, 0},
    {"arith.shli", Integers, Integers, 0},
    {"arith.shrsi", Integers, Integers, 0},
    {"arith.shrui", Integers, Integers, 0},
    {"math.absi", Integers, Integers, 0},
    {"math.ipowi", Integers, Integers, 0},
    {"math.ctlz", Integers, Integers, 0},
    {"math.cttz", Integers, Integers, 0},
    {"math.ctpop", Integers, Integers, 0},

    {"arith.extsi", FixedIntegers, FixedIntegers, 0},
    {"arith.extui", FixedIntegers, FixedIntegers, 0},
    {"arith.trunci", FixedIntegers, FixedIntegers, 0},
    {"arith.index_cast", Integers, Integers, 0},
    {"arith.index_castui", Integers, Integers, 0},
    {"arith.sitofp", FixedIntegers, Floats, 0},
    {"arith.uitofp", FixedIntegers, Floats, 0},
    {"arith.fptosi", Floats, FixedIntegers, 0},
    {"arith.fptoui", Floats, FixedIntegers, 0},
    {"arith.extf", Singles, F32 | F64, 0},
    {"arith.truncf", F32 | F64, Singles, 0},
    {"arith.bitcast", Words | F32 | F64, Words | F32 | F64, 0},

    {"arith.negf", Floats, Floats, 0, {0, Trend::Falling}},
    {"arith.addf", Floats, Floats, 0},
    {"arith.subf", Floats, Floats, 0},
    {"arith.mulf", Floats, Floats, 0},
    {"arith.divf", Floats, Floats, 0, quotient},
    {"arith.remf", Singles, Singles, 0},
    {"arith.maximumf", Floats, Floats, 0},
    {"arith.minimumf", Floats, Floats, 0},
    {"arith.maxnumf", Floats, Floats, 0},
    {"arith.minnumf", Floats, Floats, 0},
    {"math.absf", Floats, Floats, 0},
    {"math.copysign", Floats, Floats, 0},
    {"math.fma", Floats, Floats, 0},
    {"math.clampf", Floats, Floats, 0},
    {"math.ceil", Floats, Floats, 0, rounding},
    {"math.floor", Floats, Floats, 0, rounding},
    {"math.round", Floats, Floats, 0, rounding},
    {"math.roundeven", Floats, Floats, 0, rounding},
    {"math.trunc", Floats, Floats, 0, rounding},
    {"math.isfinite", Floats, I1, 0},
    {"math.isinf", Floats, I1, 0},
    {"math.isnan", Floats, I1, 0},
    {"math.sqrt", Floats, Floats, 0, function},
    {"math.rsqrt", Singles, Singles, 2, function},

    {"math.exp", Singles, Singles, 4, exponential},
    {"math.exp2", Singles, Singles, 4, {1, Trend::Rising, 0, infinity}},
    {"math.expm1", Singles, Singles, 1, {1, Trend::Rising, -1, infinity}},
    {"math.log", Singles, Singles, 4, logarithm},
    {"math.log2", Singles, Singles, 4, logarithm},
    {"math.log10", Singles, Singles, 1, function},
    {"math.log1p", Singles, Singles, 1, function},
    {"math.powf", Singles, Singles, 1, function},
    {"math.fpowi", Singles | I8 | I16 | I32, Singles, 1, function},
    {"math.cbrt", Singles, Singles, 1, {1, Trend::Rising}},
    {"math.sin", Singles, Singles, 2, wave},
    {"math.cos", Singles, Singles, 2, wave},
    {"math.tan", Singles, Singles, 4, function},
    {"math.asin", Singles, Singles, 4, {1, Trend::Open, -halfTurn / 2, halfTurn / 2}},
    {"math.acos", Singles, Singles, 4, {1, Trend::Open, 0, halfTurn}},
    {"math.atan", Singles, Singles, 4, {1, Trend::Rising, -halfTurn / 2, halfTurn / 2}},
    {"math.atan2", Singles, Singles, 4, {1, Trend::Open, -halfTurn, halfTurn}},
    {"math.sinh", Singles, Singles, 1, {1, Trend::Rising}},
    {"math.cosh", Singles, Singles, 1, {1, Trend::Open, 1, infinity}},
    {"math.tanh", Singles, Singles, 4, tangent},
    {"math.asinh", Singles, Singles, 1, {1, Trend::Rising}},
    {"math.acosh", Singles, Singles, 1, {1, Trend::Open, 0, infinity}},
    {"math.atanh", Singles, Singles, 1, function},
    {"math.erf", Singles, Singles, 2, {1, Trend::Rising, -1, 1}},
    {"math.erfc", Singles, Singles, 4, {1, Trend::Falling, 0, 2}},
};

/// What serves in the place of operations that have no row.
static constexpr struct {
  StringLiteral name, instead;
} substitutes[] = {
    {"arith.addui_extended", "arith.addi, and arith.cmpi ult for the carry"},
    {"arith.mulsi_extended", "arith.extsi and arith.muli"},
    {"arith.mului_extended", "arith.extui and arith.muli"},
    {"math.sincos", "math.sin and math.cos"},
    {"math.isnormal", "math.absf and arith.cmpf"},
    {"arith.scaling_extf", "arith.extf and arith.mulf"},
    {"arith.scaling_truncf", "arith.divf and arith.truncf"},
};

unsigned attnc::attn::getRegionType(Type type) {
  if (type.isIndex())
    return Index;
  if (type.isF16())
    return F16;
  if (type.isBF16())
    return BF16;
  if (type.isF32())
    return F32;
  if (type.isF64())
    return F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !integer.isSignless())
    return 0;
  switch (integer.getWidth()) {
  case 1:
    return I1;
  case 8:
    return I8;
  case 16:
    return I16;
  case 32:
    return I32;
  case 64:
    return I64;
  default:
    return 0;
  }
}

std::string attnc::attn::describeRegionTypes(unsigned types) {
  static constexpr StringLiteral names[] = {"i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"};
  SmallVector<StringRef> found;
  for (auto [bit, name] : llvm::enumerate(names))
    if (types >> bit & 1)
      found.push_back(name);
  if (found.size() < 2)
    return found.empty() ? "nothing" : found.front().str();
  StringRef last = found.pop_back_val();
  return llvm::join(found, ", ") + " or " + last.str();
}

ArrayRef<RegionOp> attnc::attn::getRegionOps() { return regionOps; }

const RegionOp *attnc::attn::findRegionOp(StringRef name) {
  static const llvm::StringMap<const RegionOp *> rows = [] {
    llvm::StringMap<const RegionOp *> rows;
    for (const RegionOp &row : regionOps)
      rows[row.name] = &row;
    return rows;
  }();
  return rows.lookup(name);
}

const FunctionFacts &attnc::attn::getFunctionFacts(Operation *op) {
  static constexpr FunctionFacts ofOthers;
  const RegionOp *row = findRegionOp(op->getName().getStringRef());
  return row ? row->facts : ofOthers;
}

LogicalResult attnc::attn::verifyRegionOp(Operation *op, StringRef region) {
  StringRef name = op->getName().getStringRef();
  const RegionOp *row = findRegionOp(name);
  if (!row) {
    InFlightDiagnostic error = op->emitOpError() << "is not admitted in region '" << region << "'";
    const auto *known = llvm::find_if(substitutes, [&](const auto &entry) { return entry.name == name; });
    if (known != std::end(substitutes))
      error << "; use " << known->instead;
    return error << " [S2]";
  }
  auto refuse = [&](StringRef what, unsigned admitted, Type type) -> LogicalResult {
    return op->emitOpError() << "expected " << what << " of " << describeRegionTypes(admitted) << " in region '"
                             << region << "', got " << type << " [S2]";
  };
  for (Value operand : op->getOperands())
    if (!(getRegionType(operand.getType()) & row->operands) &&
        !(isa<arith::SelectOp>(op) && operand == op->getOperand(0)))
      return refuse("operands", row->operands, operand.getType());
  for (Type type : op->getResultTypes())
    if (!(getRegionType(type) & row->results))
      return refuse("a result", row->results, type);
  if (auto cast = dyn_cast<arith::BitcastOp>(op);
      cast && isa<FloatType>(cast.getType()) == isa<FloatType>(cast.getIn().getType()))
    return op->emitOpError("expected a float of an integer, or an integer of a float [S2]");
  if (auto rounded = dyn_cast<arith::ArithRoundingModeInterface>(op))
    if (arith::RoundingModeAttr mode = rounded.getRoundingModeAttr();
        mode && mode.getValue() != arith::RoundingMode::to_nearest_even)
      return op->emitOpError() << "expected to round to nearest, ties to even, got "
                               << arith::stringifyRoundingMode(mode.getValue()) << " [S2]";
  return success();
}
