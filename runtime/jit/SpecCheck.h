//===- SpecCheck.h - What a spec may not hold -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The verifier says what is a spec to the passes; some of that only passes write, and they believe it. What a user
// hands in is held to more.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SPECCHECK_H
#define ATTNC_RUNTIME_JIT_SPECCHECK_H

#include "mlir/IR/BuiltinOps.h"

namespace attnc::jit {

/// The most operations of a region, and how many of them may be of `math` or read captured tensors, which cost much
/// more code than the rest.
inline constexpr size_t mostOperations = 1024, mostCostlyOperations = 64;

/// The most sinks of a head.
inline constexpr int64_t mostSinks = 1024;

/// The most kernels of a function, and arguments of it.
inline constexpr size_t mostKernels = 32, mostArguments = 1024;

/// The most characters of the name of a function, an argument or a result.
inline constexpr size_t longestName = 256;

/// Refuses, with a diagnostic, what only passes may write (`bounds`, `blocks` and what belongs to them, encodings of
/// tensor types) and what is beyond the limits. Settles which indices are coordinates, which the generic form of
/// operations leaves open.
mlir::LogicalResult checkSpec(mlir::ModuleOp spec);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SPECCHECK_H
