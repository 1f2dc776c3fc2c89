//===- Target.cpp - What kernels are carried out by -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Target.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/ReferenceKernel.h"

using namespace attnc;
using namespace attnc::jit;
using runtime::Result;

/// Every machine that runs this program has it.
static std::string alwaysAvailable() { return ""; }

static Result<std::unique_ptr<Executable>> loadCpu(Session &session, const attn::KernelFunction &kernel) {
  Result<runtime::KernelImage> image = compileToImage(session, kernel);
  if (!image)
    return image.takeError();
  Result<std::unique_ptr<LoadedKernel>> loaded = LoadedKernel::load(std::move(*image));
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

static Result<std::unique_ptr<Executable>> loadReference(Session &session, const attn::KernelFunction &kernel) {
  Result<std::unique_ptr<ReferenceKernel>> loaded = ReferenceKernel::create(kernel);
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

llvm::ArrayRef<Target> jit::getTargets() {
  static constexpr Target targets[] = {
      {"cpu", "this CPU: SIMD code for its registers, tiles on all cores", alwaysAvailable, loadCpu},
      {"reference", "the definition in fp64: slow, exact, what all else is judged against", alwaysAvailable,
       loadReference},
  };
  return targets;
}

Result<const Target *> jit::findTarget(llvm::StringRef name) {
  std::string names = "auto";
  for (const Target &target : getTargets()) {
    std::string why = target.whyUnavailable();
    if (name == "auto" && why.empty())
      return &target;
    if (name == target.name) {
      if (why.empty())
        return &target;
      return runtime::Error{"target '" + name.str() + "' cannot be used here: " + why};
    }
    names += ", " + target.name.str();
  }
  return runtime::Error{"unknown target '" + name.str() + "'; there are " + names};
}
