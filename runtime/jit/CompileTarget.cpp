//===- CompileTarget.cpp - What kernels are compiled for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/CompileTarget.h"
#include "codegen/cpu/CpuBackend.h"
#include "codegen/nvptx/NvptxBackend.h"
#include "codegen/nvrtc/NvrtcBackend.h"
#include "llvm/ADT/StringExtras.h"
#include <mutex>

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using image::Result;

ArrayRef<const target::Backend *> jit::getBackends() {
  static std::once_flag once;
  std::call_once(once, [] {
    target::registerBackend(cpu::getBackend());
    target::registerBackend(nvptx::getBackend());
    target::registerBackend(nvrtc::getBackend());
  });
  return target::getBackends();
}

void jit::registerMachines(DialectRegistry &registry) {
  for (const target::Backend *backend : getBackends())
    backend->registerMachines(registry);
}

StringRef jit::getHostName() {
  for (const target::Backend *backend : getBackends())
    if (StringRef name = backend->getHostName(); !name.empty())
      return name;
  llvm_unreachable("one of attnc's own makes code for the host");
}

std::string jit::describeMachines() {
  return llvm::join(
      llvm::map_range(getBackends(), [](const target::Backend *backend) { return backend->describeNames(); }), ", ");
}

Result<Attribute> jit::parseTargetAttr(MLIRContext *context, StringRef name) {
  if (name == anyTarget)
    name = getHostName();
  for (const target::Backend *backend : getBackends())
    if (std::optional<Result<Attribute>> machine = backend->parse(context, name))
      return std::move(*machine);
  return image::Error{"unknown target '" + name.str() + "'; kernels are compiled for " + describeMachines()};
}

Attribute jit::targetOrHost(MLIRContext *context, Attribute target) {
  return target ? target : *parseTargetAttr(context, getHostName());
}

const target::Backend &jit::getBackend(Attribute target) {
  for (const target::Backend *backend : getBackends())
    if (backend->serves(target))
      return *backend;
  llvm_unreachable("targets come from the backends that serve them");
}

std::string jit::getTargetName(Attribute target) { return getBackend(target).getName(target); }
