//===- Guard.h - Faults of the compiler as values ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_LLVM_GUARD_H
#define ATTNC_CODEGEN_LLVM_GUARD_H

#include "runtime/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attnc::codegen {

/// Does `work`. Where LLVM would end the program in this thread, because it meets what it cannot compile or is refused
/// memory, the work ends there, what it holds is never freed, and the reason is an error. LLVM's handlers are those of
/// this process from the first call on, for the copy of LLVM that attnc is linked with.
runtime::Status runGuarded(llvm::function_ref<void()> work);

/// Whether this thread is in `runGuarded`. Work that it hands to other threads is to be guarded as well then.
bool isGuarded();

} // namespace attnc::codegen

#endif // ATTNC_CODEGEN_LLVM_GUARD_H
