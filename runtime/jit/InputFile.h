//===- InputFile.h - Reading files that a user names ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_INPUTFILE_H
#define ATTNC_RUNTIME_JIT_INPUTFILE_H

#include "codegen/image/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace attnc::jit {

/// All of the file at `path`, or of standard input for "-", which ends with a zero. The error begins with "cannot read
/// 'PATH'": for a folder, more than `most` bytes, which a device like /dev/zero has, and a pipe that nobody writes to
/// for some seconds.
image::Result<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, size_t most);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_INPUTFILE_H
