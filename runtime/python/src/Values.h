//===- Values.h - Python's objects as arguments of a launch -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PYTHON_VALUES_H
#define ATTNC_RUNTIME_PYTHON_VALUES_H

#include "DlpackExchange.h"

#include <attnc/attnc.h>
#include <deque>
#include <nanobind/nanobind.h>
#include <vector>

namespace attnc::python {

/// The arguments of one launch. What they point to lives as long as this does and
/// the objects that they were made from do.
class Values {
public:
  explicit Values(size_t count);

  /// Adds `object` as the argument `name`: a number, an array of numpy, or any
  /// tensor with DLPack's methods. Throws a Python error that names the argument.
  void add(nanobind::handle object, const char *name, bool isOutput);

  /// The tensor of the last argument, if it is one whose type has an exchange
  /// API; null else, and then there is no result of its framework.
  const DLTensor *getLastTensor() const { return lastApi ? &tensors.back() : nullptr; }

  /// Swaps the second and the third dimension of the last argument, a tensor of
  /// four, and gives it.
  DLTensor swapLastTensor();

  /// Whether results can be allocated by the framework of the tensors so far.
  bool canAllocate() const { return allocator && allocator->allocate && allocator->toObject; }

  /// Adds a result that the framework of the tensors allocates, in addition to the first
  /// of them, and gives it as an object of Python. `prototype` says what it is.
  nanobind::object addResult(DLTensor prototype);

  /// Whether the type of `object` has an exchange API.
  static bool isExchanged(nanobind::handle object);

  const std::vector<attnc_value> &get() const { return values; }

  /// The stream that the framework of the first tensor on a GPU works on; null for
  /// the default stream, and where there is none such.
  void *getCurrentStream() const;

private:
  void addTensor(DLTensor tensor);
  void addArray(nanobind::handle array, const nanobind::dict &interface, const char *name, bool isOutput);
  void addCapsule(nanobind::object capsule, const char *name, bool isOutput);

  std::vector<attnc_value> values;
  /// One for each value at most, so that they stay where they are.
  std::vector<DLTensor> tensors;
  /// Sizes and strides of arrays, which numpy gives as tuples.
  std::deque<std::vector<int64_t>> numbers;
  std::vector<nanobind::object> kept;
  const dlpack::ExchangeApi *streams = nullptr;
  /// Of the first tensor, and of the last argument.
  const dlpack::ExchangeApi *allocator = nullptr, *lastApi = nullptr;
  int32_t streamDevice = 0;
};

} // namespace attnc::python

#endif // ATTNC_RUNTIME_PYTHON_VALUES_H
