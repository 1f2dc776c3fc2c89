//===- LoweredKernel.cpp - A kernel with its bounds -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/LoweredKernel.h"
#include "runtime/jit/Compile.h"

using namespace attnc;
using namespace attnc::explain;
using image::Result;

Result<LoweredKernel> LoweredKernel::get(jit::Session &session, const attn::KernelFunction &kernel,
                                         mlir::Attribute machine) {
  auto module = jit::lowerToAttn(session, kernel, machine);
  if (!module)
    return module.takeError();
  auto lowered = attn::KernelFunction::get(*(**module).getOps<mlir::func::FuncOp>().begin());
  if (failed(lowered))
    return jit::reported();
  return LoweredKernel{std::move(*module), std::move(*lowered)};
}
