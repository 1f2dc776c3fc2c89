//===- Guard.cpp - Faults of the compiler as values -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Guard.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

using namespace attnc;

namespace {

/// Where the work of a thread goes on after a fault.
struct Guard {
  std::jmp_buf place;
  /// Not a string: memory may be what is missing.
  std::array<char, 512> reason;
  /// Whether `operator new` and `malloc` lead here as well.
  bool catchesNew = false;
  /// Whether memory is what is missing.
  bool wantsMemory = false;
};

thread_local Guard *current = nullptr;

/// What `operator new` did before; null for throwing.
std::atomic<std::new_handler> previousHandler = nullptr;

/// Some memory to put an error into words with, where all else is used up. Little enough to come from the heap, which
/// has it when it is freed; more would be mapped for itself, and go back to the system.
constexpr size_t reserveBytes = size_t{1} << 16;

} // namespace

/// Goes to where the work of this thread was begun. Without one the program ends, as LLVM would have it.
static void leave(const char *reason) {
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

static void leaveForFault(void *, const char *reason, bool) { leave(reason); }

/// What is said of memory that the system refuses.
static constexpr const char *noMore = "the system has no more for this process";

static void leaveForMemory(void *, const char *reason, bool) {
  if (current)
    current->wantsMemory = true;
  leave(reason);
}

/// What `operator new` calls before it throws, and again when it is back.
static void refuseNew() {
  if (current && current->catchesNew)
    return leaveForMemory(nullptr, noMore, false);
  std::set_new_handler(previousHandler);
}

// Names that the linker gives (`--wrap=malloc` of CMakeLists.txt).
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" void *__real_malloc(size_t bytes);

/// `malloc` of all that is linked with this file. Parts of LLVM and MLIR use what they asked for without a look
/// (Operation::create is one), so that a guard has to see that it was refused before they do.
extern "C" void *__wrap_malloc(size_t bytes) {
  void *place = __real_malloc(bytes);
  if (!place && current && current->catchesNew)
    leaveForMemory(nullptr, noMore, false);
  return place;
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

/// Does `work` in a guard; `reserve` is freed before an error is put into words.
static image::Status run(llvm::function_ref<void()> work, bool catchesNew, void *reserve) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(leaveForFault);
    llvm::install_bad_alloc_error_handler(leaveForMemory);
  });
  Guard guard;
  guard.catchesNew = catchesNew;
  Guard *outer = current;
  current = &guard;
  if (setjmp(guard.place) != 0) { // NOLINT(cert-err52-cpp)
    current = outer;
    std::free(reserve);
    return image::Error{std::string(guard.wantsMemory ? "the compiler was refused memory: "
                                                      : "the compiler gave up, which is a fault of attnc: ") +
                        guard.reason.data()};
  }
  work();
  current = outer;
  std::free(reserve);
  return {};
}

image::Status codegen::runGuarded(llvm::function_ref<void()> work) {
  return run(work, /*catchesNew=*/false, /*reserve=*/nullptr);
}

image::Status codegen::runCompiler(llvm::function_ref<void()> work) {
  // Each time: a thread without a guard puts the one before back.
  if (std::new_handler known = std::set_new_handler(refuseNew); known != refuseNew)
    previousHandler = known;
  void *reserve = std::malloc(reserveBytes);
  // Short enough for a string to hold in itself.
  if (!reserve)
    return image::Error{"out of memory"};
  return run(work, /*catchesNew=*/true, reserve);
}

codegen::WithoutRecovery::WithoutRecovery() : before(current && current->catchesNew) {
  if (before)
    current->catchesNew = false;
}

codegen::WithoutRecovery::~WithoutRecovery() {
  if (before)
    current->catchesNew = true;
}

bool codegen::isGuarded() { return current != nullptr; }
