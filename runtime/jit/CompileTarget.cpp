//===- CompileTarget.cpp - What kernels are compiled for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/CompileTarget.h"
#include "codegen/target/HostCpu.h"
#include "codegen/target/NvidiaGpu.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using runtime::Result;

Result<Attribute> jit::parseTargetAttr(MLIRContext *context, StringRef name) {
  if (name == "cpu" || name == "auto")
    return Attribute(target::getHostCpu(context));
  auto [kind, arch] = name.split(':');
  if (kind != "nvptx" && kind != "sim")
    return runtime::Error{"unknown target '" + name.str() + "'; kernels are compiled for cpu, nvptx (" +
                          target::defaultNvidiaGpu.str() + ") or nvptx:ARCH"};
  if (name == kind)
    arch = target::defaultNvidiaGpu;
  if (attn::GpuTargetAttr gpu = target::getNvidiaGpu(context, arch))
    return Attribute(gpu);
  return runtime::Error{"unknown architecture '" + arch.str() + "' in target '" + name.str() + "'; there are " +
                        target::getNvidiaGpuNames()};
}

std::string jit::getTargetName(Attribute target) {
  if (auto gpu = dyn_cast<attn::GpuTargetAttr>(target))
    return "nvptx:" + gpu.getArch().str();
  return "cpu:" + cast<attn::CpuTargetAttr>(target).getCpu().str();
}
