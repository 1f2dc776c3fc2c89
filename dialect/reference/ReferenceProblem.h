//===- ReferenceProblem.h - A kernel with its arguments ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One attention operation and the arrays that it runs on, so that padded and packed tensors look alike.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_REFERENCE_REFERENCEPROBLEM_H
#define ATTNC_DIALECT_REFERENCE_REFERENCEPROBLEM_H

#include "dialect/reference/Reference.h"
#include "dialect/reference/ReferenceProgram.h"

namespace attnc::attn::reference {

/// A tensor addressed by batch entry, stored row, head and element. A packed one has no batch stride.
struct RowTensor {
  void *data;
  ElementKind kind;
  int64_t batchStride, rowStride, headStride, elementStride;

  /// Of [B, S, H, D], or packed [T, H, D]: queries, keys, values and outputs.
  static RowTensor ofRows(const HostArray &array);
  /// Of [B, H, S], or packed [H, T]: one LSE a row.
  static RowTensor ofLse(const HostArray &array);
  /// Of [B, H, Sq, Sk]: probabilities.
  static RowTensor ofWeights(const HostArray &array);

  int64_t offset(int64_t batch, int64_t row, int64_t head, int64_t element = 0) const {
    return batch * batchStride + row * rowStride + head * headStride + element * elementStride;
  }
  double load(int64_t offset) const { return loadElement(kind, data, offset); }
  void store(int64_t offset, double value) const { storeElement(kind, data, offset, value); }
};

/// One batch entry, or one sequence of packed tensors (S11). Rows are counted from 0 within it.
struct Sequence {
  int64_t batch;
  int64_t queryStart, keyStart;   ///< stored row of row 0; 0 for padded tensors
  int64_t queryRows;              ///< stored rows, with padding
  int64_t queryLength, keyLength; ///< rows that exist
  int64_t positionOffset;         ///< from a query row to its position: shift of the alignment, and q_offset (S2)
};

/// An attention operation, ready to run.
struct Problem {
  KernelOpInterface op;
  Precision precision;
  RowTensor query, key;
  std::optional<RowTensor> value;
  ElementKind inputKind; ///< element type of query, key and value
  int64_t queryHeads, keyHeads, headDim;
  int64_t valueDim; ///< 0 where there are no values
  int64_t keyRows;  ///< stored rows of keys, with padding
  double scale;
  std::optional<HostArray> sinks; ///< [Hq, n] or [n]
  bool tf32 = false;              ///< products may round f32 to that (S13)
  bool hasDropout = false;
  float dropout = 0; ///< probability (S9)
  uint64_t seed = 0;
  uint32_t firstBatch = 0, firstHead = 0; ///< numbers of the first batch entry and head, for dropout
  std::vector<Sequence> sequences;
  std::optional<HostArray> pageTable; ///< pages of keys, [B, Sk / pageRows] (S19)
  int64_t pageRows = 0;               ///< rows of a page
  std::optional<ScalarProgram> score, mask;

  /// Binds `op` to checked arguments and compiles its regions.
  static mlir::FailureOr<Problem> get(KernelOpInterface op, const Arguments &arguments, Precision precision);

  int64_t numSinks() const { return sinks ? sinks->shape.back() : 0; }
  /// Offset of key `j` of a sequence in `tensor`, which is that of keys or of values.
  int64_t keyOffset(const RowTensor &tensor, const Sequence &sequence, int64_t j, int64_t head) const;
  /// Offset of sink `index` of `head` in `sinks`.
  int64_t sinkOffset(int64_t head, int64_t index) const;
  /// `value` as the input dtype holds it in Baseline; unchanged in Exact.
  double roundToInput(double value) const {
    return precision == Precision::Exact ? value : roundToKind(inputKind, value);
  }
  /// `value` as a product multiplies it in Baseline; unchanged in Exact.
  double roundToOperand(double value) const {
    return precision == Precision::Baseline && tf32 ? roundToTf32(value) : roundToInput(value);
  }
};

/// The results of one operation, or their gradients. A function may return a result twice, or not at all.
struct ResultTensors {
  llvm::SmallVector<RowTensor> out, lse, weights;

  /// Picks those of `op` from arrays for all results of the function; absent arrays are left out.
  static ResultTensors get(const KernelFunction &kernel, KernelOpInterface op,
                           llvm::ArrayRef<std::optional<HostArray>> arrays);
};

/// Binds all operations of the function. One that fails, fails before any has run.
mlir::FailureOr<std::vector<Problem>> bindProblems(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs,
                                                   Precision precision);

/// Computes the gradients that `problem`, an `attn.backward`, gives, and writes those that `outputs`, one for each
/// result of the function, hold an array for. Baseline reads `out` and `lse`; Exact computes both itself.
void runBackwardKernel(const KernelFunction &kernel, const Problem &problem, llvm::ArrayRef<ReferenceValue> inputs,
                       llvm::ArrayRef<std::optional<HostArray>> outputs, const ReferenceOptions &options);

/// The stored query rows of a sequence that `options` ask for.
std::vector<int64_t> selectRows(const ReferenceOptions &options, const Sequence &sequence);
/// Calls `body` once for each of 0 to n - 1, on the threads of `options`.
void forEachTask(const ReferenceOptions &options, int64_t n, llvm::function_ref<void(int64_t)> body);

/// Checks the arguments of a call: their number, types, shapes and scalars (S18). Lengths are checked by Problem::get.
mlir::LogicalResult checkInputs(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs);

/// Checks that there is one array, or none, for each of `described` (arguments or results of the kernel), of a float
/// type and of the shape that checked `inputs` give it. `what` names the list in messages.
mlir::LogicalResult checkFloatArrays(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs,
                                     llvm::StringRef what, llvm::ArrayRef<KernelArgument> described,
                                     llvm::ArrayRef<std::optional<HostArray>> arrays);

} // namespace attnc::attn::reference

#endif // ATTNC_DIALECT_REFERENCE_REFERENCEPROBLEM_H
