//===- ElementProgram.cpp - Regions of maps and masks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/ElementProgram.h"
#include "dialect/tile/ShortPower.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;
using tile::columnsOfGroup, tile::columnsOfLane;

bool sim::readElement(const attn::HostArray &view, ArrayRef<int64_t> indices, Number &result) {
  // A stride of 0 broadcasts the one element that there is.
  for (auto [index, size, stride] : llvm::zip_equal(indices, view.shape, view.strides))
    if (index < 0 || size == 0 || (index >= size && stride != 0))
      return false;
  result = loadNumber(*attn::getElementKind(view.elementType), view.data, view.offset(indices));
  return true;
}

ElementLine::ElementLine(const attn::HostArray &view, ArrayRef<int64_t> indices, int64_t axis)
    : kind(*attn::getElementKind(view.elementType)), data(view.data), stride(view.strides[axis]) {
  auto endOf = [](int64_t size, int64_t stride) {
    return size > 0 && stride == 0 ? std::numeric_limits<int64_t>::max() : size;
  };
  end = endOf(view.shape[axis], stride);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (static_cast<int64_t>(dim) == axis)
      continue;
    first += index * view.strides[dim];
    if (index < 0 || index >= endOf(view.shape[dim], view.strides[dim]))
      end = 0;
  }
}

/// Computes powers of 2 by multiply-adds for those columns of a row whose number among their thread's is a multiple of
/// `share`.
static void computeShortPowers(const Number *exponents, Number *row, int64_t columns, int64_t share) {
  for (int64_t column = 0; column < columns; ++column)
    if ((column / columnsOfGroup * columnsOfLane + column % columnsOfLane) % share == 0)
      row[column].f = tile::findShortPower(static_cast<float>(exponents[column].f));
}

/// Multiplies numbers that are linear in the column by `factors`: what is at a thread's column `anchor`, from its first
/// on, is rounded, and the others add to it what they differ by.
static void distribute(const Number *linear, const Number *factors, Number *row, int64_t columns, int64_t anchor) {
  for (int64_t column = 0; column < columns; ++column) {
    int64_t first = column % columnsOfGroup / columnsOfLane * columnsOfLane;
    auto base = static_cast<float>(linear[first + anchor].f), factor = static_cast<float>(factors[column].f);
    row[column].f = std::fma(factor, static_cast<float>(linear[column].f) - base, base * factor);
  }
}

/// Whether `op` is a product that its sum takes as it is.
static bool isContracted(Operation &op) {
  auto isFree = [](auto arithmetic) {
    return arithmetic && bitEnumContainsAll(arithmetic.getFastmath(), arith::FastMathFlags::contract);
  };
  if (!isFree(dyn_cast<arith::MulFOp>(op)) || !op.getResult(0).getType().isF32() || !op.getResult(0).hasOneUse())
    return false;
  Operation *user = *op.user_begin();
  if (!isFree(dyn_cast<arith::AddFOp>(user)) && !isFree(dyn_cast<arith::SubFOp>(user)))
    return false;
  // Of two products, the first is taken.
  auto first = user->getOperand(0).getDefiningOp<arith::MulFOp>();
  return first == &op || !isFree(first) || !first->hasOneUse();
}

/// Makes NaN of all elements of a row that share a reciprocal with NaN, of `count` each. Threads share among their own.
static void spreadNaN(Number *row, int64_t columns, int64_t count) {
  int64_t span = count / columnsOfLane * columnsOfGroup;
  for (int64_t first = 0; first < columns; first += span)
    for (int64_t thread = 0; thread < columnsOfGroup; thread += columnsOfLane) {
      SmallVector<Number *, 8> elements;
      for (int64_t group = first; group < std::min(first + span, columns); group += columnsOfGroup)
        for (int64_t n = 0; n < columnsOfLane; ++n)
          elements.push_back(row + group + thread + n);
      if (llvm::any_of(elements, [](const Number *element) { return std::isnan(element->f); }))
        for (Number *element : elements)
          element->f = std::numeric_limits<double>::quiet_NaN();
    }
}

/// A float as threads have it.
static float narrow(const Number &number) { return static_cast<float>(number.f); }

void ElementProgram::Registers::setShifted(int64_t number, const Number *elements, const Number *shifts) {
  for (int64_t column = 0; column < columns; ++column)
    argument(number)[column].f = narrow(elements[column]) + narrow(shifts[column]);
  shifted[static_cast<int>(number)] = {elements, shifts};
}

std::optional<int> ElementProgram::findShiftedArgument(Operation &op, const tile::RowTerms &terms) {
  auto argument = op.getNumOperands() > 0 ? dyn_cast<BlockArgument>(op.getOperand(0)) : BlockArgument();
  bool isUniform = llvm::all_of(op.getOperands().drop_front(argument ? 1 : 0), [&](Value operand) {
    std::optional<tile::RowTerm> term = terms.find(operand);
    return term && term->isUniform();
  });
  if (!isa<math::FmaOp, arith::AddFOp, arith::SubFOp>(op) || !argument || argument.getOwner() != op.getBlock() ||
      !isUniform)
    return std::nullopt;
  return static_cast<int>(argument.getArgNumber());
}

void ElementProgram::findShiftOfYield(Operation *sum, const tile::RowTerms &terms) {
  if (!sum || !sum->hasAttr(tile::rowShiftAttrName) || lines.empty() || lines.back().op != sum)
    return;
  std::optional<tile::RowTerm> term = terms.find(sum->getOperand(1));
  if (!term || term->isUniform() || term->magnitude)
    return;
  RowShift shift{isa<arith::SubFOp>(sum) ? -1 : 1, term->step, 0, -1};
  if (term->distributed) {
    auto product = llvm::find_if(
        lines, [&](const Line &line) { return line.anchor && line.results[0] == lines.back().operands[1]; });
    if (product == lines.end()) // a product of a product is added as it is
      return;
    shift.anchor = *product->anchor;
    shift.factor = product->operands[product->isLinearSecond ? 0 : 1];
  }
  shiftOfYield = shift;
}

void ElementProgram::runShifted(const Line &line, Registers &registers) const {
  auto [elements, shifts] = registers.shifted.at(line.shiftedArgument);
  for (int64_t column = 0; column < registers.columns; ++column) {
    float last = narrow(registers.at(line.operands.back())[column]);
    auto with = [&](float x, float term) {
      return isa<math::FmaOp>(line.op) ? std::fma(x, narrow(registers.at(line.operands[1])[column]), term) : x + term;
    };
    float term = with(narrow(shifts[column]), isa<arith::SubFOp>(line.op) ? -last : last);
    registers.at(line.results[0])[column].f = with(narrow(elements[column]), term);
  }
}

void ElementProgram::splitShift(const Line &line, Registers &registers) const {
  const Number *whole = registers.at(line.operands[1]);
  for (int64_t column = 0; column < registers.columns; ++column) {
    int64_t first = column % columnsOfGroup / columnsOfLane * columnsOfLane;
    auto distance =
        static_cast<float>(shiftOfYield->sign * shiftOfYield->step * (column - first - shiftOfYield->anchor));
    float factor = shiftOfYield->factor < 0 ? 1 : narrow(registers.at(shiftOfYield->factor)[column]);
    registers.at(line.results[0])[column].f =
        std::fma(factor, distance, narrow(registers.at(line.operands[0])[column]));
    registers.shifts[column].f = static_cast<double>(shiftOfYield->sign) * narrow(whole[first + shiftOfYield->anchor]);
  }
}

LogicalResult ElementProgram::compile(Region &region, llvm::function_ref<int(Value)> numberOf) {
  llvm::DenseMap<Value, int> registers;
  auto add = [&](Value value) {
    int number = static_cast<int>(numRegisters++);
    registers[value] = number;
    return number;
  };
  auto lookUp = [&](Value value) {
    if (auto it = registers.find(value); it != registers.end())
      return it->second;
    int number = add(value);
    captured.emplace_back(number, numberOf(value));
    return number;
  };
  Block &body = region.front();
  tile::RowTerms terms(region.getParentOp());
  for (BlockArgument argument : body.getArguments())
    add(argument);
  for (Operation &op : body.without_terminator()) {
    std::optional<tile::RowRule> rule = terms.add(op);
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      constants.emplace_back(add(op.getResult(0)), toNumber(constant));
      continue;
    }
    Line line;
    line.op = &op;
    ValueRange operands = op.getOperands();
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      line.view = numberOf(load.getMemRef());
      operands = load.getIndices();
    } else if (auto dim = dyn_cast<memref::DimOp>(op); dim && dim.getConstantIndex()) {
      line.view = numberOf(dim.getSource());
      operands = {};
    } else if (!line.element.compile(&op)) {
      return op.emitOpError("has no meaning in the simulator");
    }
    if (auto sharing = op.getAttrOfType<IntegerAttr>(tile::sharedReciprocalAttrName))
      line.sharing = sharing.getInt();
    if (auto share = op.getAttrOfType<IntegerAttr>(tile::multiplyAddShareAttrName))
      line.multiplyAddShare = share.getInt();
    // A second product with the same number rounds both of its parts once more.
    if (rule == tile::RowRule::Product && !terms.find(operands[0])->distributed &&
        !terms.find(operands[1])->distributed) {
      line.anchor = op.getAttrOfType<IntegerAttr>(tile::anchorAttrName).getInt();
      line.isLinearSecond = terms.find(operands[0])->isUniform();
    }
    if (!rule && isContracted(op))
      line.element.keepExact();
    if (!rule)
      line.shiftedArgument = findShiftedArgument(op, terms).value_or(-1);
    for (Value operand : operands)
      line.operands.push_back(lookUp(operand));
    for (Value result : op.getResults())
      line.results.push_back(add(result));
    lines.push_back(std::move(line));
  }
  for (Value value : body.getTerminator()->getOperands())
    yields.push_back(lookUp(value));
  findShiftOfYield(body.getTerminator()->getOperand(0).getDefiningOp(), terms);
  return success();
}

ElementProgram::Registers ElementProgram::makeRegisters(int64_t columns,
                                                        llvm::function_ref<Number(int)> scalarOf) const {
  Registers registers(*this, columns);
  for (auto [number, value] : constants)
    std::fill_n(registers.at(number), columns, value);
  for (auto [number, outside] : captured)
    std::fill_n(registers.at(number), columns, scalarOf(outside));
  return registers;
}

Operation *ElementProgram::run(Registers &registers, llvm::function_ref<const attn::HostArray &(int)> viewOf) const {
  for (const Line &line : lines) {
    SmallVector<const Number *, 4> operands;
    SmallVector<Number *, 2> results;
    for (int number : line.operands)
      operands.push_back(registers.at(number));
    for (int number : line.results)
      results.push_back(registers.at(number));
    if (line.view < 0 && registers.shifted.contains(line.shiftedArgument)) {
      runShifted(line, registers);
      continue;
    }
    if (shiftOfYield && &line == &lines.back()) {
      splitShift(line, registers);
      continue;
    }
    if (line.view < 0) {
      line.element.run(operands, results, registers.columns);
      if (line.sharing > 1)
        spreadNaN(results[0], registers.columns, line.sharing);
      if (line.multiplyAddShare)
        computeShortPowers(operands[0], results[0], registers.columns, line.multiplyAddShare);
      if (line.anchor)
        distribute(operands[line.isLinearSecond ? 1 : 0], operands[line.isLinearSecond ? 0 : 1], results[0],
                   registers.columns, *line.anchor);
      continue;
    }
    const attn::HostArray &view = viewOf(line.view);
    if (auto dim = dyn_cast<memref::DimOp>(line.op)) {
      Number size;
      size.i = view.shape[*dim.getConstantIndex()];
      std::fill_n(results[0], registers.columns, size);
      continue;
    }
    SmallVector<int64_t, 4> indices(operands.size());
    for (int64_t n = 0; n < registers.columns; ++n) {
      for (auto [index, operand] : llvm::zip_equal(indices, operands))
        index = operand[n].i;
      if (!readElement(view, indices, results[0][n]))
        return line.op;
    }
  }
  return nullptr;
}
