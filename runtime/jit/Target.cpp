//===- Target.cpp - What kernels are carried out by -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Target.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/SimKernel.h"
#include <mutex>

using namespace attnc;
using namespace attnc::jit;
using image::Result;

std::string jit::explainNothing(const Target &) { return ""; }

static std::vector<const Target *> &registry() {
  static std::vector<const Target *> targets;
  return targets;
}

/// attnc's own, each defined next to what launches it.
static void registerOwn() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (llvm::ArrayRef<Target> targets : {getHostTargets(), getGpuTargets(), getReferenceTargets(), getSimTargets()})
      for (const Target &target : targets)
        registry().push_back(&target);
  });
}

void jit::registerTarget(const Target &target) {
  registerOwn();
  registry().push_back(&target);
}

llvm::ArrayRef<const Target *> jit::getTargets() {
  registerOwn();
  return registry();
}

const Target *jit::findKind(llvm::StringRef name) {
  llvm::StringRef kind = name.split(':').first;
  for (const Target *target : getTargets())
    if (target->getKind() == kind)
      return target;
  return nullptr;
}

Result<mlir::Attribute> jit::findMachine(mlir::MLIRContext *context, llvm::StringRef name) {
  const Target *target = findKind(name);
  if (!target || target->compiles == Compiles::Code)
    return parseTargetAttr(context, name);
  if (target->compiles == Compiles::Nothing)
    return targetOrHost(context, {});
  return parseTargetAttr(context, (target->programsOf + name.drop_front(target->getKind().size())).str());
}

Result<const Target *> jit::findTarget(llvm::StringRef name, Use use) {
  std::string names = anyTarget.str();
  for (const Target *target : getTargets()) {
    names += ", " + target->name.str();
    if (name != anyTarget && name != target->name)
      continue;
    // Asked only where the answer counts: it may start a driver.
    std::string why = use == Use::Run || name == anyTarget ? target->whyUnavailable() : "";
    if (why.empty())
      return target;
    if (name == target->name)
      return image::Error{"target '" + name.str() + "' cannot be used here: " + why};
  }
  return image::Error{"unknown target '" + name.str() + "'; there are " + names};
}
