//===- GpuTarget.cpp - What to compile for a GPU at hand --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/GpuTarget.h"
#include "codegen/target/NvidiaGpu.h"

using namespace attnc;
using namespace attnc::jit;
using cuda::DeviceFacts;
using image::Result;

/// The architecture to make code of for this GPU, where `wanted` is empty, else `wanted`. Empty where none fits.
static llvm::StringRef chooseArchitecture(const DeviceFacts &gpu, llvm::StringRef wanted) {
  if (wanted.empty())
    return target::findNvidiaGpu(gpu.major, gpu.minor);
  // The code of an architecture with a letter runs on that one alone; other code is assembled for the GPU at hand.
  llvm::StringRef number = wanted;
  bool exact = number.consume_back("a");
  int least = 0, here = gpu.major * 10 + gpu.minor;
  if (!number.consume_front("sm_") || number.getAsInteger(10, least))
    return "";
  return (exact ? here == least : here >= least) ? wanted : "";
}

std::string jit::explainGpu(const DeviceFacts &gpu, llvm::StringRef architecture) {
  if (!chooseArchitecture(gpu, architecture).empty())
    return "";
  return gpu.name + " is " + gpu.architecture() + ", and cannot run code for " +
         (architecture.empty() ? "any of " + target::getNvidiaGpuNames() : architecture.str());
}

/// Whether machine code for `architecture` loads on `gpu`: that of another major version does not.
static bool loadsMachineCode(const DeviceFacts &gpu, llvm::StringRef architecture) {
  architecture.consume_front("sm_");
  architecture.consume_back("a");
  int version = 0;
  return !architecture.getAsInteger(10, version) && version / 10 == gpu.major;
}

/// What the code generator is told of `gpu` for code of `architecture`.
static attn::GpuTargetAttr describeGpu(mlir::MLIRContext *context, const DeviceFacts &gpu, llvm::StringRef architecture,
                                       bool cuda) {
  attn::GpuTargetAttr known = target::getNvidiaGpu(context, architecture);
  if (!known)
    return {};
  return attn::GpuTargetAttr::get(context, known.getArch(), known.getPtx(), gpu.multiprocessors,
                                  std::min(known.getSharedBytes(), gpu.sharedBytes), known.getRegisters(),
                                  gpu.l2Bytes > 0 ? gpu.l2Bytes : known.getL2Bytes(), known.getWarpgroupMma(),
                                  known.getTensorCopies(), known.getEarlyStart(), cuda,
                                  loadsMachineCode(gpu, architecture) ? "" : gpu.architecture());
}

Result<attn::GpuTargetAttr> jit::chooseGpuTarget(mlir::MLIRContext *context, const DeviceFacts &gpu,
                                                 llvm::StringRef architecture, bool cuda) {
  if (!architecture.empty())
    if (auto known = target::parseNvidiaGpu(context, ((cuda ? "nvrtc:" : "nvptx:") + architecture).str()); !known)
      return known.takeError();
  attn::GpuTargetAttr target = describeGpu(context, gpu, chooseArchitecture(gpu, architecture), cuda);
  if (!target)
    return image::Error{explainGpu(gpu, architecture)};
  return target;
}
