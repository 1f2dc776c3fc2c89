//===- Backend.cpp - What a room of code generation offers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/target/Backend.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::target;

Backend::~Backend() = default;

image::Status Backend::setCodeFrom(LoweredKernel &kernel, const SourceFile &source) const {
  return image::Error{"expected a target that compiles '" + source.name + "', got " + getName(kernel.target)};
}

/// Those of attnc take no memory of their own: the compiler may be left where it is refused some, and begun again.
static SmallVectorImpl<const Backend *> &registry() {
  static SmallVector<const Backend *, 8> backends;
  return backends;
}

void target::registerBackend(const Backend &backend) { registry().push_back(&backend); }

ArrayRef<const Backend *> target::getBackends() { return registry(); }

std::string target::printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << '\n';
  return text;
}
