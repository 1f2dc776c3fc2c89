//===- Reference.h - The executable meaning of a kernel ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Executes a kernel function one query row at a time, slowly and obviously: the definition that every target is tested
// against. It reads the operations as they are written; no pass runs before it, and `bounds`, `blocks` and schedules,
// which change nothing, are not looked at.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_REFERENCE_REFERENCE_H
#define ATTNC_DIALECT_REFERENCE_REFERENCE_H

#include "dialect/attn/KernelFunction.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace attnc::attn {

/// Element types of host arrays. `i1` takes one byte, 0 or not; `index` is stored as I64.
enum class ElementKind : uint8_t { F64, F32, F16, BF16, I1, I8, I32, I64 };

/// The kind that `type` is stored as, or nothing where host arrays cannot hold it.
std::optional<ElementKind> getElementKind(mlir::Type type);

/// Element `offset` of `data` as a double: exact, but for I64 beyond 2^53. A set I1 is 1.
double loadElement(ElementKind kind, const void *data, int64_t offset);

/// Element `offset` of `data` as an integer; floats are truncated towards zero. A set I1 is 1.
int64_t loadIntegerElement(ElementKind kind, const void *data, int64_t offset);

/// Writes `value`, rounded to the kind: floats to nearest even, integers towards zero.
void storeElement(ElementKind kind, void *data, int64_t offset, double value);

/// `value` rounded to a float kind, nearest even, with that kind's subnormals and overflow to infinity; other kinds
/// leave it as it is.
double roundToKind(ElementKind kind, double value);
/// An f32 with the eleven bits of TF32, to the nearest.
double roundToTf32(double value);

/// A tensor in host memory, not owned. Its rank is the size of `shape`.
struct HostArray {
  mlir::Type elementType; ///< one that getElementKind knows
  void *data = nullptr;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides; ///< in elements, one a dimension; 0 and negative ones are legal

  /// A dense row-major array over `data`.
  static HostArray dense(mlir::Type elementType, void *data, llvm::ArrayRef<int64_t> shape);

  /// Offset of an element in elements; one index a dimension, inside the shape.
  int64_t offset(llvm::ArrayRef<int64_t> indices) const;
  /// The element at `indices` as a double, as loadElement.
  double load(llvm::ArrayRef<int64_t> indices) const;
  /// Writes the element at `indices`, as storeElement.
  void store(llvm::ArrayRef<int64_t> indices, double value) const;
};

/// One argument: a tensor, a float scalar, or an integer or index scalar.
using ReferenceValue = std::variant<HostArray, double, int64_t>;

/// How numbers are carried.
enum class Precision {
  /// fp64 throughout, on the up-cast inputs. Narrowing in a region (`arith.truncf`) rounds nothing.
  Exact,
  /// The same mathematics done plainly in the input dtype: products accumulate in f32, regions and softmax in f32, the
  /// probabilities are rounded to the dtype before they meet the values, and results to their own; an
  /// `attn.backward` computes probabilities from its `lse`, and delta from its `out`. Its distance from Exact is the
  /// error that a kernel may have.
  Baseline,
};

/// How to run the reference.
struct ReferenceOptions {
  Precision precision = Precision::Exact;
  /// Query rows to compute, as stored within each sequence; empty for all. Other rows of the results are left
  /// untouched, and in the backward contribute nothing. Rows after a sequence's last stored row are skipped.
  std::vector<int64_t> rows;
  /// Calls its second argument once for each of 0 to n - 1, in any order and on any threads, and returns when all are
  /// done; absent: one after the other. What it refers to must outlive the run.
  llvm::function_ref<void(int64_t n, llvm::function_ref<void(int64_t)>)> parallelFor;
};

/// Computes the results of `kernel` (S1 to S15). There is one input for each argument and one output for each result of
/// the function; outputs hold any float type. A row takes O(Sk) memory. Fails with a diagnostic at the function for an
/// argument that does not fit (S18), and at the operation for one without a meaning here; then nothing is written.
mlir::LogicalResult runReference(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs,
                                 llvm::MutableArrayRef<HostArray> outputs, const ReferenceOptions &options = {});

/// Writes what the backward kernels of `kernel` take from forward, their arguments `out` and `lse`, as forward computes
/// them from the other inputs. Fails as runReference does.
mlir::LogicalResult computeSavedResults(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs,
                                        const ReferenceOptions &options = {});

/// Computes the gradients of sum(gradOutputs * outputs) by the plain formulas (S15). `gradOutputs` holds one array for
/// each result of the function, or nothing for a gradient of zero; `lse` and weights have gradients too. `gradInputs`
/// holds one array for each argument whose gradient is asked for: query, key, value, sinks and floating tensors that
/// the score region reads. They are overwritten, with the sum over dimensions that broadcast; f64 is advised. Baseline
/// rounds the gradients of logits and the results to the input dtype. Where a maximum ties, its first operand takes the
/// gradient. With threads, sums over query heads and sequences may come in any order. Fails as runReference does.
mlir::LogicalResult runReferenceBackward(const KernelFunction &kernel, llvm::ArrayRef<ReferenceValue> inputs,
                                         llvm::ArrayRef<std::optional<HostArray>> gradOutputs,
                                         llvm::ArrayRef<std::optional<HostArray>> gradInputs,
                                         const ReferenceOptions &options = {});

} // namespace attnc::attn

#endif // ATTNC_DIALECT_REFERENCE_REFERENCE_H
