//===- AgentCompute.cpp - Steps that nobody else sees -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Agent.h"
#include "dialect/tile/BlockedRows.h"
#include "dialect/tile/Philox.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

bool Agent::compute(const Instruction &instruction) {
  switch (instruction.action) {
  case Action::Element:
    return computeElement(instruction);
  case Action::Step: {
    int number = instruction.results[0];
    auto array = std::make_shared<Array>(rowsOf(number), 1);
    for (int64_t row = 0; row < array->rows; ++row)
      array->data[row].i = part * array->rows + row;
    values[number].array = std::move(array);
    return true;
  }
  case Action::ReadView:
    return readView(instruction);
  case Action::Dim: {
    auto dim = cast<memref::DimOp>(instruction.op);
    int64_t number = held(dim.getIndex()).number.i;
    values[instruction.results[0]].number.i = block.device.getView(dim.getSource()).shape[number];
    return true;
  }
  case Action::Part: {
    auto rows = static_cast<int64_t>(cast<tile::PartOp>(instruction.op).getCount()) / parts;
    values[instruction.results[0]].number.i = part * rows;
    values[instruction.results[1]].number.i = (part + 1) * rows;
    return true;
  }
  case Action::Map:
    return computeMap(instruction);
  case Action::Philox:
    return computePhilox(instruction);
  case Action::Reduce:
    return computeReduce(instruction);
  case Action::LanePartial:
    return computeLanePartial(instruction);
  case Action::WarpReduce:
    return computeWarpReduce(instruction);
  case Action::BlockReduce:
    return readRows(instruction);
  case Action::Any: {
    const auto &rows = values[instruction.operands[0]].array->data;
    values[instruction.results[0]].number.i = llvm::any_of(rows, [](const Number &row) { return row.i != 0; });
    return true;
  }
  case Action::Product:
    return computeProduct(instruction);
  case Action::LoadTile:
    return loadTile(instruction);
  case Action::Read:
    return readTile(instruction);
  case Action::Row:
    return readRow(instruction);
  case Action::StoreTile:
    return storeTile(cast<tile::StoreOp>(instruction.op));
  case Action::Scatter:
    return scatterTile(cast<tile::ScatterOp>(instruction.op));
  case Action::MinMax:
    return computeMinMax(instruction);
  case Action::NoteStep: {
    bool some = values[instruction.operands[0]].number.i, all = values[instruction.operands[1]].number.i;
    if (some)
      (all ? fullSteps : otherSteps).push_back(held(cast<tile::BlockMaskOp>(instruction.op).getStart()).number.i);
    return true;
  }
  case Action::ListSteps:
    return listSteps(cast<tile::BlockMaskOp>(instruction.op));
  default:
    llvm_unreachable("others see it");
  }
}

/// What the lanes that share a row hold of `array`: values of rows that they hold parts of have a column for each, and
/// those that they agree on have one.
static const Number &heldBy(const Array &array, int64_t row, int64_t lane) {
  return array.row(row)[array.columns == 1 ? 0 : lane];
}

/// An operation on numbers, or on all elements of vectors.
bool Agent::computeElement(const Instruction &instruction) {
  auto type = dyn_cast<VectorType>(code.typeOf(instruction.results[0]));
  int64_t rows = type ? rowsOf(instruction.results[0]) : 1;
  int64_t columns = type && type.getRank() == 2 ? type.getDimSize(1) : 1;
  for (int number : instruction.operands)
    if (const auto &array = values[number].array; type && array)
      columns = std::max(columns, array->columns);
  int64_t count = rows * columns;
  SmallVector<const Number *, 4> operands;
  SmallVector<std::vector<Number>, 4> spread(instruction.operands.size());
  for (auto [number, room] : llvm::zip_equal(instruction.operands, spread)) {
    const Held &value = values[number];
    if (!type) {
      operands.push_back(&value.number);
    } else if (value.array && value.array->columns == columns) {
      operands.push_back(value.array->data.data());
    } else if (value.array) {
      for (int64_t row = 0; row < rows; ++row)
        room.insert(room.end(), columns, value.array->row(row)[0]);
      operands.push_back(room.data());
    } else {
      room.assign(count, value.number);
      operands.push_back(room.data());
    }
  }
  SmallVector<Number *, 2> results;
  SmallVector<std::shared_ptr<Array>, 2> arrays;
  SmallVector<Number, 2> numbers(instruction.results.size());
  for (Number &number : numbers) {
    if (type)
      arrays.push_back(std::make_shared<Array>(rows, columns));
    results.push_back(type ? arrays.back()->data.data() : &number);
  }
  code.elements[instruction.payload].run(operands, results, count);
  for (auto [n, number] : llvm::enumerate(instruction.results)) {
    if (type)
      values[number].array = std::move(arrays[n]);
    else
      values[number].number = numbers[n];
  }
  return true;
}

/// The argument of the program that `view` is made of, with `indices` into that.
Value Agent::resolve(Value view, Numbers &indices) {
  auto cast = view.getDefiningOp<memref::ReinterpretCastOp>();
  if (!cast)
    return view;
  auto numberOf = [&](OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return held(value).number.i;
    return mlir::cast<IntegerAttr>(mlir::cast<Attribute>(size)).getInt();
  };
  int64_t position = numberOf(cast.getMixedOffsets().front());
  for (auto [index, stride] : llvm::zip_equal(indices, cast.getMixedStrides()))
    position += index * numberOf(stride);
  const attn::HostArray &whole = block.device.getView(cast.getSource());
  indices.resize(whole.shape.size());
  for (auto [index, size] : llvm::reverse(llvm::zip_equal(indices, whole.shape))) {
    index = size > 0 ? position % size : 0;
    position = size > 0 ? position / size : position + 1;
  }
  indices.front() += position * whole.shape.front(); // outside, where anything is left
  return cast.getSource();
}

/// The element of a view; false where it is outside.
bool Agent::readAt(Value view, ArrayRef<int64_t> indices, Number &number) {
  Numbers at(indices);
  Value whole = resolve(view, at);
  return readElement(block.device.getView(whole), at, number);
}

bool Agent::readView(const Instruction &instruction) {
  auto load = cast<memref::LoadOp>(instruction.op);
  Number number;
  if (!readAt(load.getMemRef(), numbersOf(load.getIndices()), number)) {
    fail(load) << "reads outside of the tensor";
    return false;
  }
  values[instruction.results[0]].number = number;
  return true;
}

/// Maps, and masks, which put -inf where they do not keep.
bool Agent::computeMap(const Instruction &instruction) {
  auto map = dyn_cast<tile::MapOp>(instruction.op);
  auto mask = dyn_cast<tile::MaskOp>(instruction.op);
  size_t numTiles = map ? map.getTiles().size() : mask.getTiles().size();
  size_t numRows = map ? map.getRows().size() : mask.getRows().size();
  size_t numCols = map ? map.getCols().size() : mask.getCols().size();
  auto type = cast<VectorType>(instruction.op->getResult(0).getType());
  int64_t rows = rowsOf(instruction.results[0]), columns = type.getDimSize(1);
  ArrayRef<int> operands = instruction.operands;
  const ElementProgram &program = code.regions[instruction.payload];
  auto registers = program.makeRegisters(columns, [&](int number) { return values[number].number; });
  for (size_t n = 0; n < numCols; ++n)
    std::copy_n(values[operands[numTiles + numRows + n]].array->data.data(), columns,
                registers.argument(static_cast<int64_t>(numTiles + numRows + n)));
  size_t coordinates = numTiles + numRows + numCols;
  auto group = static_cast<int64_t>(map ? map.getGroup() : mask.getGroup());
  int64_t i = values[operands[coordinates]].number.i, j = values[operands[coordinates + 1]].number.i;
  for (int64_t column = 0; column < columns; ++column)
    registers.argument(static_cast<int64_t>(coordinates) + 1)[column].i = j + column;
  SmallVector<std::shared_ptr<Array>, 2> results;
  for (size_t n = 0; n < instruction.results.size(); ++n)
    results.push_back(std::make_shared<Array>(rows, columns));
  Number dropped;
  dropped.f = -std::numeric_limits<double>::infinity();
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t n = 0; n < numTiles; ++n) {
      const Array &tile = *values[operands[n]].array;
      if (tile.shifts.empty())
        std::copy_n(tile.row(row), columns, registers.argument(static_cast<int64_t>(n)));
      else
        registers.setShifted(static_cast<int64_t>(n), tile.row(row), tile.shifts.data() + row * columns);
    }
    for (size_t n = 0; n < numRows; ++n)
      std::fill_n(registers.argument(static_cast<int64_t>(numTiles + n)), columns,
                  values[operands[numTiles + n]].array->data[row]);
    Number position;
    position.i = i + (part * rows + row) / group;
    std::fill_n(registers.argument(static_cast<int64_t>(coordinates)), columns, position);
    auto viewOf = [&](int number) -> const attn::HostArray & {
      for (auto [outside, value] : code.getOutside())
        if (outside == number)
          return block.device.getView(value);
      llvm_unreachable("a tensor is an argument of the program");
    };
    if (Operation *at = program.run(registers, viewOf)) {
      fail(at) << "reads outside of the tensor";
      return false;
    }
    for (auto [n, result] : llvm::enumerate(results)) {
      const Number *yielded = registers.yielded(static_cast<int64_t>(n));
      if (map) {
        std::copy_n(yielded, columns, result->row(row));
        if (const Number *shifts = registers.getShifts())
          result->shifts.insert(result->shifts.end(), shifts, shifts + columns);
        continue;
      }
      const Number *whole = values[operands[0]].array->row(row);
      for (int64_t column = 0; column < columns; ++column)
        result->row(row)[column] = yielded[column].i ? whole[column] : dropped;
    }
  }
  if (mask)
    results.front()->shifts = values[operands[0]].array->shifts;
  for (auto [number, result] : llvm::zip_equal(instruction.results, results))
    values[number].array = std::move(result);
  return true;
}

/// The numbers of the agent's rows. Threads share calls within blocks, from whose starts they count.
bool Agent::computePhilox(const Instruction &instruction) {
  auto op = cast<tile::PhiloxOp>(instruction.op);
  auto operand = [&](size_t number) { return values[instruction.operands[number]].number.i; };
  int64_t i = operand(3), j = operand(4);
  if (i % tile::philoxBlock != 0 || j % tile::philoxBlock != 0) {
    fail(op) << "starts within a block of " << tile::philoxBlock << " at query " << i << " and key " << j;
    return false;
  }
  auto result = std::make_shared<Array>(rowsOf(instruction.results[0]), cast<VectorType>(op.getType()).getDimSize(1));
  auto narrow = [](int64_t x) { return static_cast<uint32_t>(x); };
  for (int64_t row = 0; row < result->rows; ++row)
    for (int64_t column = 0; column < result->columns; ++column) {
      int64_t ofTile = part * result->rows + row;
      int64_t query = i + (op.getTransposed() ? column : ofTile), key = j + (op.getTransposed() ? ofTile : column);
      result->row(row)[column].i = tile::findPhiloxNumber(static_cast<uint64_t>(operand(0)), narrow(operand(1)),
                                                          narrow(operand(2)), narrow(query), narrow(key));
    }
  values[instruction.results[0]].array = std::move(result);
  return true;
}

bool Agent::computeReduce(const Instruction &instruction) {
  auto reduce = cast<tile::ReduceOp>(instruction.op);
  bool isMax = reduce.getKind() == tile::ReduceKind::Max;
  const Array &source = *values[instruction.operands[0]].array, &acc = *values[instruction.operands[1]].array;
  int64_t lanes = reduce.getPartial() ? tile::lanesOfRow : 1;
  auto result = std::make_shared<Array>(source.rows, lanes);
  for (int64_t row = 0; row < source.rows; ++row)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      double joined = heldBy(acc, row, lane).f;
      for (int64_t group = 2 * lane; group < source.columns; group += 2 * lanes)
        for (int64_t column = group; column < std::min(group + 2, source.columns); ++column) {
          double element = source.row(row)[column].f;
          if (!source.shifts.empty())
            element = static_cast<float>(element + source.shifts[row * source.columns + column].f);
          joined = isMax ? std::fmax(joined, element) : joined + element;
        }
      result->row(row)[lane].f = static_cast<float>(joined);
    }
  values[instruction.results[0]].array = std::move(result);
  return true;
}

/// The first lane has all of a row's number, the others 0.
bool Agent::computeLanePartial(const Instruction &instruction) {
  const Array &whole = *values[instruction.operands[0]].array;
  auto result = std::make_shared<Array>(whole.rows, tile::lanesOfRow);
  for (int64_t row = 0; row < whole.rows; ++row)
    for (int64_t lane = 0; lane < tile::lanesOfRow; ++lane)
      result->row(row)[lane].f = lane == 0 ? heldBy(whole, row, 0).f : 0.0;
  values[instruction.results[0]].array = std::move(result);
  return true;
}

/// The sum of what the lanes have, or the greatest of it.
bool Agent::computeWarpReduce(const Instruction &instruction) {
  bool isMax = cast<tile::WarpReduceOp>(instruction.op).getMax();
  const Array &parts = *values[instruction.operands[0]].array;
  auto result = std::make_shared<Array>(parts.rows, 1);
  for (int64_t row = 0; row < parts.rows; ++row) {
    double joined = heldBy(parts, row, 0).f;
    for (int64_t lane = 1; lane < tile::lanesOfRow; ++lane) {
      double part = heldBy(parts, row, lane).f;
      joined = isMax ? std::fmax(joined, part) : static_cast<float>(joined + part);
    }
    result->row(row)[0].f = joined;
  }
  values[instruction.results[0]].array = std::move(result);
  return true;
}

void sim::moveToBlocked(MutableArrayRef<int64_t> indices, int64_t columns, bool interleaved) {
  int64_t position = tile::BlockedRows::positionOf(indices[0], indices[1], columns, interleaved);
  indices[0] = position / columns;
  indices[1] = position % columns;
}

/// Goes from a row of a sequence to where a page holds it; false where the table has no entry for it.
bool Agent::moveToPage(TypedValue<MemRefType> pages, MemRefType view, Numbers &at) {
  int64_t rows = view.getDimSize(1);
  Number page;
  if (!readAt(pages, {at[0], at[1] / rows}, page))
    return false;
  at[0] = page.i;
  at[1] %= rows;
  return true;
}

bool Agent::loadTile(const Instruction &instruction) {
  auto load = cast<tile::LoadOp>(instruction.op);
  VectorType type = load.getResult().getType();
  int number = instruction.results[0];
  auto array = std::make_shared<Array>(rowsOf(number), type.getRank() == 2 ? type.getDimSize(1) : 1);
  Numbers first = numbersOf(load.getIndices()), limits = numbersOf(load.getLimits());
  ArrayRef<int64_t> axes = load.getAxes();
  tile::RowGroup group = load.getRowGroup();
  TypedValue<MemRefType> view = load.getView(), pages = load.getPages();
  bool isOfColumns = tile::isColumnVector(type), isBlocked = load.getBlocked(), isInterleaved = load.getInterleaved();
  for (int64_t row = 0; row < array->rows; ++row)
    for (int64_t column = 0; column < array->columns; ++column) {
      Numbers at = first;
      bool inside = true;
      if (!isOfColumns) {
        group.move(at, axes[0], part * array->rows + row);
        inside = at[axes[0]] < limits[0];
      }
      if (isOfColumns || axes.size() == 2) {
        at[axes.back()] += column;
        inside &= at[axes.back()] < limits.back();
      }
      Number &element = array->row(row)[column];
      element.i = 0; // the bits of a float's 0 as well
      if (inside && isBlocked)
        moveToBlocked(at, array->columns, isInterleaved);
      bool hasPage = !inside || !pages || moveToPage(pages, view.getType(), at);
      if (inside && (!hasPage || !readAt(view, at, element))) {
        fail(load) << "reads outside of the tensor";
        return false;
      }
    }
  values[number].array = std::move(array);
  return true;
}

bool Agent::storeTile(tile::StoreOp store) {
  const Array &array = *held(store.getValue()).array;
  Numbers first = numbersOf(store.getIndices()), limits = numbersOf(store.getLimits());
  ArrayRef<int64_t> axes = store.getAxes();
  tile::RowGroup group = store.getRowGroup();
  bool isBlocked = store.getBlocked(), isInterleaved = store.getInterleaved(), adds = store.getAccumulate();
  std::string who = name();
  for (int64_t row = 0; row < array.rows; ++row)
    for (int64_t column = 0; column < array.columns; ++column) {
      Numbers at = first;
      group.move(at, axes[0], part * array.rows + row);
      bool inside = at[axes[0]] < limits[0];
      if (axes.size() == 2) {
        at[axes[1]] += column;
        inside &= at[axes[1]] < limits[1];
      }
      if (!inside)
        continue;
      if (isBlocked)
        moveToBlocked(at, array.columns, isInterleaved);
      Value view = resolve(store.getView(), at);
      if (adds ? !block.device.add(store, who, view, at, array.row(row)[column])
               : !block.device.store(store, who, writer(), view, at, array.row(row)[column]))
        return false;
    }
  return true;
}

bool Agent::scatterTile(tile::ScatterOp scatter) {
  const Array &array = *held(scatter.getValue()).array;
  auto places = llvm::map_to_vector(scatter.getPlaces(), [&](Value tile) { return held(tile).array.get(); });
  Numbers first = numbersOf(scatter.getIndices());
  std::string who = name();
  for (int64_t row = 0; row < array.rows; ++row)
    for (int64_t column = 0; column < array.columns; ++column) {
      if (array.row(row)[column].f == 0)
        continue;
      Numbers at = first;
      for (auto [axis, place] : llvm::zip_equal(scatter.getAxes(), places))
        at[axis] += place->row(row)[column].i;
      Value view = resolve(scatter.getView(), at);
      if (!block.device.add(scatter, who, view, at, array.row(row)[column]))
        return false;
    }
  return true;
}

bool Agent::computeMinMax(const Instruction &instruction) {
  auto minMax = cast<tile::MinMaxOp>(instruction.op);
  const attn::HostArray &view = block.device.getView(minMax.getView());
  Numbers first = numbersOf(minMax.getFirst()), last = numbersOf(minMax.getLast()), at = first;
  unsigned width = cast<IntegerType>(minMax.getView().getType().getElementType()).getWidth();
  bool isBool = width == 1;
  int64_t least = isBool ? 1 : std::numeric_limits<int64_t>::max() >> (64 - width);
  int64_t greatest = isBool ? 0 : std::numeric_limits<int64_t>::min() >> (64 - width);
  bool empty =
      llvm::any_of(llvm::zip_equal(first, last), [](auto pair) { return std::get<0>(pair) > std::get<1>(pair); });
  // Code for a GPU loads no more.
  if (std::optional<uint64_t> most = minMax.getMost();
      most && !empty && last.back() - first.back() >= static_cast<int64_t>(*most)) {
    fail(minMax) << "takes " << last.back() - first.back() + 1 << " elements along the last dimension, of at most "
                 << *most;
    return false;
  }
  auto lastDim = static_cast<int64_t>(at.size()) - 1;
  while (!empty) {
    ElementLine line(view, at, lastDim);
    for (int64_t index = first.back(); index <= last.back(); ++index) {
      Number number;
      if (!line.read(index, number)) {
        fail(minMax) << "reads outside of the tensor";
        return false;
      }
      int64_t value = isBool ? number.i != 0 : number.i;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    int64_t dim = lastDim - 1;
    while (dim >= 0 && at[dim] == last[dim]) {
      at[dim] = first[dim];
      --dim;
    }
    if (dim < 0)
      break;
    ++at[dim];
  }
  values[instruction.results[0]].number.i = isBool ? -least : least;
  values[instruction.results[1]].number.i = isBool ? -greatest : greatest;
  return true;
}

/// Writes the list of a block mask from what was noted of each step. The first warp does it for the block.
bool Agent::listSteps(tile::BlockMaskOp blockMask) {
  std::vector<int64_t> row{static_cast<int64_t>(fullSteps.size()),
                           static_cast<int64_t>(fullSteps.size() + otherSteps.size())};
  row.insert(row.end(), fullSteps.begin(), fullSteps.end());
  row.insert(row.end(), otherSteps.begin(), otherSteps.end());
  row.push_back(0);
  fullSteps.clear();
  otherSteps.clear();
  bool isAmongFloats = isa<FloatType>(cast<MemRefType>(blockMask.getList().getType()).getElementType());
  for (size_t column = 0; part == 0 && column < row.size(); ++column) {
    Numbers indices{held(blockMask.getRow()).number.i, static_cast<int64_t>(column)};
    Value list = resolve(blockMask.getList(), indices);
    Number number;
    if (isAmongFloats)
      number.f = llvm::bit_cast<float>(static_cast<int32_t>(row[column]));
    else
      number.i = row[column];
    if (!block.device.store(blockMask, name(), party, list, indices, number))
      return false;
  }
  return true;
}
