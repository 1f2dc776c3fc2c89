//===- RandomInputs.cpp - Inputs to test a kernel with ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/RandomInputs.h"
#include "codegen/describe/Types.h"
#include "dialect/attn/AttnOps.h"
#include "runtime/Random.h"
#include "runtime/ThreadPool.h"
#include "runtime/jit/ReferenceKernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <unistd.h>

using namespace attnc;
using namespace attnc::jit;
using attn::ArgumentUse;
using image::Result;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// Draws the arguments of one kernel.
class Drawer {
public:
  Drawer(const attn::KernelFunction &kernel, const Shapes &shapes, const RandomOptions &options)
      : kernel(kernel), shapes(shapes), options(options) {}

  /// Draws argument `index`.
  Result<ArgValue> draw(unsigned index);

private:
  ArgValue drawScalar(const attn::KernelArgument &argument, unsigned index) const;
  void fill(const Tensor &tensor, const attn::KernelArgument &argument, unsigned index) const;
  void fillLengths(const Tensor &tensor, int64_t limit, uint64_t stream) const;
  void fillOffsets(const Tensor &tensor, int64_t total) const;
  void fillSegments(const Tensor &tensor) const;
  void fillPages(const Tensor &table, int64_t pages, uint64_t stream) const;
  void fillValues(const Tensor &tensor, uint64_t stream) const;
  int64_t countPages(unsigned index) const;
  bool isValueLike(unsigned index) const;
  bool isReadByMasks(unsigned index) const;

  /// An integer in [0, limit].
  int64_t integerAt(uint64_t stream, uint64_t index, int64_t limit) const {
    double value = image::uniformAt(options.seed, stream, index) * static_cast<double>(limit + 1);
    return std::min(static_cast<int64_t>(value), limit);
  }

  const attn::KernelFunction &kernel;
  const Shapes &shapes;
  const RandomOptions &options;
};

/// Streams that several arguments share, so that they fit each other; arguments have their index as stream.
constexpr uint64_t offsetsStream = 1000, segmentsStream = 1001;

} // namespace

/// Whether argument `index` holds queries, keys or values of a kernel.
bool Drawer::isValueLike(unsigned index) const {
  mlir::func::FuncOp function = kernel.function;
  mlir::Value value = function.getArgument(index);
  return llvm::any_of(kernel.kernels, [&](attn::KernelOpInterface op) {
    return value == op.getQuery() || value == op.getKey() || value == op.getValueOrNull();
  });
}

/// Pages that each kernel has for which argument `index` is the table.
int64_t Drawer::countPages(unsigned index) const {
  mlir::func::FuncOp function = kernel.function;
  int64_t pages = std::numeric_limits<int64_t>::max();
  for (attn::KernelOpInterface op : kernel.kernels)
    if (op.getPageTable() == function.getArgument(index)) {
      unsigned keys = mlir::cast<mlir::BlockArgument>(op.getKey()).getArgNumber();
      pages = std::min(pages, shapes.shapeOf(kernel.inputs[keys]).front());
    }
  return pages;
}

/// Whether a mask reads elements of the argument.
bool Drawer::isReadByMasks(unsigned index) const {
  mlir::func::FuncOp function = kernel.function;
  mlir::Value value = function.getArgument(index);
  return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
    return llvm::any_of(kernel.kernels,
                        [&](attn::KernelOpInterface op) { return op.getMask().isAncestor(user->getParentRegion()); });
  });
}

ArgValue Drawer::drawScalar(const attn::KernelArgument &argument, unsigned index) const {
  attn::KernelOpInterface op = kernel.kernels.front();
  int64_t queries = shapes.queryRows(), keys = shapes.keyRows();
  // What several uses take first: a probability is a cap and a scale as well.
  if (argument.isUsedAs(ArgumentUse::Probability))
    return 0.1;
  if (argument.isUsedAs(ArgumentUse::Scale))
    return 1 / std::sqrt(static_cast<double>(op.getHeadDim()));
  if (argument.isUsedAs(ArgumentUse::Cap))
    return 30.0;
  if (argument.isUsedAs(ArgumentUse::QueryOffset))
    return op.getAlign() == attn::Alignment::TopLeft ? std::max<int64_t>(keys - queries, 0) : integerAt(index, 0, 3);
  if (argument.isUsedAs(ArgumentUse::Window))
    return keys / 4;
  if (argument.isUsedAs(ArgumentUse::Seed))
    return integerAt(index, 0, int64_t(1) << 52);
  if (mlir::isa<mlir::FloatType>(argument.type))
    return image::normalAt(options.seed, index, 0);
  return argument.type.isInteger(1) ? integerAt(index, 0, 1) : integerAt(index, 0, 7);
}

/// Full, partial, empty and single sequences in turn, from a random one on.
void Drawer::fillLengths(const Tensor &tensor, int64_t limit, uint64_t stream) const {
  for (int64_t n = 0, count = tensor.numElements(); n < count; ++n) {
    auto position = static_cast<uint64_t>(n);
    switch (count < 3 ? 0 : (position + options.seed) % 5) {
    case 3:
      tensor.storeLinear(n, 0);
      break;
    case 4:
      tensor.storeLinear(n, static_cast<double>(std::min<int64_t>(1, limit)));
      break;
    case 2:
      tensor.storeLinear(n, static_cast<double>(limit));
      break;
    default:
      tensor.storeLinear(n, static_cast<double>(integerAt(stream, position, limit)));
    }
  }
}

/// Cuts `total` rows at random places, two of them equal where there are enough. Queries and keys are cut alike, so
/// that two tensors of one total describe the same sequences.
void Drawer::fillOffsets(const Tensor &tensor, int64_t total) const {
  int64_t last = tensor.numElements() - 1;
  if (last < 0)
    return;
  std::vector<int64_t> cuts(static_cast<size_t>(last) + 1, 0);
  for (int64_t n = 1; n < last; ++n)
    cuts[static_cast<size_t>(n)] = integerAt(offsetsStream, static_cast<uint64_t>(n), total);
  cuts.back() = total;
  std::sort(cuts.begin(), cuts.end());
  if (last >= 4)
    cuts[static_cast<size_t>(last / 2)] = cuts[static_cast<size_t>(last / 2) - 1];
  for (int64_t n = 0; n <= last; ++n)
    tensor.storeLinear(n, static_cast<double>(cuts[static_cast<size_t>(n)]));
}

/// Documents of random lengths along the last dimension, the same cuts (as fractions) for every tensor; the last
/// sixteenth is padding.
void Drawer::fillSegments(const Tensor &tensor) const {
  if (tensor.numElements() == 0)
    return;
  constexpr int64_t documents = 5;
  int64_t length = tensor.rank() == 0 ? 1 : tensor.shape().back();
  int64_t padding = length >= 32 ? length - length / 16 : length;
  tensor.forEach([&](int64_t linear, void *element) {
    int64_t row = linear / length, column = linear % length;
    int64_t id = 0;
    for (int64_t n = 0; n < documents - 1; ++n) {
      double cut = image::uniformAt(options.seed, segmentsStream, static_cast<uint64_t>(row * documents + n));
      id += static_cast<double>(column) >= cut * static_cast<double>(length);
    }
    image::storeScalar(tensor.dtype(), element, static_cast<double>(column < padding ? id : -1));
  });
}

/// Pages in no order; where there are enough, no two entries name the same.
void Drawer::fillPages(const Tensor &table, int64_t pages, uint64_t stream) const {
  std::vector<int64_t> order(static_cast<size_t>(std::max(pages, table.numElements())));
  for (size_t n = 0; n < order.size(); ++n)
    order[n] = pages == 0 ? 0 : static_cast<int64_t>(n) % pages;
  // Fisher and Yates.
  for (size_t n = order.size(); n > 1; --n)
    std::swap(order[n - 1], order[static_cast<size_t>(integerAt(stream, n, static_cast<int64_t>(n) - 1))]);
  table.forEach([&](int64_t linear, void *element) {
    image::storeScalar(table.dtype(), element, static_cast<double>(order[static_cast<size_t>(linear)]));
  });
}

/// What `runtime::fillNormal` writes, on all threads: these tensors are the large ones.
void Drawer::fillValues(const Tensor &tensor, uint64_t stream) const {
  constexpr int64_t chunk = 1 << 14;
  int64_t count = tensor.numElements(), size = image::byteSize(tensor.dtype());
  runtime::ThreadPool::shared().parallelFor((count + chunk - 1) / chunk, [&](int64_t task, unsigned) {
    for (int64_t n = task * chunk, end = std::min(n + chunk, count); n < end; ++n)
      image::storeScalar(tensor.dtype(), static_cast<char *>(tensor.data()) + n * size,
                         options.valueScale * image::normalAt(options.seed, stream, static_cast<uint64_t>(n)));
  });
}

void Drawer::fill(const Tensor &tensor, const attn::KernelArgument &argument, unsigned index) const {
  int64_t queries = shapes.queryRows(), keys = shapes.keyRows();
  bool isOfQueries = argument.isUsedAs(ArgumentUse::QueryLengths);
  if (isOfQueries || argument.isUsedAs(ArgumentUse::KeyLengths)) {
    bool isOfKeys = argument.isUsedAs(ArgumentUse::KeyLengths);
    return fillLengths(tensor, isOfQueries && isOfKeys ? std::min(queries, keys) : isOfQueries ? queries : keys, index);
  }
  if (argument.isUsedAs(ArgumentUse::QueryOffsets))
    return fillOffsets(tensor, queries);
  if (argument.isUsedAs(ArgumentUse::KeyOffsets))
    return fillOffsets(tensor, keys);
  if (argument.isUsedAs(ArgumentUse::SegmentIds))
    return fillSegments(tensor);
  if (argument.isUsedAs(ArgumentUse::PageTable))
    return fillPages(tensor, countPages(index), index);
  if (argument.isUsedAs(ArgumentUse::PrefixLengths))
    return fillLengths(tensor, keys, index);
  if (argument.isUsedAs(ArgumentUse::Seed)) // its words
    return tensor.forEach([&](int64_t half, void *element) {
      const auto bits =
          static_cast<double>(integerAt(index, static_cast<uint64_t>(half), std::numeric_limits<int32_t>::max()));
      image::storeScalar(tensor.dtype(), element, bits);
    });
  if (!options.drawValues && !isReadByMasks(index))
    return;
  if (isFloat(tensor.dtype()))
    return isValueLike(index) ? fillValues(tensor, index) : fillNormal(tensor, options.seed, index);
  bool mask = tensor.dtype() == image::DType::I1;
  tensor.forEach([&](int64_t linear, void *element) {
    double u = image::uniformAt(options.seed, index, static_cast<uint64_t>(linear));
    image::storeScalar(tensor.dtype(), element, mask ? (u < 0.75 ? 1 : 0) : std::floor(u * 8));
  });
}

Result<ArgValue> Drawer::draw(unsigned index) {
  const attn::KernelArgument &argument = kernel.inputs[index];
  if (!argument.isTensor())
    return drawScalar(argument, index);
  Result<Tensor> tensor = Tensor::allocate(describe::elementDType(argument), shapes.shapeOf(argument));
  if (!tensor)
    return image::Error{"argument '" + argument.name + "': " + tensor.message()};
  fill(*tensor, argument, index);
  return ArgValue(std::move(*tensor));
}

/// Takes normal LSEs of a backward to where those of normal logits are, so that probabilities add up to about 1.
static void raiseLses(const attn::KernelFunction &kernel, const Shapes &shapes, std::vector<ArgValue> &values) {
  for (attn::KernelOpInterface op : kernel.kernels) {
    auto backward = mlir::dyn_cast<attn::BackwardOp>(op.getOperation());
    auto lse = backward ? mlir::dyn_cast<mlir::BlockArgument>(backward.getLse()) : mlir::BlockArgument();
    if (!lse)
      continue;
    double level = std::log(static_cast<double>(std::max<int64_t>(shapes.keyRows(), 1)));
    const auto &tensor = std::get<Tensor>(values[lse.getArgNumber()]);
    tensor.forEach([&](int64_t, void *element) {
      image::storeScalar(tensor.dtype(), element, level + image::loadScalar(tensor.dtype(), element));
    });
  }
}

Result<std::vector<ArgValue>> jit::makeRandomInputs(const attn::KernelFunction &kernel, const Shapes &shapes,
                                                    const RandomOptions &options) {
  std::vector<ArgValue> values;
  Drawer drawer(kernel, shapes, options);
  for (unsigned index = 0; index < kernel.inputs.size(); ++index) {
    Result<ArgValue> value = drawer.draw(index);
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  if (options.drawValues && !options.computeSaved)
    raiseLses(kernel, shapes, values);
  else if (options.drawValues)
    if (image::Status status = computeSavedResults(kernel, values); !status)
      return status.takeError();
  return values;
}

/// The most sequences that inputs are drawn for.
static constexpr int64_t mostSequences = int64_t(1) << 20;

image::Status jit::checkSizes(const attn::KernelFunction &kernel, const Shapes &shapes) {
  if (shapes.batch() > mostSequences)
    return image::Error{"size 'B': expected at most " + std::to_string(mostSequences) + ", got " +
                        std::to_string(shapes.batch())};
  // Rows of packed tensors are those of a sequence.
  attn::KernelOpInterface op = kernel.kernels.front();
  int64_t rows = std::max(op.isPacked() ? shapes.queryRows() : 0, op.areKeysPacked() ? shapes.keyRows() : 0);
  if (shapes.batch() == 0 && rows > 0)
    return image::Error{"size 'B': expected a sequence or more for " + std::to_string(rows) + " packed rows, got 0"};
  // The system promises more than it has, and ends the process that takes it at its word.
  double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double bytes = 0;
  for (const auto *list : {&kernel.inputs, &kernel.outputs})
    for (const attn::KernelArgument &argument : *list) {
      if (!argument.isTensor())
        continue;
      auto size = static_cast<double>(image::byteSize(describe::elementDType(argument)));
      for (int64_t extent : shapes.shapeOf(argument))
        size *= static_cast<double>(extent);
      bytes += size;
    }
  if (bytes <= memory)
    return {};
  return image::Error{
      llvm::formatv("the arguments and results take {0:E3} bytes of memory, this machine has {1:E3}", bytes, memory)
          .str()};
}

Result<std::vector<Tensor>> jit::allocateOutputs(const attn::KernelFunction &kernel, const Shapes &shapes,
                                                 std::optional<image::DType> dtype) {
  std::vector<Tensor> outputs;
  for (const attn::KernelArgument &output : kernel.outputs) {
    Result<Tensor> tensor = Tensor::allocate(dtype.value_or(describe::elementDType(output)), shapes.shapeOf(output));
    if (!tensor)
      return image::Error{"result '" + output.name + "': " + tensor.message()};
    tensor->poison();
    outputs.push_back(std::move(*tensor));
  }
  return outputs;
}
