//===- AgentProduct.cpp - Products and what they read -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Agent.h"
#include <array>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

bool Agent::computeProduct(const Instruction &instruction) {
  auto mma = cast<tile::MmaOp>(instruction.op);
  Product product;
  product.op = mma;
  product.a = values[instruction.operands[0]];
  product.b = values[instruction.operands[1]];
  product.sum = values[instruction.operands[2]].array;
  product.columns = mma.getResult().getType().getDimSize(1);
  product.transposed = mma.getTransposed();
  product.leftTransposed = mma.getLeftTransposed();
  SharedMemory::Stamp stamp{party, clock.at(party), Access::Product, mma};
  for (const Held *operand : {&product.a, &product.b})
    if (operand->ring && !readSharedTile(*operand, mma, stamp, clock))
      return false;
  if (!multiply(product))
    return false;
  values[instruction.results[0]].array = product.result;
  return true;
}

/// The transpose of a tile of `columns` columns.
static std::vector<float> turned(const std::vector<float> &tile, int64_t columns) {
  std::vector<float> result(tile.size());
  auto rows = static_cast<int64_t>(tile.size()) / columns;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      result[column * rows + row] = tile[row * columns + column];
  return result;
}

/// Appends what a tile in shared memory holds now.
bool Agent::appendSharedTile(const Held &shared, Operation *op, std::vector<float> &all) {
  bool early = false, late = false;
  for (const StagePart &rows : shared.ring->stageOf(shared.round).parts) {
    early |= !rows.data || rows.round < shared.round;
    late |= rows.round > shared.round;
    if (!early && !late)
      all.insert(all.end(), rows.data->begin(), rows.data->end());
  }
  if (!early && !late)
    return true;
  fail(op) << (early ? "read of a buffer that has not arrived" : "buffer overwritten while a product reads it") << " ("
           << shared.ring->name() << "; " << block.device.interleaving << ")";
  return false;
}

/// Reads all of the tile in shared memory that is the operand of `instruction`.
bool Agent::readAll(const Instruction &instruction, std::vector<float> &all) {
  const Held &shared = values[instruction.operands[0]];
  return readSharedTile(shared, instruction.op, {party, clock.at(party), Access::Read, instruction.op}, clock) &&
         appendSharedTile(shared, instruction.op, all);
}

/// One row of a tile that a ring brought.
bool Agent::readRow(const Instruction &instruction) {
  auto row = cast<tile::RowOp>(instruction.op);
  std::vector<float> all;
  if (!readAll(instruction, all))
    return false;
  int64_t columns = tile::getTileType(row.getTile()).getDimSize(1);
  auto array = std::make_shared<Array>(1, columns);
  for (int64_t column = 0; column < columns; ++column)
    array->data[column].f = all[row.getNumber() * columns + column];
  values[instruction.results[0]].array = std::move(array);
  return true;
}

/// What all have of the agent's rows. Agents have whole rows, so that each of them has shared what others would join.
bool Agent::readRows(const Instruction &instruction) {
  std::vector<float> all;
  if (!readAll(instruction, all))
    return false;
  auto array = std::make_shared<Array>(static_cast<int64_t>(all.size()) / parts, 1);
  for (int64_t row = 0; row < array->rows; ++row)
    array->data[row].f = all[part * array->rows + row];
  values[instruction.results[0]].array = std::move(array);
  return true;
}

/// The agent's own rows of a tile that a ring brought.
bool Agent::readTile(const Instruction &instruction) {
  auto read = cast<tile::ReadOp>(instruction.op);
  std::vector<float> all;
  if (!readAll(instruction, all))
    return false;
  auto type = cast<VectorType>(read.getResult().getType());
  auto array = std::make_shared<Array>(type.getDimSize(0) / parts, type.getDimSize(1));
  if (read.getTransposed())
    all = turned(all, type.getDimSize(0));
  for (size_t n = 0; n < array->data.size(); ++n)
    array->data[n].f = all[part * array->data.size() + n];
  values[instruction.results[0]].array = std::move(array);
  return true;
}

/// Adds to a row of sums the products of a row on the left with the rows of `right`, one after the other. As many sums
/// as fit stay in registers.
[[gnu::always_inline]] static inline void addProducts(ArrayRef<float> left, const double *__restrict right,
                                                      MutableArrayRef<double> sums) {
  constexpr size_t inRegisters = 32;
  size_t columns = sums.size(), first = 0;
  for (; first + inRegisters <= columns; first += inRegisters) {
    std::array<double, inRegisters> line;
    std::copy_n(sums.begin() + first, inRegisters, line.begin());
    for (size_t k = 0; k < left.size(); ++k)
      for (size_t n = 0; n < inRegisters; ++n)
        line[n] += static_cast<double>(left[k]) * right[k * columns + first + n];
    std::copy_n(line.begin(), inRegisters, sums.begin() + first);
  }
  for (size_t k = 0; k < left.size(); ++k)
    for (size_t n = first; n < columns; ++n)
      sums[n] += static_cast<double>(left[k]) * right[k * columns + n];
}

#ifdef __x86_64__
/// The same for processors that `hasFusedDoubles`.
[[gnu::target("avx2,fma")]] static void addFusedProducts(ArrayRef<float> left, const double *__restrict right,
                                                         MutableArrayRef<double> sums) {
  addProducts(left, right, sums);
}

static bool hasFusedDoubles() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
constexpr auto addFusedProducts = addProducts;

static bool hasFusedDoubles() { return false; }
#endif

/// Computes the result of a product from what its operands hold now. A sum is rounded once: what the order of its terms
/// costs is the machine's affair.
bool Agent::multiply(Product &product) {
  const Array &sum = *product.sum;
  int64_t rows = sum.rows, columns = product.columns;
  std::vector<float> left, right;
  if (product.a.ring) {
    std::vector<float> all;
    if (!appendSharedTile(product.a, product.op, all))
      return false;
    if (product.leftTransposed)
      all = turned(all, rows * parts);
    int64_t own = static_cast<int64_t>(all.size()) / parts;
    left.assign(all.begin() + part * own, all.begin() + (part + 1) * own);
  } else {
    for (Number number : product.a.array->data)
      left.push_back(static_cast<float>(number.f));
  }
  int64_t depth = static_cast<int64_t>(left.size()) / rows;
  if (product.b.ring) {
    if (!appendSharedTile(product.b, product.op, right))
      return false;
  } else {
    for (Number number : product.b.array->data)
      right.push_back(static_cast<float>(number.f));
  }
  if (product.transposed)
    right = turned(right, depth);
  // Where processors have fused operations, they give the same bits: an f64 holds all digits of a product of f32.
  std::vector<double> wide(right.begin(), right.end()), line(columns);
  auto add = hasFusedDoubles() ? addFusedProducts : addProducts;
  auto result = std::make_shared<Array>(rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t n = 0; n < columns; ++n)
      line[n] = sum.row(row)[n].f;
    add(ArrayRef(left).slice(row * depth, depth), wide.data(), line);
    for (int64_t n = 0; n < columns; ++n)
      result->row(row)[n].f = static_cast<float>(line[n]);
  }
  product.result = std::move(result);
  product.done = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//
