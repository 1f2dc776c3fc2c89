//===- Shapes.h - Sizes for a kernel's arguments ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// From "B=2,Sq=1023,Sk=1024" to the shape of every argument and result.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SHAPES_H
#define ATTNC_RUNTIME_JIT_SHAPES_H

#include "codegen/image/Error.h"
#include "dialect/attn/KernelFunction.h"
#include "runtime/Tensor.h"
#include <map>

namespace attnc::jit {

/// Sizes as someone asked for them, checked for form only.
struct ShapeRequest {
  /// Sizes of symbols, "B" to 2, and of single dimensions of tensors that have no name of their own, "bias.0" to 1.
  std::map<std::string, int64_t> symbols;
  /// Sizes of single dimensions, by tensor and dimension: ("bias", 0) to 1.
  std::map<std::pair<std::string, unsigned>, int64_t> dims;
};

/// Reads `shape`, "B=2,Sq=128,bias.0=1" or empty, and each of `dims`, "bias.0=1".
image::Result<ShapeRequest> parseShape(llvm::StringRef shape, llvm::ArrayRef<std::string> dims = {});

/// The size of every symbol of one kernel, and of dimensions that broadcast.
class Shapes {
public:
  /// Completes `request` for `kernel`: sizes that the spec fixes need not be given, and "B+1", the size of cumulative
  /// lengths, is as good as "B". Errors name every size that is missing, or the one that does not fit.
  static image::Result<Shapes> resolve(const attn::KernelFunction &kernel, const ShapeRequest &request);

  /// The number of sequences.
  int64_t batch() const { return sequences; }

  /// Rows of all queries in the tensors: Sq, or Tq where they are packed.
  int64_t queryRows() const { return queries; }

  /// What conditions of schedules speak of, for an operation of `kernel`: each size with its number.
  attn::SizesAttr launchSizes(const attn::KernelFunction &kernel, attn::KernelOpInterface op) const;

  /// Rows of all keys in the tensors: Sk, or Tk where they are packed.
  int64_t keyRows() const { return keys; }

  /// Whether sequences are packed (S11).
  bool packed() const { return isPacked; }

  /// The shape of an argument or result of the kernel.
  runtime::Dims shapeOf(const attn::KernelArgument &argument) const;

  /// "B=2, Sq=128, Sk=256".
  std::string toString() const;

private:
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  std::map<std::pair<std::string, unsigned>, int64_t> broadcast;
  int64_t sequences = 0, queries = 0, keys = 0; ///< by the tensors: symbols have other names where axes are joined
  bool isPacked = false;
};

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SHAPES_H
