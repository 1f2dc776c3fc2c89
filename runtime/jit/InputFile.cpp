//===- InputFile.cpp - Reading files that a user names ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/InputFile.h"
#include "runtime/jit/SpecText.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace attnc;
using namespace attnc::jit;
using image::Error;
using image::Result;
using image::Status;
using llvm::StringRef;

/// How long a pipe may have nobody who writes to it.
static constexpr std::chrono::seconds patience{5};

/// The most bytes that one call asks for.
static constexpr size_t chunk = size_t(1) << 16;

/// Whether `descriptor` has something to read, or is at its end. Waits without end where `wait` says so.
static bool isReady(int descriptor, bool wait) {
  pollfd request{descriptor, POLLIN, 0};
  return llvm::sys::RetryAfterSignal(-1, ::poll, &request, nfds_t(1), wait ? -1 : 0) != 0;
}

/// Reads all of `descriptor`, at most `most` bytes, into `text`. A pipe is open without blocking: it gives nothing
/// while nobody has opened it to write.
static Status readAll(int descriptor, bool isPipe, size_t most, llvm::SmallVectorImpl<char> &text) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    size_t known = text.size();
    text.resize_for_overwrite(known + chunk);
    ssize_t size = llvm::sys::RetryAfterSignal(-1, ::read, descriptor, text.data() + known, chunk);
    text.truncate(known + static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (text.size() > most)
      return Error{"expected at most " + std::to_string(most) + " bytes"};
    if (size > 0)
      continue;
    if (size < 0 && errno != EAGAIN)
      return Error{llvm::sys::StrError()};
    if (size < 0) {
      isReady(descriptor, /*wait=*/true);
      continue;
    }
    bool nobodyYet = isPipe && text.empty() && !isReady(descriptor, /*wait=*/false);
    if (!nobodyYet)
      return {};
    if (std::chrono::steady_clock::now() > deadline)
      return Error{"it is a pipe that nobody writes to"};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<std::unique_ptr<llvm::MemoryBuffer>> jit::readInput(StringRef path, size_t most) {
  auto failure = [&](const std::string &why) { return Error{"cannot read '" + path.str() + "': " + why}; };
  bool standardInput = path == "-";
  int descriptor = standardInput ? STDIN_FILENO : ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failure(llvm::sys::StrError());
  auto closer = llvm::scope_exit([&] {
    if (!standardInput)
      ::close(descriptor);
  });
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0)
    return failure(llvm::sys::StrError());
  if (S_ISDIR(info.st_mode))
    return failure("it is a directory");
  llvm::SmallVector<char> text;
  if (Status status = readAll(descriptor, S_ISFIFO(info.st_mode) && !standardInput, most, text); !status)
    return failure(status.message());
  return llvm::MemoryBuffer::getMemBufferCopy(StringRef(text.data(), text.size()), standardInput ? "<stdin>" : path);
}

Result<std::unique_ptr<llvm::MemoryBuffer>> jit::readSpec(StringRef path) { return readInput(path, longestSpec); }
