//===- ToyTarget.h - A target that lists operations -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The least that a target is: an attribute for its machines, which chooses schedules, a backend, which makes code
// of tile programs, and a line in the list of what runs it. A toy's code is a list of the operations that it would
// carry out.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_TOY_TARGET_TOYTARGET_H
#define ATTNC_TEST_UNIT_TOY_TARGET_TOYTARGET_H

#include "codegen/target/Backend.h"
#include "runtime/jit/Target.h"

namespace attnc::toy {

/// The machine "toy". Tiles have four queries and eight keys. Stages: listing.
const target::Backend &getBackend();

/// What would run its code, if anything did.
const jit::Target &getTarget();

/// Makes both known, once. Before any kernel is compiled.
void registerAll();

} // namespace attnc::toy

#endif // ATTNC_TEST_UNIT_TOY_TARGET_TOYTARGET_H
