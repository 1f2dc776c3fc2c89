//===- ArgSpecs.h - A kernel's arguments for the runtime --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_ARGSPECS_H
#define ATTNC_RUNTIME_JIT_ARGSPECS_H

#include "dialect/attn/KernelFunction.h"
#include "runtime/KernelImage.h"

namespace attnc::jit {

/// An image that holds no code, only what `kernel` asks of its callers: symbols and arguments, inputs first.
runtime::KernelImage describeArguments(const attn::KernelFunction &kernel);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_ARGSPECS_H
