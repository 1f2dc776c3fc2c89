//===- Programs.cpp - Programs that the compiler calls ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Programs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace attnc;
using namespace attnc::codegen;
using image::Result;
using llvm::SmallString;
using llvm::StringRef;

namespace fs = llvm::sys::fs;

Result<ProgramResult> codegen::runProgram(StringRef program, llvm::ArrayRef<std::string> arguments) {
  Result<TemporaryFile> output = TemporaryFile::create("attnc", "out"), log = TemporaryFile::create("attnc", "log");
  if (!output || !log)
    return output ? log.takeError() : output.takeError();
  llvm::SmallVector<StringRef> words = {program};
  words.append(arguments.begin(), arguments.end());
  std::string why;
  bool notStarted = false;
  ProgramResult result;
  result.exitCode = llvm::sys::ExecuteAndWait(program, words, std::nullopt,
                                              {StringRef(), StringRef(output->path()), StringRef(log->path())},
                                              /*SecondsToWait=*/0, /*MemoryLimit=*/0, &why, &notStarted);
  // A negative code is that of a program that was not started, or that crashed.
  if (notStarted || result.exitCode < 0)
    return image::Error{program.str() + " did not run to its end: " + why};
  Result<std::string> outputText = output->read(), logText = log->read();
  if (!outputText || !logText)
    return outputText ? logText.takeError() : outputText.takeError();
  result.output = std::move(*outputText);
  result.log = std::move(*logText);
  return result;
}

Result<TemporaryFile> TemporaryFile::create(StringRef prefix, StringRef suffix, StringRef content) {
  int descriptor = -1;
  SmallString<128> name;
  if (std::error_code error = fs::createTemporaryFile(prefix, suffix, descriptor, name))
    return image::Error{"no temporary file can be made: " + error.message()};
  TemporaryFile file(name.str().str());
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << content;
  os.close();
  if (os.has_error()) {
    std::string why = os.error().message();
    os.clear_error();
    return image::Error{"cannot write " + file.path() + ": " + why};
  }
  return Result<TemporaryFile>(std::move(file));
}

TemporaryFile::~TemporaryFile() {
  // A file that cannot be removed is left to the system, which cleans up its temporary folder.
  if (!filePath.empty())
    llvm::consumeError(llvm::errorCodeToError(fs::remove(filePath)));
}

Result<std::string> TemporaryFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(filePath);
  if (!buffer)
    return image::Error{"cannot read " + filePath + ": " + buffer.getError().message()};
  return (*buffer)->getBuffer().str();
}
