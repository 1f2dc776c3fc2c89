//===- SpecServer.h - Many specs in one process -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_CONFORMANCE_SPECSERVER_H
#define ATTNC_TEST_CONFORMANCE_SPECSERVER_H

#include "llvm/ADT/StringRef.h"

namespace attnc::conformance {

/// Runs specs on `target` until standard input ends, each `repeats` times, and judges the results against the fp64
/// reference: what starting a program for each would cost is paid once. Where `repeats` is 0 they are compiled, for any
/// target that `attnc compile` takes, and nothing runs. With `backward` all of that is done to their gradients: the
/// tensors are those of the backward, what forward has saved among them.
///
/// A request is a line with tabs between a spec's path, that of the tensors of its arguments, that where results go
/// (the reference's as f64, and the kernel's as "got/NAME"), and how tensors lie in memory: "row-major", "heads-first"
/// or "odd". The answer is a line of JSON: how far it came ("stage"), why no further ("error"), a judgement of each
/// result, and the seconds that each part took. Gives the exit status.
int serveSpecs(llvm::StringRef target, unsigned repeats, bool backward);

} // namespace attnc::conformance

#endif // ATTNC_TEST_CONFORMANCE_SPECSERVER_H
