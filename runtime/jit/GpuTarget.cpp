//===- GpuTarget.cpp - What to compile for a GPU at hand --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/GpuTarget.h"
#include "codegen/nvrtc/Nvrtc.h"
#include "codegen/target/NvidiaGpu.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/GpuKernel.h"
#include <mutex>

using namespace attnc;
using namespace attnc::jit;
using cuda::DeviceFacts;
using image::KernelImage;
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

/// `known`, the best of its architecture, as `gpu` is.
static attn::GpuTargetAttr describeGpu(attn::GpuTargetAttr known, const DeviceFacts &gpu) {
  return attn::GpuTargetAttr::get(known.getContext(), known.getArch(), known.getPtx(), gpu.multiprocessors,
                                  std::min(known.getSharedBytes(), gpu.sharedBytes), known.getRegisters(),
                                  gpu.l2Bytes > 0 ? gpu.l2Bytes : known.getL2Bytes(), known.getWarpgroupMma(),
                                  known.getTensorCopies(), known.getEarlyStart(), known.getCuda(),
                                  loadsMachineCode(gpu, known.getArch()) ? "" : gpu.architecture());
}

Result<attn::GpuTargetAttr> jit::chooseGpuTarget(mlir::MLIRContext *context, const DeviceFacts &gpu,
                                                 llvm::StringRef name) {
  auto [kind, wanted] = name.split(':');
  if (!wanted.empty())
    if (auto known = parseTargetAttr(context, name); !known)
      return known.takeError();
  llvm::StringRef architecture = chooseArchitecture(gpu, wanted);
  if (architecture.empty())
    return image::Error{explainGpu(gpu, wanted)};
  Result<mlir::Attribute> known = parseTargetAttr(context, (kind + ":" + architecture).str());
  if (!known)
    return known.takeError();
  auto target = mlir::dyn_cast<attn::GpuTargetAttr>(*known);
  if (!target)
    return image::Error{"target '" + name.str() + "' is no GPU"};
  return describeGpu(target, gpu);
}

static std::string explainDriver(const Target &target) {
  Result<DeviceFacts> gpu = cuda::Device::describeFirst();
  return gpu ? explainGpu(*gpu, target.getArchitecture()) : gpu.message();
}

/// NVRTC is asked for first: without it no GPU helps.
static std::string explainNvrtc(const Target &target) {
  if (nvrtc::describeNvrtc().empty())
    return nvrtc::explainMissing();
  return explainDriver(target);
}

/// The first GPU. Its context lives as long as the process: kernels come and go, and to make one takes up to a second.
static Result<cuda::DeviceRef> openGpu() {
  static std::mutex mutex;
  static auto *kept = new cuda::DeviceRef;
  std::scoped_lock lock(mutex);
  if (*kept)
    return *kept;
  Result<cuda::DeviceRef> device = cuda::Device::openFirst();
  if (device)
    *kept = *device;
  return device;
}

/// Compiles for the first GPU, and loads.
static Result<std::unique_ptr<Executable>> loadGpu(const Target &self, Session &session,
                                                   const attn::KernelFunction &kernel, ImageSource source) {
  Result<cuda::DeviceRef> device = openGpu();
  if (!device)
    return device.takeError();
  Result<attn::GpuTargetAttr> target = chooseGpuTarget(&session.context(), (*device)->facts(), self.name);
  if (!target)
    return target.takeError();
  Result<KernelImage> image = source(session, kernel, *target);
  if (!image)
    return image.takeError();
  Result<std::unique_ptr<GpuKernel>> loaded = GpuKernel::load(*device, std::move(*image));
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

/// One that compiles code and runs it on a GPU.
static constexpr Target describe(llvm::StringLiteral name, llvm::StringLiteral description,
                                 std::string (*explain)(const Target &)) {
  return {name, description, explain, loadGpu, Compiles::Code, /*programsOf=*/"", /*isDevice=*/true};
}

llvm::ArrayRef<Target> jit::getGpuTargets() {
  static constexpr Target targets[] = {
      describe("nvptx", "NVIDIA GPUs through LLVM: the best code for the GPU at hand", explainDriver),
      describe("nvptx:sm_90a", "for Hopper: products of warpgroups, copies of boxes", explainDriver),
      describe("nvptx:sm_80", "for all from Ampere on: products of warps", explainDriver),
      describe("nvrtc", "NVIDIA GPUs through CUDA C++, compiled by NVRTC: the best code for the GPU at hand",
               explainNvrtc),
      describe("nvrtc:sm_90a", "the same for Hopper", explainNvrtc),
      describe("nvrtc:sm_80", "the same for all from Ampere on", explainNvrtc),
  };
  return targets;
}
