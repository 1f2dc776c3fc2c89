//===- NvidiaGpu.cpp - Facts about NVIDIA's GPUs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/target/NvidiaGpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc;
using image::Error;
using image::Result;

namespace {

/// One architecture.
struct NvidiaGpu {
  llvm::StringLiteral arch;
  int major, minor; ///< compute capability of the devices that it serves
  int64_t ptx;      ///< version of PTX, times ten
  int64_t multiprocessors;
  int64_t sharedKiB; ///< that one block can have when it asks
  int64_t l2MiB;
  bool warpgroupMma;
  bool tensorCopies;
  bool earlyStart; ///< griddepcontrol
};

/// Multiprocessors and L2 are those of A100, A40, RTX 4090, H100 SXM, B200 and RTX 5090; shared memory is that of the
/// CUDA C++ Programming Guide, table of technical specifications. PTX 8.3 is what ptxas of CUDA 12.3 and later reads;
/// newer architectures want the version that introduced them. What comes after sm_90a has no wgmma, and is served by
/// products of warps, as sm_80 is.
constexpr NvidiaGpu gpus[] = {
    {"sm_80", 8, 0, 83, 108, 163, 40, false, false, false},   {"sm_86", 8, 6, 83, 84, 99, 6, false, false, false},
    {"sm_89", 8, 9, 83, 128, 99, 72, false, false, false},    {"sm_90a", 9, 0, 83, 132, 227, 50, true, true, true},
    {"sm_100", 10, 0, 86, 148, 227, 126, false, false, true}, {"sm_120", 12, 0, 87, 170, 99, 96, false, false, true},
};

/// 32-bit registers of a multiprocessor: the same on all of them.
constexpr int64_t registers = 65536;

} // namespace

attn::GpuTargetAttr target::getNvidiaGpu(MLIRContext *context, StringRef arch) {
  const NvidiaGpu *gpu = llvm::find_if(gpus, [&](const NvidiaGpu &gpu) { return gpu.arch == arch; });
  if (gpu == std::end(gpus))
    return {};
  return attn::GpuTargetAttr::get(context, gpu->arch, gpu->ptx, gpu->multiprocessors, gpu->sharedKiB << 10, registers,
                                  gpu->l2MiB << 20, gpu->warpgroupMma, gpu->tensorCopies, gpu->earlyStart,
                                  /*cuda=*/false, /*machine=*/"");
}

attn::GpuTargetAttr target::throughCuda(attn::GpuTargetAttr gpu) {
  return attn::GpuTargetAttr::get(gpu.getContext(), gpu.getArch(), gpu.getPtx(), gpu.getMultiprocessors(),
                                  gpu.getSharedBytes(), gpu.getRegisters(), gpu.getL2Bytes(), gpu.getWarpgroupMma(),
                                  gpu.getTensorCopies(), gpu.getEarlyStart(), /*cuda=*/true, gpu.getMachine());
}

Result<attn::GpuTargetAttr> target::parseNvidiaGpu(MLIRContext *context, StringRef name) {
  auto [kind, arch] = name.split(':');
  if (attn::GpuTargetAttr gpu = getNvidiaGpu(context, name == kind ? StringRef(defaultNvidiaGpu) : arch))
    return gpu;
  return Error{"unknown architecture '" + arch.str() + "' in target '" + name.str() + "'; there are " +
               getNvidiaGpuNames()};
}

StringRef target::findNvidiaGpu(int major, int minor) {
  // Code runs on later devices of the same major version; that of an architecture with a letter on its own alone.
  StringRef best;
  int bestMinor = -1;
  for (const NvidiaGpu &gpu : gpus) {
    bool exact = gpu.arch.back() == 'a';
    if (gpu.major == major && gpu.minor > bestMinor && (exact ? gpu.minor == minor : gpu.minor <= minor)) {
      best = gpu.arch;
      bestMinor = gpu.minor;
    }
  }
  return best;
}

std::string target::getNvidiaGpuNames() {
  return llvm::join(llvm::map_range(gpus, [](const NvidiaGpu &gpu) { return gpu.arch.str(); }), ", ");
}
