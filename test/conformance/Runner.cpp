//===- Runner.cpp - Puts a compiled spec to a trial -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/CapturedGradients.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/Verify.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace attnc;
using namespace attnc::conformance;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::Dims;
using runtime::Tensor;

/// A new tensor of `like`'s shape and dtype with odd strides, the last one 1 where `unit` says so: from an odd element
/// of its memory on, and backwards in the first dimension.
static Result<Tensor> allocateOdd(const Tensor &like, bool unit) {
  Dims shape = like.shape(), strides = shape;
  int64_t extent = 1;
  for (auto d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    bool isInner = d + 1 == static_cast<int64_t>(shape.size());
    strides[d] = isInner ? (unit ? 1 : 3) : extent | 1;
    extent += strides[d] * (shape[d] - 1);
  }
  auto memory = Tensor::allocate(like.dtype(), {extent + 2});
  if (!memory)
    return memory;
  memory->poison();
  int64_t first = 1;
  if (shape.size() > 1) {
    first += strides[0] * (shape[0] - 1);
    strides[0] = -strides[0];
  }
  auto *data = static_cast<char *>(memory->data()) + first * image::byteSize(like.dtype());
  return Tensor::stridedView(data, like.dtype(), shape, strides, std::make_shared<Tensor>(*memory));
}

/// A new tensor of `like`'s shape and dtype, all of whose positions in dimension `dim` are one.
static Result<Tensor> allocateRepeated(const Tensor &like, int64_t dim) {
  Dims shape = like.shape(), narrow = shape;
  narrow[dim] = 1;
  auto memory = Tensor::allocate(like.dtype(), narrow);
  if (!memory)
    return memory;
  Dims strides = memory->strides();
  strides[dim] = 0;
  return Tensor::stridedView(memory->data(), like.dtype(), shape, strides, std::make_shared<Tensor>(*memory));
}

/// A new tensor of `like`'s shape and dtype that lies in memory as `layout` says.
static Result<Tensor> allocateAs(const Tensor &like, Layout layout) {
  Dims shape = like.shape();
  if (layout == Layout::HeadsFirst) {
    auto tensor = Tensor::allocate(like.dtype(), {shape[0], shape[2], shape[1], shape[3]});
    return tensor ? Result<Tensor>(tensor->transposedView({0, 2, 1, 3})) : tensor;
  }
  // Two entries at least, so that the second lies behind offset 2^31.
  constexpr int64_t apart = (int64_t(1) << 31) + 64;
  Dims strides = like.strides();
  auto memory = Tensor::allocate(like.dtype(), {apart * (shape[0] - 1) + strides[0]});
  if (!memory)
    return memory;
  strides[0] = apart;
  auto owner = std::make_shared<Tensor>(*memory);
  return Tensor::stridedView(memory->data(), like.dtype(), shape, strides, owner);
}

Status conformance::relayout(Tensor &tensor, Layout layout, bool unit, bool isInput) {
  bool isAny = layout == Layout::Odd || (layout == Layout::Repeated && isInput);
  if (layout == Layout::RowMajor || tensor.numElements() == 0 || tensor.rank() == 0 ||
      (!isAny && (tensor.rank() != 4 || !unit || layout == Layout::Repeated)))
    return {};
  Result<Tensor> other = layout == Layout::Odd        ? allocateOdd(tensor, unit)
                         : layout == Layout::Repeated ? allocateRepeated(tensor, unit ? tensor.rank() - 2 : 0)
                                                      : allocateAs(tensor, layout);
  if (!other)
    return other.takeError();
  // Bits, not numbers: a double does not hold every i64.
  int64_t size = image::byteSize(tensor.dtype());
  tensor.forEach([&](int64_t n, void *element) {
    std::memcpy(static_cast<char *>(other->data()) + other->offsetOfLinear(n) * size, element,
                static_cast<size_t>(size));
  });
  tensor = std::move(*other);
  return {};
}

/// `numbers` as the content of `value`, an argument of type `type`.
static void setContent(ArgValue &value, mlir::Type type, const std::vector<double> &numbers) {
  if (auto *tensor = std::get_if<Tensor>(&value)) {
    for (int64_t n = 0, count = tensor->numElements(); n < count; ++n)
      tensor->storeLinear(n, numbers[static_cast<size_t>(n) % numbers.size()]);
    return;
  }
  if (mlir::isa<mlir::FloatType>(type))
    value = numbers.front();
  else
    value = static_cast<int64_t>(numbers.front());
}

/// Row numbers of a sequence's rows, [first, last).
using RowRange = std::pair<int64_t, int64_t>;

/// Fills rows of a tensor [B, S, H, D], or [T, H, D] for packed sequences, with NaN.
static void poisonRows(Tensor &tensor, int64_t batch, RowRange rows) {
  int64_t rowSize = tensor.shape().back() * tensor.shape()[tensor.rank() - 2];
  int64_t before = tensor.rank() == 4 ? batch * tensor.shape()[1] : 0;
  for (int64_t n = (before + rows.first) * rowSize, end = (before + rows.second) * rowSize; n < end; ++n)
    tensor.storeLinear(n, std::numeric_limits<double>::quiet_NaN());
}

/// Makes NaN of all rows of pages of `tensors` that no sequence has keys in (S19).
static void poisonPages(const Tensor &table, const Tensor *lengths, std::initializer_list<Tensor *> tensors) {
  int64_t pages = (*tensors.begin())->shape()[0], rows = (*tensors.begin())->shape()[1];
  std::vector<int64_t> seen(static_cast<size_t>(pages), 0);
  for (int64_t batch = 0; batch < table.shape()[0]; ++batch)
    for (int64_t entry = 0; entry < table.shape()[1]; ++entry) {
      int64_t left =
          (lengths ? static_cast<int64_t>(lengths->loadLinear(batch)) : table.shape()[1] * rows) - entry * rows;
      if (left <= 0)
        break;
      auto page = static_cast<size_t>(table.loadLinear(batch * table.shape()[1] + entry));
      seen[page] = std::max(seen[page], std::min(left, rows));
    }
  for (Tensor *tensor : tensors)
    for (int64_t page = 0; page < pages; ++page)
      poisonRows(*tensor, page, {seen[static_cast<size_t>(page)], rows});
}

/// Makes NaN of all rows that no result may depend on: past the lengths of padded sequences, and the keys and values of
/// packed sequences without queries (S11).
static void poisonUnseen(const attn::KernelFunction &kernel, std::vector<ArgValue> &inputs) {
  attn::KernelOpInterface op = kernel.kernels.front();
  auto tensorOf = [&](mlir::Value value) -> Tensor * {
    auto argument = mlir::dyn_cast_or_null<mlir::BlockArgument>(value);
    return argument ? &std::get<Tensor>(inputs[argument.getArgNumber()]) : nullptr;
  };
  Tensor *query = tensorOf(op.getQuery()), *key = tensorOf(op.getKey()), *value = tensorOf(op.getValueOrNull());
  if (query == key || query == value)
    return;
  auto poisonPast = [&](Tensor *lengths, std::initializer_list<Tensor *> tensors) {
    for (int64_t batch = 0; lengths && batch < lengths->numElements(); ++batch)
      for (Tensor *tensor : tensors) {
        int64_t rows = tensor ? tensor->shape()[1] : 0;
        int64_t length = std::clamp<int64_t>(static_cast<int64_t>(lengths->loadLinear(batch)), 0, rows);
        if (tensor)
          poisonRows(*tensor, batch, {length, rows});
      }
  };
  Tensor *out = nullptr, *outGradient = nullptr;
  if (auto backward = mlir::dyn_cast<attn::BackwardOp>(op.getOperation())) {
    out = tensorOf(backward.getOut());
    outGradient = tensorOf(backward.getDOut());
  }
  poisonPast(tensorOf(op.getQueryLengths()), {query, out, outGradient});
  if (Tensor *table = tensorOf(op.getPageTable()))
    return poisonPages(*table, tensorOf(op.getKeyLengths()), {key, value});
  poisonPast(tensorOf(op.getKeyLengths()), {key, value});
  Tensor *queryOffsets = tensorOf(op.getQueryOffsets()), *keyOffsets = tensorOf(op.getKeyOffsets());
  for (int64_t batch = 0; queryOffsets && batch + 1 < queryOffsets->numElements(); ++batch) {
    auto offset = [batch](Tensor *offsets, int64_t n) { return static_cast<int64_t>(offsets->loadLinear(batch + n)); };
    if (offset(queryOffsets, 0) != offset(queryOffsets, 1))
      continue;
    for (Tensor *tensor : {key, value})
      poisonRows(*tensor, batch, {offset(keyOffsets, 0), offset(keyOffsets, 1)});
  }
}

/// The sizes of `trial`.
static Result<jit::Shapes> resolveShapes(const attn::KernelFunction &kernel, const Trial &trial) {
  Result<jit::ShapeRequest> request = jit::parseShape(trial.shape, trial.dims);
  if (!request)
    return request.takeError();
  return jit::Shapes::resolve(kernel, *request);
}

std::string conformance::requestedTarget() {
  const char *target = std::getenv("ATTNC_CONFORMANCE_TARGET");
  return target ? target : "cpu";
}

Result<std::vector<ArgValue>> conformance::makeInputs(const attn::KernelFunction &kernel, const Trial &trial,
                                                      uint64_t seed) {
  Result<jit::Shapes> shapes = resolveShapes(kernel, trial);
  if (!shapes)
    return shapes.takeError();
  auto inputs = jit::makeRandomInputs(kernel, *shapes, {seed, trial.valueScale});
  if (!inputs)
    return inputs.takeError();
  for (const auto &[name, numbers] : trial.contents) {
    const auto *argument = llvm::find_if(kernel.inputs, [&, &name = name](const auto &a) { return a.name == name; });
    if (argument == kernel.inputs.end())
      return image::Error{"the trial gives content to '" + name + "', which the spec does not have"};
    setContent((*inputs)[static_cast<size_t>(argument - kernel.inputs.begin())], argument->type, numbers);
  }
  if (Status status = jit::computeSavedResults(kernel, *inputs); !status)
    return status.takeError();
  poisonUnseen(kernel, *inputs);
  for (size_t n = 0; n < inputs->size(); ++n)
    if (auto *tensor = std::get_if<Tensor>(&(*inputs)[n]))
      if (Status status = relayout(*tensor, trial.layout, kernel.inputs[n].unitInnerStride, /*isInput=*/true); !status)
        return status.takeError();
  return inputs;
}

Result<std::vector<Tensor>> conformance::makeOutputs(const attn::KernelFunction &kernel, const Trial &trial) {
  Result<jit::Shapes> shapes = resolveShapes(kernel, trial);
  if (!shapes)
    return shapes.takeError();
  auto outputs = jit::allocateOutputs(kernel, *shapes);
  if (!outputs)
    return outputs.takeError();
  for (Tensor &output : *outputs)
    if (Status status = relayout(output, trial.layout, /*unit=*/true, /*isInput=*/false); !status)
      return status.takeError();
  return outputs;
}

/// Whether both hold the same bits.
static bool sameBits(const Tensor &left, const Tensor &right) {
  auto a = left.contiguous(), b = right.contiguous();
  if (!a || !b)
    return false;
  auto bytes = static_cast<size_t>(a->numBytes());
  return bytes == 0 || std::memcmp(a->data(), b->data(), bytes) == 0;
}

Status conformance::expectSameBits(const CompiledSpec &spec, image::Span<const Tensor> first,
                                   image::Span<const Tensor> later, unsigned run) {
  for (size_t n = 0; n < first.size(); ++n)
    if (spec.hasSameBits(n) && !sameBits(first[n], later[n]))
      return image::Error{"run " + std::to_string(run + 1) + " gives other bits of '" + spec.kernel().outputs[n].name +
                          "' than the first"};
  return {};
}

/// The rows to judge, within the budget; empty for all.
static std::vector<int64_t> chooseRows(const attn::KernelFunction &kernel, const jit::Shapes &shapes, double budget) {
  attn::KernelOpInterface op = kernel.kernels.front();
  constexpr double regionCost = 32; // of one logit's regions and softmax, in multiplications
  double perRow = static_cast<double>(shapes.batch() * op.getQueryHeads() * shapes.keyRows()) *
                  (2 * static_cast<double>(op.getHeadDim()) + regionCost);
  constexpr int64_t fewest = 16;
  return jit::sampleRows(shapes.queryRows(), std::max(fewest, static_cast<int64_t>(budget / perRow)), 0);
}

/// The greatest finite magnitude in `tensor`.
static double greatestMagnitude(const Tensor &tensor) {
  double greatest = 0;
  tensor.forEach([&](int64_t, void *element) {
    double value = std::abs(image::loadScalar(tensor.dtype(), element));
    if (std::isfinite(value))
      greatest = std::max(greatest, value);
  });
  return greatest;
}

/// How many rows of `tensor` differ from each other in some bit.
static size_t countDistinctRows(const Tensor &tensor) {
  auto packed = tensor.contiguous();
  if (!packed || packed->numBytes() == 0)
    return 0;
  const auto *bytes = static_cast<const char *>(packed->data());
  auto total = static_cast<size_t>(packed->numBytes());
  auto rows = static_cast<size_t>(packed->numElements() / packed->shape().back());
  size_t rowBytes = total / rows;
  llvm::StringSet<> distinct;
  for (size_t row = 0; row < rows; ++row)
    distinct.insert(llvm::StringRef(bytes + row * rowBytes, rowBytes));
  return distinct.size();
}

bool conformance::failsByChance(const jit::Judgement &judgement, const Tensor &got) {
  if (!(judgement.error <= judgement.limit) || judgement.elements == 0)
    return false;
  constexpr double handful = 16;
  double rows = std::min(static_cast<double>(judgement.elements) / static_cast<double>(got.shape().back()),
                         static_cast<double>(countDistinctRows(got)));
  double unit = judgement.meanBaseline + 0.05 * image::ulp(got.dtype(), greatestMagnitude(got));
  return rows < handful || judgement.meanError <= judgement.meanLimit + 4 / std::sqrt(rows) * unit;
}

/// How far sums of products in f32 may leave the logits of `op` from exact ones: an ulp of the sum of all magnitudes.
static double boundLogitError(attn::KernelOpInterface op, const std::vector<ArgValue> &inputs) {
  auto valueOf = [&](mlir::Value argument) -> const ArgValue & {
    return inputs[mlir::cast<mlir::BlockArgument>(argument).getArgNumber()];
  };
  double scale = op.getLiteralScale();
  // A constant of the function, whatever it is, counts as the usual scale.
  if (mlir::isa_and_nonnull<mlir::BlockArgument>(op.getScale())) {
    const ArgValue &given = valueOf(op.getScale());
    const auto *real = std::get_if<double>(&given);
    scale = real ? *real : static_cast<double>(std::get<int64_t>(given));
  }
  double magnitude = greatestMagnitude(std::get<Tensor>(valueOf(op.getQuery()))) *
                     greatestMagnitude(std::get<Tensor>(valueOf(op.getKey())));
  return std::abs(scale) * static_cast<double>(op.getHeadDim()) * magnitude * 0x1p-24;
}

bool conformance::mayBeFarOff(const attn::KernelFunction &kernel, size_t result, const std::vector<ArgValue> &inputs,
                              const jit::Judgement &judgement) {
  mlir::func::FuncOp function = kernel.function;
  mlir::Value gradient = function.getBody().front().getTerminator()->getOperand(result);
  auto backward = mlir::dyn_cast<attn::BackwardOp>(gradient.getDefiningOp());
  if (!backward)
    return false;
  constexpr double huge = 1 << 12, handful = 16, byChance = 32, ofFew = 4;
  auto argument = mlir::cast<mlir::BlockArgument>(backward.getLse());
  const auto &lse = std::get<Tensor>(inputs[argument.getArgNumber()]);
  if (greatestMagnitude(lse) > huge || boundLogitError(backward, inputs) > 1) {
    auto element = mlir::cast<mlir::RankedTensorType>(backward.getQuery().getType()).getElementType();
    // What is multiplied with such scores has gradients that f32 need not hold.
    bool isCaptured = llvm::is_contained(backward.getDCaptured(), gradient);
    return element.isF16() || isCaptured || std::isfinite(judgement.error);
  }
  if (static_cast<double>(lse.numElements()) < handful && judgement.error <= byChance * judgement.limit)
    return true;
  // A sum for each head: the greatest of two errors is twice that of two others in every fifth case. Sums in no
  // order have other errors in each run; the greatest are those of the longest sums, which may be as few.
  bool isScattered = llvm::any_of(getCapturedGradients(backward, {attn::CapturedForm::Scattered}),
                                  [&](const attn::CapturedGradient &one) { return one.gradient == gradient; });
  return (isScattered || static_cast<double>(judgement.elements) < handful) &&
         judgement.error <= ofFew * judgement.limit;
}

Outcome conformance::runTrial(CompiledSpec &spec, const Trial &trial, double budget) {
  Outcome outcome;
  auto fail = [&](image::Error error) {
    outcome.fault = error.message.empty() ? "failed without a message" : error.message;
    return outcome;
  };
  const attn::KernelFunction &kernel = spec.kernel();
  Result<jit::Shapes> shapes = resolveShapes(kernel, trial);
  if (!shapes)
    return fail(shapes.takeError());
  // A gradient of keys comes of all rows: where the budget allows a sample only, there is nothing to judge.
  std::vector<int64_t> rows = chooseRows(kernel, *shapes, budget);
  attn::KernelOpInterface op = kernel.kernels.front();
  bool isBackward = mlir::isa<attn::BackwardOp>(op.getOperation());
  if (isBackward && !rows.empty())
    return outcome;
  auto inputs = makeInputs(kernel, trial);
  if (!inputs)
    return fail(inputs.takeError());

  std::vector<Tensor> first;
  for (unsigned n = 0; n < trial.repeats; ++n) {
    auto outputs = makeOutputs(kernel, trial);
    if (!outputs)
      return fail(outputs.takeError());
    if (Status status = spec.run(*inputs, *outputs); !status)
      return fail(status.takeError());
    if (n == 0)
      first = std::move(*outputs);
    else if (Status status = expectSameBits(spec, first, *outputs, n); !status)
      return fail(status.takeError());
  }

  auto judgements = jit::judgeAgainstReference(kernel, *inputs, first, rows);
  if (!judgements)
    return fail(spec.explain(judgements.takeError()));
  for (size_t n = 0; n < first.size(); ++n) {
    jit::Judgement &judgement = (*judgements)[n];
    if (!judgement.right() && (failsByChance(judgement, first[n]) || mayBeFarOff(kernel, n, *inputs, judgement)))
      judgement.fault.clear();
    outcome.line += "    " + judgement.toString() + "\n";
    if (!judgement.right() && outcome.fault.empty())
      outcome.fault = judgement.name + ": " + judgement.fault;
  }
  return outcome;
}
