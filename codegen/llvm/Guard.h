//===- Guard.h - Faults of the compiler as values ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_LLVM_GUARD_H
#define ATTNC_CODEGEN_LLVM_GUARD_H

#include "codegen/image/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attnc::codegen {

/// Does `work`. Where LLVM would end the program in this thread, because it meets what it cannot compile or is refused
/// memory, the work ends there, what it holds is never freed, and the reason is an error. LLVM's handlers are those of
/// this process from the first call on, for the copy of LLVM that attnc is linked with.
image::Status runGuarded(llvm::function_ref<void()> work);

/// The same for work of the compiler alone, where `operator new` or `malloc` is refused memory as well: the one would
/// throw, through frames that catch nothing, and what the other gives is used without a look. The work holds no lock
/// that outlives it, and has no threads of its own, unless below a `WithoutRecovery`. The handler of `operator new` is
/// that of this process, for the copy of the C++ library that attnc is linked with; other threads get what they had
/// before.
image::Status runCompiler(llvm::function_ref<void()> work);

/// While this lives, its thread does not leave its work where the system refuses memory: other threads have
/// addresses of its frames.
class WithoutRecovery {
public:
  WithoutRecovery();
  ~WithoutRecovery();
  WithoutRecovery(const WithoutRecovery &) = delete;
  WithoutRecovery &operator=(const WithoutRecovery &) = delete;

private:
  bool before;
};

/// Whether this thread is in one of the two. Work that it hands to other threads is to be guarded as well then.
bool isGuarded();

} // namespace attnc::codegen

#endif // ATTNC_CODEGEN_LLVM_GUARD_H
