//===- OutputFile.cpp - Writing what a command gives ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace attnc;
using namespace attnc::cli;
using namespace llvm;
using image::Status;
namespace fs = llvm::sys::fs;

/// How long a pipe may have nobody who reads it.
static constexpr std::chrono::seconds patience{5};

/// The most links that lead from one to the next.
static constexpr unsigned mostLinks = 40;

/// The error that `path` cannot be written because of `why`.
static image::Error cannotWrite(StringRef path, const Twine &why) {
  std::string place = path.empty() || path == "-" ? "standard output" : ("'" + path + "'").str();
  return image::Error{("cannot write " + place + ": " + why).str()};
}

/// What there is at `path`, which "-" makes the standard stream `stream`; `exists` is false of it where there is
/// nothing.
static fs::file_status lookUp(StringRef path, int stream) {
  fs::file_status status;
  std::error_code error = path.empty() || path == "-" ? fs::status(stream, status) : fs::status(path, status);
  return error ? fs::file_status() : status;
}

/// Whether writing `file` at `path` means writing to the standard stream `stream`: a name of it, as /dev/stdout is.
static bool isStream(const fs::file_status &file, int stream) {
  fs::file_status status;
  return fs::exists(file) && !fs::status(stream, status) && fs::equivalent(file, status);
}

Status cli::checkOutput(StringRef path, ArrayRef<StringRef> sources) {
  fs::file_status output = lookUp(path, STDOUT_FILENO);
  if (fs::is_directory(output))
    return cannotWrite(path, "it is a directory");
  if (!fs::is_regular_file(output))
    return {};
  for (StringRef source : sources)
    if (fs::file_status input = lookUp(source, STDIN_FILENO); fs::exists(input) && fs::equivalent(input, output))
      return cannotWrite(path, "it is the same file as the input '" + source + "'");
  return {};
}

/// Where the links from `path` end, be there a file or not.
static ErrorOr<std::string> followLinks(StringRef path) {
  namespace stdfs = std::filesystem;
  stdfs::path place(path.str());
  for (unsigned count = 0; count < mostLinks; ++count) {
    std::error_code error;
    if (!stdfs::is_symlink(stdfs::symlink_status(place, error)))
      return place.string();
    stdfs::path next = stdfs::read_symlink(place, error);
    if (error)
      return error;
    place = next.is_absolute() ? next : place.parent_path() / next;
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

/// Writes by `write` to the open file `descriptor`; what went wrong.
static std::error_code writeTo(int descriptor, function_ref<void(raw_ostream &)> write) {
  raw_fd_ostream os(descriptor, /*shouldClose=*/false);
  write(os);
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

namespace {

/// A file in the folder of another, gone with this object or with a signal unless `moveTo` succeeds.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef sibling) {
    // Not fs::TempFile, which takes a '%' of the folder's name for a place to fill in.
    static unsigned counter = 0;
    sys::path::append(name, sys::path::parent_path(sibling),
                      ".attnc-" + Twine(::getpid()) + "-" + Twine(counter++) + ".tmp");
    sys::RemoveFileOnSignal(name);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
      error = errnoAsErrorCode();
  }

  ~TemporaryFile() {
    if (descriptor >= 0) {
      ::close(descriptor);
      if (!moved)
        ::unlink(name.c_str());
    }
    sys::DontRemoveFileOnSignal(name);
  }

  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// What went wrong when the file was made.
  std::error_code error;

  /// The open file.
  int descriptor = -1;

  /// Puts the file in the place of `path`.
  std::error_code moveTo(const std::string &path) {
    if (std::error_code failure = fs::rename(name, path))
      return failure;
    moved = true;
    return {};
  }

private:
  SmallString<128> name;
  bool moved = false;
};

} // namespace

/// Writes the regular file at `path`, which has no links left and is now `old`, or nothing.
static Status replaceFile(const std::string &path, const fs::file_status &old,
                          function_ref<void(raw_ostream &)> write) {
  // Renaming asks for the folder alone; a file that its owner has shut stays.
  if (fs::exists(old))
    if (std::error_code error = fs::access(path, fs::AccessMode::Write))
      return cannotWrite(path, error.message());
  TemporaryFile file(path);
  std::error_code error = file.error ? file.error : writeTo(file.descriptor, write);
  if (!error && fs::exists(old) && ::fchmod(file.descriptor, old.permissions() & fs::all_perms) != 0)
    error = errnoAsErrorCode();
  if (!error && ::fsync(file.descriptor) != 0)
    error = errnoAsErrorCode();
  if (!error)
    error = file.moveTo(path);
  if (error)
    return cannotWrite(path, error.message());
  return {};
}

/// Opens a device or a pipe to write. A pipe is given some time to find a reader.
static int openInPlace(const std::string &path) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor >= 0) {
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    if (errno != ENXIO || std::chrono::steady_clock::now() > deadline)
      return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status cli::writeFile(StringRef path, function_ref<void(raw_ostream &)> write) {
  if (path.empty() || path == "-") {
    write(outs());
    return flushStandardOutput();
  }
  if (Status status = checkOutput(path, {}); !status)
    return status;
  fs::file_status there = lookUp(path, STDOUT_FILENO);
  if (isStream(there, STDOUT_FILENO)) {
    write(outs());
    return flushStandardOutput();
  }
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    int descriptor = openInPlace(path.str());
    if (descriptor < 0)
      return cannotWrite(path, errno == ENXIO ? "nobody reads it" : sys::StrError());
    std::error_code error = writeTo(descriptor, write);
    ::close(descriptor);
    if (error)
      return cannotWrite(path, error.message());
    return {};
  }
  ErrorOr<std::string> target = followLinks(path);
  if (!target)
    return cannotWrite(path, target.getError().message());
  return replaceFile(*target, there, write);
}

Status cli::flushStandardOutput() {
  outs().flush();
  std::error_code error = outs().error();
  // The stream's destructor ends the program where an error is left.
  outs().clear_error();
  if (error)
    return cannotWrite("-", error.message());
  return {};
}

void cli::prepareStandardStreams() {
  // A closed stream's number would go to the next file that is opened, and text meant for the stream into it. Opened
  // the wrong way round, every use of it fails.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}
