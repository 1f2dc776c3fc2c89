//===- ArgumentContent.h - Checks of values at launch ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The part of the argument checks that looks at values rather than at shapes:
// scalars, and the elements of length tensors. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_ARGUMENTCONTENT_H
#define ATTNC_RUNTIME_ARGUMENTCONTENT_H

#include "runtime/Arguments.h"

namespace attnc::runtime {

/// An error about `arg`: "argument 'k': expected <expected>, got <got>".
image::Error argumentError(const image::ArgSpec &arg, const std::string &expected, const std::string &got);

/// The slot of the argument block for scalar `value`, an integer or a real
/// number, once it is checked against `arg`.
image::Result<int64_t> encodeScalar(const image::ArgSpec &arg, const ArgValue &value);

/// Checks `offset`, which `arg` adds to positions, against its rules, given the size of each symbol (S2).
image::Status checkPositions(const image::ArgSpec &arg, int64_t offset, image::Span<const int64_t> symbolSizes);

/// Checks the elements of `tensor`, whose form is checked, against the content
/// rule of `arg`. `symbol` and `size` are the name and size of one of its content
/// symbols.
image::Status checkContent(const image::ArgSpec &arg, const Tensor &tensor, const std::string &symbol, int64_t size);

/// Checks the entries of `table`, whose form is checked, against a page rule of
/// `arg`: those that keys of `lengths`, or all where that is null, need are below
/// `pages`.
image::Status checkPages(const image::ArgSpec &arg, const Tensor &table, const image::PageRule &rule, int64_t pages,
                         const Tensor *lengths);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_ARGUMENTCONTENT_H
