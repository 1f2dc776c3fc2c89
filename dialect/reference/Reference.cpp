//===- Reference.cpp - The executable meaning of a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/Reference.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/reference/ReferenceRow.h"
#include <limits>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::attn::reference;

namespace {

/// Computes rows of one query head of one sequence and stores them.
template <typename Real>
class ForwardRows {
public:
  ForwardRows(const Problem &problem, const ResultTensors &results, const Sequence &sequence, int64_t head)
      : problem(problem), results(results), sequence(sequence), head(head), rows(problem, sequence, head),
        out(problem.valueDim) {}

  void run(int64_t row);

private:
  void storeOut(int64_t row, bool exists);
  void storeLse(int64_t row, bool exists);
  void storeWeights(int64_t row, bool exists);

  const Problem &problem;
  const ResultTensors &results;
  const Sequence &sequence;
  int64_t head;
  HeadRows<Real> rows;
  std::vector<Real> out;
};

} // namespace

template <typename Real>
void ForwardRows<Real>::run(int64_t row) {
  // S11: a query past its length has no probabilities.
  bool exists = row < sequence.queryLength;
  if (exists)
    rows.evaluate(row);
  storeOut(row, exists);
  storeLse(row, exists);
  storeWeights(row, exists);
}

template <typename Real>
void ForwardRows<Real>::storeOut(int64_t row, bool exists) {
  if (results.out.empty())
    return;
  std::fill(out.begin(), out.end(), Real(0));
  if (exists)
    rows.accumulateValues(out);
  for (const RowTensor &tensor : results.out)
    for (int64_t d = 0; d < problem.valueDim; ++d)
      tensor.store(tensor.offset(sequence.batch, sequence.queryStart + row, head, d), problem.roundToInput(out[d]));
}

template <typename Real>
void ForwardRows<Real>::storeLse(int64_t row, bool exists) {
  for (const RowTensor &tensor : results.lse)
    tensor.store(tensor.offset(sequence.batch, sequence.queryStart + row, head),
                 exists ? rows.lse : -std::numeric_limits<Real>::infinity());
}

/// Weights are padded, so their keys past a length exist in memory: they are 0.
template <typename Real>
void ForwardRows<Real>::storeWeights(int64_t row, bool exists) {
  for (const RowTensor &tensor : results.weights)
    for (int64_t j = 0; j < problem.keyRows; ++j)
      tensor.store(tensor.offset(sequence.batch, row, head, j),
                   exists && j < sequence.keyLength ? rows.weights[j] : Real(0));
}

template <typename Real>
static void runForward(const Problem &problem, const ResultTensors &results, const ReferenceOptions &options) {
  // A task converts the keys and values of its head once; with this many rows that does not count.
  constexpr size_t rowsPerTask = 128;
  struct Task {
    const Sequence *sequence;
    int64_t head;
    std::vector<int64_t> rows;
  };
  std::vector<Task> tasks;
  for (const Sequence &sequence : problem.sequences) {
    std::vector<int64_t> rows = selectRows(options, sequence);
    for (int64_t head = 0; head < problem.queryHeads; ++head)
      for (size_t begin = 0; begin < rows.size(); begin += rowsPerTask) {
        auto from = rows.begin() + begin, to = rows.begin() + std::min(begin + rowsPerTask, rows.size());
        tasks.push_back({&sequence, head, {from, to}});
      }
  }
  forEachTask(options, static_cast<int64_t>(tasks.size()), [&](int64_t index) {
    const Task &task = tasks[index];
    ForwardRows<Real> forward(problem, results, *task.sequence, task.head);
    for (int64_t row : task.rows)
      forward.run(row);
  });
}

template <typename Real>
static void computeSaved(const Problem &problem, BackwardOp op, const Arguments &arguments,
                         const ReferenceOptions &options) {
  ResultTensors saved;
  saved.out.push_back(RowTensor::ofRows(*arguments.getArray(op.getOut())));
  saved.lse.push_back(RowTensor::ofLse(*arguments.getArray(op.getLse())));
  runForward<Real>(problem, saved, options);
}

LogicalResult attnc::attn::computeSavedResults(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                               const ReferenceOptions &options) {
  if (failed(checkInputs(kernel, inputs)))
    return failure();
  FailureOr<std::vector<Problem>> problems = bindProblems(kernel, inputs, options.precision);
  if (failed(problems))
    return failure();
  for (const Problem &problem : *problems) {
    auto op = dyn_cast<BackwardOp>(KernelOpInterface(problem.op).getOperation());
    if (!op)
      continue;
    if (options.precision == Precision::Exact)
      computeSaved<double>(problem, op, Arguments(inputs), options);
    else
      computeSaved<float>(problem, op, Arguments(inputs), options);
  }
  return success();
}

LogicalResult attnc::attn::runReference(const KernelFunction &kernel, ArrayRef<ReferenceValue> inputs,
                                        MutableArrayRef<HostArray> outputs, const ReferenceOptions &options) {
  SmallVector<std::optional<HostArray>> arrays(outputs.begin(), outputs.end());
  if (failed(checkInputs(kernel, inputs)) ||
      failed(checkFloatArrays(kernel, inputs, "results", kernel.outputs, arrays)))
    return failure();
  FailureOr<std::vector<Problem>> problems = bindProblems(kernel, inputs, options.precision);
  if (failed(problems))
    return failure();
  for (const Problem &problem : *problems) {
    if (isa<BackwardOp>(KernelOpInterface(problem.op).getOperation())) {
      runBackwardKernel(kernel, problem, inputs, arrays, options);
      continue;
    }
    ResultTensors results = ResultTensors::get(kernel, problem.op, arrays);
    if (options.precision == Precision::Exact)
      runForward<double>(problem, results, options);
    else
      runForward<float>(problem, results, options);
  }
  return success();
}
