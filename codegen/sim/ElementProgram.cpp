//===- ElementProgram.cpp - Regions of maps and masks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/ElementProgram.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

bool sim::readElement(const attn::HostArray &view, ArrayRef<int64_t> indices, Number &result) {
  // A stride of 0 broadcasts the one element that there is.
  for (auto [index, size, stride] : llvm::zip_equal(indices, view.shape, view.strides))
    if (index < 0 || size == 0 || (index >= size && stride != 0))
      return false;
  result = loadNumber(*attn::getElementKind(view.elementType), view.data, view.offset(indices));
  return true;
}

/// Makes NaN of all elements of a row that share a reciprocal with NaN, of `count` each. Of each eight columns a thread
/// has two neighbours, and shares among its own.
static void spreadNaN(Number *row, int64_t columns, int64_t count) {
  constexpr int64_t columnsOfGroup = 8, columnsOfThread = 2;
  int64_t span = count / columnsOfThread * columnsOfGroup;
  for (int64_t first = 0; first < columns; first += span)
    for (int64_t thread = 0; thread < columnsOfGroup; thread += columnsOfThread) {
      SmallVector<Number *, 8> elements;
      for (int64_t group = first; group < std::min(first + span, columns); group += columnsOfGroup)
        for (int64_t n = 0; n < columnsOfThread; ++n)
          elements.push_back(row + group + thread + n);
      if (llvm::any_of(elements, [](const Number *element) { return std::isnan(element->f); }))
        for (Number *element : elements)
          element->f = std::numeric_limits<double>::quiet_NaN();
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
  for (BlockArgument argument : body.getArguments())
    add(argument);
  for (Operation &op : body.without_terminator()) {
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
    for (Value operand : operands)
      line.operands.push_back(lookUp(operand));
    for (Value result : op.getResults())
      line.results.push_back(add(result));
    lines.push_back(std::move(line));
  }
  for (Value value : body.getTerminator()->getOperands())
    yields.push_back(lookUp(value));
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
    if (line.view < 0) {
      line.element.run(operands, results, registers.columns);
      if (line.sharing > 1)
        spreadNaN(results[0], registers.columns, line.sharing);
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
