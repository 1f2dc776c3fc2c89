//===- ScheduleText.h - A schedule as text ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SCHEDULETEXT_H
#define ATTNC_RUNTIME_JIT_SCHEDULETEXT_H

#include "codegen/image/Error.h"
#include "dialect/attn/KernelFunction.h"

namespace attnc::jit {

/// Gives all kernels of `function` the schedule that `text` holds, an attribute `#attn.schedule<...>` or an array of
/// them, in place of what the spec says. A fault is shown on `os` in the text, which is called `name`, and is
/// `reported()`.
image::Status setSchedule(llvm::StringRef text, llvm::StringRef name, llvm::raw_ostream &os,
                          attn::KernelFunction &function);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SCHEDULETEXT_H
