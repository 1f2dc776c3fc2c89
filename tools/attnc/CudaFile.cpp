//===- CudaFile.cpp - Kernels that were edited ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/CudaFile.h"
#include "runtime/jit/InputFile.h"
#include "runtime/jit/Target.h"

using namespace attnc;
using namespace attnc::cli;
using image::Error;
using image::Result;

Result<std::optional<target::SourceFile>> cli::readCudaFile(const llvm::opt::InputArgList &args) {
  const llvm::opt::Arg *option = args.getLastArg(OPT_cuda);
  if (!option)
    return std::optional<target::SourceFile>();
  llvm::StringRef path = option->getValue(), target = args.getLastArgValue(OPT_target, jit::anyTarget);
  jit::Session session;
  Result<mlir::Attribute> machine = jit::findMachine(&session.context(), target);
  if (!machine)
    return machine.takeError();
  if (!jit::getBackend(*machine).takesSource()) {
    std::string names;
    for (const target::Backend *backend : jit::getBackends())
      if (backend->takesSource())
        names += (names.empty() ? "" : ", ") + backend->describeNames();
    return Error{"expected --target " + names + " with --cuda, got '" + target.str() + "'"};
  }
  // Long kernels print some hundred thousand bytes.
  constexpr size_t most = size_t(1) << 26;
  auto buffer = jit::readInput(path, most);
  if (!buffer)
    return buffer.takeError();
  return std::optional<target::SourceFile>({(*buffer)->getBuffer().str(), path.str()});
}
