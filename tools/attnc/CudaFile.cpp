//===- CudaFile.cpp - Kernels that were edited ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/CudaFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attnc;
using namespace attnc::cli;
using runtime::Error;
using runtime::Result;

Result<std::optional<target::SourceFile>> cli::readCudaFile(const llvm::opt::InputArgList &args) {
  const llvm::opt::Arg *option = args.getLastArg(OPT_cuda);
  if (!option)
    return std::optional<target::SourceFile>();
  llvm::StringRef path = option->getValue(), target = args.getLastArgValue(OPT_target, "auto");
  if (target.split(':').first != "nvrtc")
    return Error{"expected --target nvrtc or nvrtc:ARCH with --cuda, got '" + target.str() + "'"};
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return Error{"cannot read '" + path.str() + "': " + buffer.getError().message()};
  return std::optional<target::SourceFile>({(*buffer)->getBuffer().str(), path.str()});
}
