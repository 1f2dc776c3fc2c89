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

int64_t Problem::keyOffset(const RowTensor &tensor, const Sequence &sequence, int64_t j, int64_t head) const {
  if (!pageTable)
    return tensor.offset(sequence.batch, sequence.keyStart + j, head);
  auto page = static_cast<int64_t>(pageTable->load({sequence.batch, j / pageRows}));
  return tensor.offset(page, j % pageRows, head);
}

int64_t Problem::sinkOffset(int64_t head, int64_t index) const {
  return sinks->shape.size() == 2 ? sinks->offset({head, index}) : sinks->offset(index);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

namespace {

/// The rows of one sequence in a tensor of queries, or of keys and values.
struct SequenceRows {
  int64_t start;  ///< stored row of row 0
  int64_t stored; ///< rows of it that the tensor stores
  int64_t count;  ///< rows that exist
};

} // namespace

/// Sequences of a padded tensor, `sequences` of `rows` rows each, of the given lengths or all of them.
static FailureOr<std::vector<SequenceRows>> readPadded(Problem &problem, int64_t sequences, int64_t rows,
                                                       const HostArray *lengths, StringRef side) {
  std::vector<SequenceRows> all;
  for (int64_t batch = 0; batch < sequences; ++batch) {
    int64_t count = lengths ? static_cast<int64_t>(lengths->load(batch)) : rows;
    if (count < 0 || count > rows)
      return problem.op->emitOpError() << "expected lengths of " << side << " from 0 to " << rows << ", got " << count
                                       << " for batch entry " << batch << " [S11]";
    all.push_back({0, rows, count});
  }
  return all;
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

/// Sequences that follow each other in a tensor of `rows` rows.
static FailureOr<std::vector<SequenceRows>> readPacked(Problem &problem, const HostArray &offsets, int64_t rows,
                                                       StringRef side) {
  if (failed(checkOffsets(problem, offsets, rows, side)))
    return failure();
  std::vector<SequenceRows> all;
  for (int64_t batch = 0; batch + 1 < offsets.shape[0]; ++batch) {
    auto start = static_cast<int64_t>(offsets.load(batch)), end = static_cast<int64_t>(offsets.load(batch + 1));
    all.push_back({start, end - start, end - start});
  }
  return all;
}

/// Checks the pages that hold keys of a sequence (S19).
static LogicalResult checkPages(Problem &problem, int64_t pages) {
  for (const Sequence &sequence : problem.sequences) {
    if (pages == 0 && sequence.keyLength > 0)
      return problem.op->emitOpError() << "expected a page or more for the " << sequence.keyLength
                                       << " keys of batch entry " << sequence.batch << ", got none [S19]";
    for (int64_t n = 0; n * problem.pageRows < sequence.keyLength; ++n)
      if (auto page = static_cast<int64_t>(problem.pageTable->load({sequence.batch, n})); page < 0 || page >= pages)
        return problem.op->emitOpError() << "expected pages from 0 to " << pages - 1 << ", got " << page
                                         << " as number " << n << " of batch entry " << sequence.batch << " [S19]";
  }
  return success();
}

/// Finds the sequences, one a batch entry or one for each two cumulative lengths.
static LogicalResult readSequences(Problem &problem, const Arguments &arguments) {
  KernelOpInterface op = problem.op;
  const HostArray &query = *arguments.getArray(op.getQuery()), &key = *arguments.getArray(op.getKey());
  auto read = [&](Value offsets, Value lengths, int64_t sequences, int64_t rows, StringRef side) {
    if (offsets)
      return readPacked(problem, *arguments.getArray(offsets), rows, side);
    return readPadded(problem, sequences, rows, arguments.getArray(lengths), side);
  };
  if (const HostArray *table = arguments.getArray(op.getPageTable())) {
    problem.pageTable = *table;
    problem.pageRows = key.shape[1];
  }
  problem.keyRows = problem.pageTable ? problem.pageTable->shape[1] * problem.pageRows
                    : op.isPacked()   ? key.shape[0]
                                      : key.shape[1];
  auto queries =
      read(op.getQueryOffsets(), op.getQueryLengths(), query.shape[0], query.shape[op.isPacked() ? 0 : 1], "query");
  if (failed(queries))
    return failure();
  auto keys =
      read(op.getKeyOffsets(), op.getKeyLengths(), static_cast<int64_t>(queries->size()), problem.keyRows, "key");
  if (failed(keys))
    return failure();
  int64_t offset = op.getQOffset() ? *arguments.getInteger(op.getQOffset()) : 0;
  // Cumulative lengths of different numbers of sequences do not come here: their tensors have one size.
  for (auto [batch, rows] : llvm::enumerate(llvm::zip_equal(*queries, *keys))) {
    auto &[ofQuery, ofKey] = rows;
    int64_t shift = op.getAlign() == Alignment::BottomRight ? ofKey.count - ofQuery.count : 0;
    problem.sequences.push_back({static_cast<int64_t>(batch), ofQuery.start, ofKey.start, ofQuery.stored, ofQuery.count,
                                 ofKey.count, shift + offset});
  }
  return problem.pageTable ? checkPages(problem, key.shape[0]) : success();
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
  problem.tf32 = op.mayRoundToTf32();
  problem.query = RowTensor::ofRows(query);
  problem.key = RowTensor::ofRows(key);
  problem.inputKind = problem.query.kind;
  problem.queryHeads = op.getQueryHeads();
  problem.keyHeads = op.getKeyHeads();
  problem.headDim = op.getHeadDim();
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

  if (failed(readSequences(problem, arguments)))
    return failure();

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
