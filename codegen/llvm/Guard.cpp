//===- Guard.cpp - Faults of the compiler as values -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Guard.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace attnc;

namespace {

/// Where the work of a thread goes on after a fault.
struct Guard {
  std::jmp_buf place;
  /// Not a string: memory may be what is missing.
  std::array<char, 512> reason;
};

thread_local Guard *current = nullptr;

} // namespace

/// Goes to where the work of this thread was begun. Without one the program ends, as LLVM would have it.
static void leave(void *, const char *reason, bool) {
  if (!current) {
    (void)std::fprintf(stderr, "attnc: error: %s; this is a fault of attnc\n", reason);
    std::abort();
  }
  size_t length = std::min(std::strlen(reason), current->reason.size() - 1);
  std::memcpy(current->reason.data(), reason, length);
  current->reason[length] = '\0';
  // No destructors are run, as where LLVM recovers from crashes (llvm/Support/CrashRecoveryContext.h).
  std::longjmp(current->place, 1); // NOLINT(cert-err52-cpp)
}

runtime::Status codegen::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(leave);
    llvm::install_bad_alloc_error_handler(leave);
  });
  Guard guard;
  Guard *outer = current;
  current = &guard;
  if (setjmp(guard.place) != 0) { // NOLINT(cert-err52-cpp)
    current = outer;
    return runtime::Error{std::string("the compiler gave up, which is a fault of attnc: ") + guard.reason.data()};
  }
  work();
  current = outer;
  return {};
}

bool codegen::isGuarded() { return current != nullptr; }
