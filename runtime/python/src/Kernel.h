//===- Kernel.h - Kernels of attnc.h for Python -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PYTHON_KERNEL_H
#define ATTNC_RUNTIME_PYTHON_KERNEL_H

#include "Values.h"
#include <attnc/attnc.h>
#include <memory>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attnc::python {

/// One dimension of an argument.
struct Dimension {
  std::optional<int64_t> size;
  std::optional<std::string> symbol;
  int64_t extra;
  int64_t unit;
  bool broadcast;
};

/// What one argument of a kernel is.
struct Argument {
  std::string name;
  bool isTensor, isOutput;
  std::string dtype;
  nanobind::tuple dims; ///< of `Dimension`
};

/// A kernel that is ready to launch.
class Kernel {
public:
  explicit Kernel(attnc_kernel *given);

  const attnc_kernel_info &getInfo() const { return info; }

  /// Of `Argument`: made once, since calls go through it.
  const nanobind::tuple &getArguments() const { return described; }

  /// Launches on `stream`, or where the framework of the tensors works.
  void launch(const nanobind::tuple &given, std::optional<uintptr_t> stream);
  /// Bytes that a launch takes in addition to its arguments: sizes of arrays without gaps at multiples of 16 bytes, and
  /// numbers.
  uint64_t getWorkspace(const std::vector<std::variant<int64_t, std::vector<int64_t>>> &given) const;

  /// Launches on inputs alone, if they are tensors of one framework that can
  /// allocate the results, on the given device, and need no gradients: gives the
  /// results. None otherwise: nothing was done, and Python has to. With
  /// `headsFirst` the first three and the first result are [B, H, S, D]. Tensors that require gradients are Python's,
  /// but where a caller `learns`: then it sees to their gradients, and nothing is captured, so that with `headsFirst`
  /// all tensors of four dimensions are [B, H, S, D].
  nanobind::object call(const nanobind::tuple &given, int32_t deviceType, int32_t deviceId, bool headsFirst,
                        bool learns);

private:
  /// Where the size of a result's dimension is from: a number, or a dimension of
  /// one of the inputs.
  struct Source {
    size_t argument;
    int32_t dimension;
    int64_t extra, unit;
    bool broadcast;
  };
  struct ResultDimension {
    int64_t size; ///< -1 where an input says
    std::vector<Source> sources;
  };
  struct ResultType {
    uint8_t code, bits;
    std::vector<ResultDimension> dims;
  };

  void describeResults();
  void run(const Values &values, void *stream);

  std::unique_ptr<attnc_kernel, void (*)(attnc_kernel *)> handle;
  attnc_kernel_info info = {};
  nanobind::tuple described;
  /// What errors and checks need of each argument.
  std::vector<std::pair<std::string, bool>> namesAndOutputs;
  /// Whether each argument is a tensor.
  std::vector<bool> areTensors;
  std::vector<ResultType> results;
};

} // namespace attnc::python

#endif // ATTNC_RUNTIME_PYTHON_KERNEL_H
