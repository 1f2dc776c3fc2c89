//===- ReferenceProblem.cpp - A kernel with its arguments -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceProblem.h"
#include "dialect/attn/AttnOps.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::attn::reference;

RowTensor RowTensor::ofRows(const HostArray &array) {
  ArrayRef<int64_t> strides = array.strides;
  bool packed = strides.size() == 3;
  if (!packed)
    strides = strides.drop_front();
  return {array.data, *getElementKind(array.elementType), packed ? 0 : array.strides[0], strides[0], strides[1],
          strides[2]};
}

RowTensor RowTensor::ofLse(const HostArray &array) {
  ArrayRef<int64_t> strides = array.strides;
  bool packed = strides.size() == 2;
  if (!packed)
    strides = strides.drop_front();
  return {array.data, *getElementKind(array.elementType), packed ? 0 : array.strides[0], strides[1], strides[0], 0};
}

RowTensor RowTensor::ofWeights(const HostArray &array) {
  ArrayRef<int64_t> strides = array.strides;
  return {array.data, *getElementKind(array.elementType), strides[0], strides[2], strides[1], strides[3]};
}

int64_t Problem::sinkOffset(int64_t head, int64_t index) const {
  return sinks->shape.size() == 2 ? sinks->offset({head, index}) : sinks->offset(index);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// One sequence a batch entry, each of the given length or of all stored rows.
static LogicalResult readPadded(Problem &problem, const HostArray &query, const HostArray &key,
                                const Arguments &arguments) {
  auto length = [&](const HostArray *lengths, int64_t batch, int64_t rows, StringRef side) -> FailureOr<int64_t> {
    int64_t count = lengths ? static_cast<int64_t>(lengths->load(batch)) : rows;
    if (count < 0 || count > rows)
      return problem.op->emitOpError() << "expected lengths of " << side << " from 0 to " << rows << ", got " << count
                                       << " for batch entry " << batch << " [S11]";
    return count;
  };
  const HostArray *queryLengths = arguments.getArray(problem.op.getQueryLengths());
  const HostArray *keyLengths = arguments.getArray(problem.op.getKeyLengths());
  for (int64_t batch = 0; batch < query.shape[0]; ++batch) {
    FailureOr<int64_t> queries = length(queryLengths, batch, query.shape[1], "query");
    FailureOr<int64_t> keys = length(keyLengths, batch, key.shape[1], "key");
    if (failed(queries) || failed(keys))
      return failure();
    problem.sequences.push_back({batch, 0, 0, query.shape[1], *queries, *keys, 0});
  }
  return success();
}

/// Cumulative lengths begin with 0, do not decrease, and end with the number of stored rows (S11).
static LogicalResult checkOffsets(Problem &problem, const HostArray &offsets, int64_t rows, StringRef side) {
  int64_t last = 0, count = offsets.shape[0];
  auto error = [&](const Twine &expected, int64_t got, int64_t index) {
    return problem.op->emitOpError() << "expected cumulative lengths of " << side << " to " << expected << ", got "
                                     << got << " at index " << index << " [S11]";
  };
  if (count == 0)
    return problem.op->emitOpError() << "expected cumulative lengths of " << side << " for batch + 1, got none [S11]";
  for (int64_t index = 0; index < count; ++index) {
    auto offset = static_cast<int64_t>(offsets.load(index));
    if (index == 0 && offset != 0)
      return error("begin with 0", offset, index);
    if (offset < last)
      return error("not decrease", offset, index);
    last = offset;
  }
  return last == rows ? success() : error("end with " + Twine(rows), last, count - 1);
}

static LogicalResult readPacked(Problem &problem, const HostArray &query, const HostArray &key,
                                const Arguments &arguments) {
  const HostArray &queryOffsets = *arguments.getArray(problem.op.getQueryOffsets());
  const HostArray &keyOffsets = *arguments.getArray(problem.op.getKeyOffsets());
  if (failed(checkOffsets(problem, queryOffsets, query.shape[0], "query")) ||
      failed(checkOffsets(problem, keyOffsets, key.shape[0], "key")))
    return failure();
  for (int64_t batch = 0; batch + 1 < queryOffsets.shape[0]; ++batch) {
    auto queryStart = static_cast<int64_t>(queryOffsets.load(batch));
    auto keyStart = static_cast<int64_t>(keyOffsets.load(batch));
    int64_t queries = static_cast<int64_t>(queryOffsets.load(batch + 1)) - queryStart;
    int64_t keys = static_cast<int64_t>(keyOffsets.load(batch + 1)) - keyStart;
    problem.sequences.push_back({batch, queryStart, keyStart, queries, queries, keys, 0});
  }
  return success();
}

/// Reads the seed of dropout, a number or the words of one.
static void readSeed(Problem &problem, const Arguments &arguments) {
  Value given = problem.op.getSeed();
  const HostArray *words = arguments.getArray(given);
  if (!words) {
    problem.seed = static_cast<uint64_t>(*arguments.getInteger(given));
    return;
  }
  auto word = [&](int64_t index) { return static_cast<uint32_t>(static_cast<int64_t>(words->load(index))); };
  problem.seed = uint64_t(word(1)) << 32 | word(0);
  if (words->shape[0] == 2)
    return;
  problem.firstBatch = word(2);
  problem.firstHead = word(3);
}

FailureOr<Problem> Problem::get(KernelOpInterface op, const Arguments &arguments, Precision precision) {
  const HostArray &query = *arguments.getArray(op.getQuery()), &key = *arguments.getArray(op.getKey());
  Problem problem;
  problem.op = op;
  problem.precision = precision;
  problem.query = RowTensor::ofRows(query);
  problem.key = RowTensor::ofRows(key);
  problem.inputKind = problem.query.kind;
  problem.queryHeads = op.getQueryHeads();
  problem.keyHeads = op.getKeyHeads();
  problem.headDim = op.getHeadDim();
  problem.keyRows = key.shape[op.isPacked() ? 0 : 1];
  problem.valueDim = 0;
  if (const HostArray *value = arguments.getArray(op.getValueOrNull())) {
    problem.value = RowTensor::ofRows(*value);
    problem.valueDim = value->shape.back();
  }
  if (const HostArray *sinks = arguments.getArray(op.getSinks()))
    problem.sinks = *sinks;
  if (std::optional<APFloat> scale = op.getStaticScale())
    problem.scale = scale->convertToDouble();
  else
    problem.scale = op.getScale() ? *arguments.getFloat(op.getScale()) : 1 / std::sqrt(problem.headDim);
  if (op.hasDropout()) {
    problem.hasDropout = true;
    problem.dropout = op.getDropout() ? static_cast<float>(*arguments.getFloat(op.getDropout()))
                                      : op.getStaticDropout()->convertToFloat();
    readSeed(problem, arguments);
  }

  if (failed(op.isPacked() ? readPacked(problem, query, key, arguments) : readPadded(problem, query, key, arguments)))
    return failure();
  int64_t offset = op.getQOffset() ? *arguments.getInteger(op.getQOffset()) : 0;
  for (Sequence &sequence : problem.sequences) {
    int64_t shift = op.getAlign() == Alignment::BottomRight ? sequence.keyLength - sequence.queryLength : 0;
    sequence.positionOffset = shift + offset;
  }

  for (auto [region, program] : {std::pair(&op.getScore(), &problem.score), {&op.getMask(), &problem.mask}}) {
    if (region->empty())
      continue;
    FailureOr<ScalarProgram> compiled = ScalarProgram::compile(*region, arguments, precision);
    if (failed(compiled))
      return failure();
    *program = std::move(*compiled);
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Problem>> attnc::attn::reference::bindProblems(const KernelFunction &kernel,
                                                                     ArrayRef<ReferenceValue> inputs,
                                                                     Precision precision) {
  std::vector<Problem> problems;
  for (KernelOpInterface op : kernel.kernels) {
    FailureOr<Problem> problem = Problem::get(op, Arguments(inputs), precision);
    if (failed(problem))
      return failure();
    problems.push_back(std::move(*problem));
  }
  return problems;
}

ResultTensors ResultTensors::get(const KernelFunction &kernel, KernelOpInterface op,
                                 ArrayRef<std::optional<HostArray>> arrays) {
  ResultTensors results;
  func::FuncOp function = kernel.function;
  Operation *ret = function.getBody().front().getTerminator();
  for (auto [value, array] : llvm::zip_equal(ret->getOperands(), arrays)) {
    if (!array || value.getDefiningOp() != op.getOperation())
      continue;
    if (isa<WeightsOp>(op.getOperation()))
      results.weights.push_back(RowTensor::ofWeights(*array));
    else if (value == cast<ForwardOp>(op.getOperation()).getOut())
      results.out.push_back(RowTensor::ofRows(*array));
    else
      results.lse.push_back(RowTensor::ofLse(*array));
  }
  return results;
}

std::vector<int64_t> attnc::attn::reference::selectRows(const ReferenceOptions &options, const Sequence &sequence) {
  std::vector<int64_t> rows = options.rows;
  if (rows.empty()) {
    rows.resize(sequence.queryRows);
    std::iota(rows.begin(), rows.end(), 0);
  }
  llvm::erase_if(rows, [&](int64_t row) { return row < 0 || row >= sequence.queryRows; });
  return rows;
}

void attnc::attn::reference::forEachTask(const ReferenceOptions &options, int64_t n,
                                         llvm::function_ref<void(int64_t)> body) {
  if (options.parallelFor)
    return options.parallelFor(n, body);
  for (int64_t index = 0; index < n; ++index)
    body(index);
}
