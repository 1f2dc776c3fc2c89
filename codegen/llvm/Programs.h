//===- Programs.h - Programs that the compiler calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_LLVM_PROGRAMS_H
#define ATTNC_CODEGEN_LLVM_PROGRAMS_H

#include "codegen/image/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attnc::codegen {

/// What a program gave back.
struct ProgramResult {
  int exitCode = 0;
  std::string output; ///< standard output
  std::string log;    ///< standard error
};

/// Runs the program at `path` and waits for it. Fails where it cannot be started or ends by a signal.
image::Result<ProgramResult> runProgram(llvm::StringRef path, llvm::ArrayRef<std::string> arguments);

/// A file with a name of its own in the system's folder for temporary files, which goes with this object.
class TemporaryFile {
public:
  /// Makes one, named after `prefix` and `suffix`, that holds `content`.
  static image::Result<TemporaryFile> create(llvm::StringRef prefix, llvm::StringRef suffix,
                                             llvm::StringRef content = "");

  TemporaryFile(TemporaryFile &&other) : filePath(std::move(other.filePath)) { other.filePath.clear(); }
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  /// Where it is.
  const std::string &path() const { return filePath; }

  /// What it holds now.
  image::Result<std::string> read() const;

  /// Leaves the file where it is.
  void keep() { filePath.clear(); }

private:
  explicit TemporaryFile(std::string path) : filePath(std::move(path)) {}

  std::string filePath;
};

} // namespace attnc::codegen

#endif // ATTNC_CODEGEN_LLVM_PROGRAMS_H
