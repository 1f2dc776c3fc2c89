//===- ScheduleOption.h - A schedule of the command line --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_SCHEDULEOPTION_H
#define ATTNC_TOOLS_ATTNC_SCHEDULEOPTION_H

#include "dialect/attn/KernelFunction.h"
#include "runtime/Error.h"

namespace attnc::cli {

/// Gives all kernels of `function` the schedule that `text` holds, an attribute `#attn.schedule<...>` or an array of
/// them, in place of what the spec says. A fault is shown in the text, and is `jit::reported()`.
runtime::Status setSchedule(llvm::StringRef text, attn::KernelFunction &function);

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_SCHEDULEOPTION_H
