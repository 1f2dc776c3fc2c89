//===- JitTestSupport.h - Specs that are open -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_JIT_JITTESTSUPPORT_H
#define ATTNC_TEST_UNIT_JIT_JITTESTSUPPORT_H

#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/Session.h"
#include <gtest/gtest.h>
#include <string>

namespace attnc::test {

/// A padded spec with two query heads on one key head and head dims of 8: q, k, v and `arguments` ("%n: tensor<?xi32>",
/// named as they are written), results out and lse. `body` is what stands between operands and types.
std::string paddedSpec(const std::string &arguments = "", const std::string &body = "");

/// The same for packed sequences, with the cumulative lengths qo and ko.
std::string packedSpec(const std::string &arguments = "", const std::string &body = "");

/// A spec that is open, and its one kernel. A fault of the text fails the test.
class OpenSpec {
public:
  explicit OpenSpec(const std::string &text);

  std::string diagnostics;
  llvm::raw_string_ostream stream{diagnostics};
  jit::Session session{stream};
  attn::KernelFunction kernel;
};

/// The sizes of `kernel` at `shape`, which must fit it.
jit::Shapes shapesOf(const attn::KernelFunction &kernel, const std::string &shape,
                     llvm::ArrayRef<std::string> dims = {});

/// The number of the input called `name`.
size_t inputIndex(const attn::KernelFunction &kernel, llvm::StringRef name);

/// The elements of `tensor` in row-major order.
std::vector<double> elements(const runtime::Tensor &tensor);

/// The bytes of a row-major tensor.
std::string bytes(const runtime::Tensor &tensor);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_JIT_JITTESTSUPPORT_H
