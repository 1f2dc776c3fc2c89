//===- ReferenceBackward.cpp - Gradients by the plain formulas --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// For one query row, with w = dropout(p) and p = softmax(s) over keys and sinks:
//
//     dw_j = dO . v_j + dW_j                  dv_j += w_j dO
//     dp_j = dw_j * dropout factor of j       delta = sum_j p_j dp_j
//     ds_j = p_j (dp_j - delta + dLSE)        the same for a sink, whose dp is 0
//
// then reverse mode through the score region, and the product with the other operand of the logit.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/reference/Reference.h"
#include "dialect/reference/ReferenceRow.h"
#include <mutex>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::attn::reference;

/// The number of an argument of the function.
static unsigned getNumber(Value argument) { return cast<BlockArgument>(argument).getArgNumber(); }

namespace {

/// The gradients of the function's arguments, in fp64 and dense, shared by all tasks.
class ArgumentGradients {
public:
  ArgumentGradients(ArrayRef<ReferenceValue> inputs, ArrayRef<std::optional<HostArray>> wanted);

  /// The gradient of a tensor argument, or null where nobody asks for it.
  const HostArray *get(Value argument) const { return argument ? get(getNumber(argument)) : nullptr; }
  const HostArray *get(unsigned number) const { return arrays[number] ? &*arrays[number] : nullptr; }

  /// Writes the sums to `wanted`, in Baseline rounded to the dtype of the argument.
  void store(ArrayRef<ReferenceValue> inputs, ArrayRef<std::optional<HostArray>> wanted, Precision precision) const;

  std::mutex mutex; ///< held to add

private:
  std::vector<std::vector<double>> sums;
  std::vector<std::optional<HostArray>> arrays; ///< views of `sums`
};

/// What forward has saved, of an `attn.backward`; absent for gradients of a forward kernel.
struct SavedResults {
  std::optional<RowTensor> out, lse;
};

/// Adds up the gradients of one key head of one sequence.
template <typename Real>
class BackwardHead {
public:
  BackwardHead(const Problem &problem, const ResultTensors &results, const SavedResults &saved,
               const Sequence &sequence, int64_t keyHead, ArgumentGradients &gradients);

  /// All `queryRows` of all query heads that share the key head, then dK and dV.
  void run(ArrayRef<int64_t> queryRows);

private:
  /// Gradient of a score region's tensor, collected within a row.
  struct Contribution {
    double *target;
    double amount;
  };

  void runRow(HeadRows<Real> &rows, int64_t row);
  /// dw of the evaluated row; returns dLSE.
  Real loadResultGradients(const HeadRows<Real> &rows, int64_t row);
  /// ds before the score region; adds those of the sinks.
  void differentiateSoftmax(const HeadRows<Real> &rows, int64_t row, Real lseGradient);
  Real sumOfProducts(const HeadRows<Real> &rows, int64_t row) const;
  /// Whether probabilities and delta are computed from saved results, as plain code does.
  bool isPlain() const { return problem.precision == Precision::Baseline && saved.lse; }
  void accumulateValueGradient(const HeadRows<Real> &rows);
  void accumulateLogitGradient(HeadRows<Real> &rows, int64_t row);
  void addTo(const HostArray &array, SmallVector<int64_t> indices, double amount);
  void addKeyRows(Value tensor, ArrayRef<Real> columns, int64_t dim);

  const Problem &problem;
  const ResultTensors &results; ///< gradients of the results; what is absent is 0
  const SavedResults &saved;
  const Sequence &sequence;
  const int64_t keyHead;
  ArgumentGradients &gradients;
  std::vector<Real> outGradient;                ///< dO of the row
  std::vector<Real> multipliedGradient;         ///< the same as products have it
  std::vector<Real> scoreGradient;              ///< dw, then ds, one a key
  std::vector<Real> queryGradient;              ///< dq of the row
  std::vector<Real> keyGradient, valueGradient; ///< [dim][keys], summed over rows and query heads
  std::vector<Contribution> contributions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

ArgumentGradients::ArgumentGradients(ArrayRef<ReferenceValue> inputs, ArrayRef<std::optional<HostArray>> wanted)
    : sums(inputs.size()), arrays(inputs.size()) {
  for (auto [number, array] : llvm::enumerate(wanted)) {
    if (!array)
      continue;
    int64_t size = 1;
    for (int64_t dim : array->shape)
      size *= dim;
    sums[number].resize(size);
    arrays[number] =
        HostArray::dense(Float64Type::get(array->elementType.getContext()), sums[number].data(), array->shape);
  }
}

void ArgumentGradients::store(ArrayRef<ReferenceValue> inputs, ArrayRef<std::optional<HostArray>> wanted,
                              Precision precision) const {
  for (auto [number, array] : llvm::enumerate(wanted)) {
    if (!array)
      continue;
    ElementKind rounding = ElementKind::F64;
    // A scalar is an f32.
    auto *input = std::get_if<HostArray>(&inputs[number]);
    if (precision == Precision::Baseline)
      rounding = input ? *getElementKind(input->elementType) : ElementKind::F32;
    // Row-major, like the sums: the last index runs fastest.
    SmallVector<int64_t> indices(array->shape.size());
    for (double sum : sums[number]) {
      array->store(indices, roundToKind(rounding, sum));
      for (size_t dim = indices.size(); dim > 0; --dim) {
        ++indices[dim - 1];
        if (indices[dim - 1] < array->shape[dim - 1])
          break;
        indices[dim - 1] = 0;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// One key head
//===----------------------------------------------------------------------===//

template <typename Real>
BackwardHead<Real>::BackwardHead(const Problem &problem, const ResultTensors &results, const SavedResults &saved,
                                 const Sequence &sequence, int64_t keyHead, ArgumentGradients &gradients)
    : problem(problem), results(results), saved(saved), sequence(sequence), keyHead(keyHead), gradients(gradients),
      outGradient(problem.valueDim), multipliedGradient(problem.valueDim), scoreGradient(sequence.keyLength),
      queryGradient(problem.headDim), keyGradient(problem.headDim * sequence.keyLength),
      valueGradient(problem.valueDim * sequence.keyLength) {}

template <typename Real>
void BackwardHead<Real>::run(ArrayRef<int64_t> queryRows) {
  int64_t group = problem.queryHeads / problem.keyHeads;
  for (int64_t head = keyHead * group; head < (keyHead + 1) * group; ++head) {
    HeadRows<Real> rows(problem, sequence, head);
    for (int64_t row : queryRows)
      if (row < sequence.queryLength)
        runRow(rows, row);
  }
  KernelOpInterface op = problem.op;
  addKeyRows(op.getKey(), keyGradient, problem.headDim);
  addKeyRows(op.getValueOrNull(), valueGradient, problem.valueDim);
}

template <typename Real>
void BackwardHead<Real>::runRow(HeadRows<Real> &rows, int64_t row) {
  rows.evaluate(row);
  if (isPlain())
    rows.recomputeFrom(
        static_cast<Real>(saved.lse->load(saved.lse->offset(sequence.batch, sequence.queryStart + row, rows.head))));
  Real lseGradient = loadResultGradients(rows, row);
  accumulateValueGradient(rows);
  differentiateSoftmax(rows, row, lseGradient);
  accumulateLogitGradient(rows, row);
}

template <typename Real>
Real BackwardHead<Real>::loadResultGradients(const HeadRows<Real> &rows, int64_t row) {
  int64_t batch = sequence.batch, stored = sequence.queryStart + row;
  std::fill(outGradient.begin(), outGradient.end(), Real(0));
  for (const RowTensor &tensor : results.out)
    for (int64_t d = 0; d < problem.valueDim; ++d)
      outGradient[d] += static_cast<Real>(tensor.load(tensor.offset(batch, stored, rows.head, d)));
  for (auto [gradient, multiplied] : llvm::zip_equal(outGradient, multipliedGradient))
    multiplied = static_cast<Real>(problem.roundToOperand(gradient));
  rows.dotValues(multipliedGradient, scoreGradient);
  for (const RowTensor &tensor : results.weights)
    for (int64_t j = rows.first; j < rows.last; ++j)
      scoreGradient[j] += static_cast<Real>(tensor.load(tensor.offset(batch, stored, rows.head, j)));
  Real lseGradient = 0;
  for (const RowTensor &tensor : results.lse)
    lseGradient += static_cast<Real>(tensor.load(tensor.offset(batch, stored, rows.head)));
  return lseGradient;
}

template <typename Real>
void BackwardHead<Real>::accumulateValueGradient(const HeadRows<Real> &rows) {
  for (int64_t d = 0; d < problem.valueDim; ++d)
    for (int64_t j = rows.first; j < rows.last; ++j)
      valueGradient[d * sequence.keyLength + j] += rows.weights[j] * multipliedGradient[d];
}

/// delta: the sum of p_j dp_j, which is that of the output and its gradient as well.
template <typename Real>
Real BackwardHead<Real>::sumOfProducts(const HeadRows<Real> &rows, int64_t row) const {
  Real delta = 0;
  if (isPlain()) {
    // In lanes, as code for any machine adds: sums in the order of `dotValues` would cancel them without an error.
    constexpr int64_t lanes = 8;
    Real sums[lanes] = {};
    int64_t offset = saved.out->offset(sequence.batch, sequence.queryStart + row, rows.head);
    for (int64_t d = 0; d < problem.valueDim; ++d)
      sums[d % lanes] += static_cast<Real>(saved.out->load(offset + d * saved.out->elementStride)) * outGradient[d];
    for (Real sum : sums)
      delta += sum;
    return delta;
  }
  // A key without probability takes no part, even where its value is no number.
  for (int64_t j = rows.first; j < rows.last; ++j)
    if (rows.probabilities[j] != 0)
      delta += rows.probabilities[j] * scoreGradient[j];
  return delta;
}

template <typename Real>
void BackwardHead<Real>::differentiateSoftmax(const HeadRows<Real> &rows, int64_t row, Real lseGradient) {
  for (int64_t j = rows.first; j < rows.last; ++j)
    scoreGradient[j] = rows.dropoutFactors[j] == 0 ? Real(0) : scoreGradient[j] * rows.dropoutFactors[j];
  Real delta = sumOfProducts(rows, row);
  for (int64_t j = rows.first; j < rows.last; ++j)
    scoreGradient[j] =
        rows.probabilities[j] == 0 ? Real(0) : rows.probabilities[j] * (scoreGradient[j] - delta + lseGradient);
  const HostArray *sinks = gradients.get(KernelOpInterface(problem.op).getSinks());
  if (!sinks)
    return;
  std::lock_guard<std::mutex> lock(gradients.mutex);
  for (auto [index, probability] : llvm::enumerate(rows.sinkProbabilities)) {
    auto n = static_cast<int64_t>(index);
    addTo(*sinks, sinks->shape.size() == 2 ? SmallVector<int64_t>{rows.head, n} : SmallVector<int64_t>{n},
          probability * (lseGradient - delta));
  }
}

template <typename Real>
void BackwardHead<Real>::accumulateLogitGradient(HeadRows<Real> &rows, int64_t row) {
  contributions.clear();
  for (int64_t j = rows.first; j < rows.last; ++j) {
    if (scoreGradient[j] == 0)
      continue;
    Real logit = rows.differentiateScore(
        j, scoreGradient[j], [&](const CapturedLoad &load, ArrayRef<Slot> slots, double amount) {
          if (const HostArray *array = gradients.get(load.argument))
            contributions.push_back({static_cast<double *>(array->data) + load.offset(slots, array->strides), amount});
        });
    scoreGradient[j] = static_cast<Real>(problem.roundToOperand(logit * static_cast<Real>(problem.scale)));
  }
  for (int64_t d = 0; d < problem.headDim; ++d)
    for (int64_t j = rows.first; j < rows.last; ++j)
      keyGradient[d * sequence.keyLength + j] += scoreGradient[j] * rows.query[d];
  rows.accumulateKeys(scoreGradient, queryGradient);

  std::lock_guard<std::mutex> lock(gradients.mutex);
  for (const Contribution &contribution : contributions)
    *contribution.target += contribution.amount;
  if (const HostArray *query = gradients.get(KernelOpInterface(problem.op).getQuery())) {
    RowTensor tensor = RowTensor::ofRows(*query);
    for (int64_t d = 0; d < problem.headDim; ++d) {
      int64_t offset = tensor.offset(sequence.batch, sequence.queryStart + row, rows.head, d);
      tensor.store(offset, tensor.load(offset) + queryGradient[d]);
    }
  }
}

template <typename Real>
void BackwardHead<Real>::addTo(const HostArray &array, SmallVector<int64_t> indices, double amount) {
  array.store(indices, array.load(indices) + amount);
}

/// Adds [dim][keys] sums to the rows of the key head in the gradient of `tensor`.
template <typename Real>
void BackwardHead<Real>::addKeyRows(Value tensor, ArrayRef<Real> columns, int64_t dim) {
  const HostArray *array = gradients.get(tensor);
  if (!array)
    return;
  RowTensor rows = RowTensor::ofRows(*array);
  std::lock_guard<std::mutex> lock(gradients.mutex);
  for (int64_t j = 0; j < sequence.keyLength; ++j)
    for (int64_t d = 0; d < dim; ++d) {
      int64_t offset = rows.offset(sequence.batch, sequence.keyStart + j, keyHead, d);
      rows.store(offset, rows.load(offset) + columns[d * sequence.keyLength + j]);
    }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

template <typename Real>
static void runBackward(const Problem &problem, const ResultTensors &results, const SavedResults &saved,
                        ArgumentGradients &gradients, const ReferenceOptions &options) {
  int64_t tasks = static_cast<int64_t>(problem.sequences.size()) * problem.keyHeads;
  forEachTask(options, tasks, [&](int64_t index) {
    const Sequence &sequence = problem.sequences[index / problem.keyHeads];
    BackwardHead<Real>(problem, results, saved, sequence, index % problem.keyHeads, gradients)
        .run(selectRows(options, sequence));
  });
}

void attnc::attn::reference::runBackwardKernel(const KernelFunction &kernel, const Problem &problem,
                                               ArrayRef<ReferenceValue> inputs,
                                               ArrayRef<std::optional<HostArray>> outputs,
                                               const ReferenceOptions &options) {
  auto op = cast<BackwardOp>(KernelOpInterface(problem.op).getOperation());
  auto arrayOf = [&](Value argument) { return std::get<HostArray>(inputs[getNumber(argument)]); };
  SavedResults saved{RowTensor::ofRows(arrayOf(op.getOut())), RowTensor::ofLse(arrayOf(op.getLse()))};
  ResultTensors results;
  results.out.push_back(RowTensor::ofRows(arrayOf(op.getDOut())));
  if (op.getDLse())
    results.lse.push_back(RowTensor::ofLse(arrayOf(op.getDLse())));

  // One array for each gradient that is returned, whichever of the results that are it.
  func::FuncOp function = kernel.function;
  Operation *ret = function.getBody().front().getTerminator();
  auto wantedFrom = [&](size_t first) {
    SmallVector<std::optional<HostArray>> wanted(inputs.size());
    SmallVector<std::pair<Value, Value>> gradients{{op.getDQuery(), op.getQuery()},
                                                   {op.getDKey(), op.getKey()},
                                                   {op.getDValue(), op.getValue()},
                                                   {op.getDSinks(), op.getSinks()}};
    for (auto [gradient, tensor] : llvm::zip_equal(op.getDCaptured(), op.getCaptured()))
      gradients.emplace_back(gradient, tensor);
    for (auto [gradient, tensor] : gradients)
      for (size_t number = first; number < outputs.size(); ++number)
        if (outputs[number] && ret->getOperand(number) == gradient) {
          wanted[getNumber(tensor)] = outputs[number];
          break;
        }
    return wanted;
  };
  ArgumentGradients gradients(inputs, wantedFrom(0));
  if (problem.precision == Precision::Exact)
    runBackward<double>(problem, results, saved, gradients, options);
  else
    runBackward<float>(problem, results, saved, gradients, options);
  for (size_t first = 0; first < outputs.size(); ++first)
    gradients.store(inputs, wantedFrom(first), problem.precision);
}

/// A gradient has its argument's shape exactly: 1 where that broadcasts.
static LogicalResult checkGradients(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                    ArrayRef<std::optional<HostArray>> arrays) {
  if (failed(checkFloatArrays(kernel, inputs, "gradients", kernel.inputs, arrays)))
    return failure();
  for (auto [argument, value, array] : llvm::zip_equal(kernel.inputs, inputs, arrays)) {
    if (!array)
      continue;
    auto tensor = dyn_cast<RankedTensorType>(argument.type);
    if (!tensor || !isa<FloatType>(tensor.getElementType()) || std::get<HostArray>(value).shape != array->shape)
      return func::FuncOp(kernel.function).emitOpError()
             << "expected a gradient of the shape of '" << argument.name << "', a floating-point tensor [S15]";
  }
  return success();
}

LogicalResult attnc::attn::runReferenceBackward(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                                ArrayRef<std::optional<HostArray>> gradOutputs,
                                                ArrayRef<std::optional<HostArray>> gradInputs,
                                                const ReferenceOptions &options) {
  if (failed(checkInputs(kernel, inputs)) || failed(checkGradients(kernel, inputs, gradInputs)) ||
      failed(checkFloatArrays(kernel, inputs, "gradients of results", kernel.outputs, gradOutputs)))
    return failure();
  FailureOr<std::vector<Problem>> problems = bindProblems(kernel, inputs, options.precision);
  if (failed(problems))
    return failure();
  ArgumentGradients gradients(inputs, gradInputs);
  for (const Problem &problem : *problems) {
    ResultTensors results = ResultTensors::get(kernel, problem.op, gradOutputs);
    if (options.precision == Precision::Exact)
      runBackward<double>(problem, results, {}, gradients, options);
    else
      runBackward<float>(problem, results, {}, gradients, options);
  }
  gradients.store(inputs, gradInputs, options.precision);
  return success();
}
