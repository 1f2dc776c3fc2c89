//===- Target.cpp - What kernels are carried out by -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Target.h"
#include "codegen/nvrtc/Nvrtc.h"
#include "codegen/target/NvidiaGpu.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/GpuKernel.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/SimKernel.h"
#include <mutex>

using namespace attnc;
using namespace attnc::jit;
using cuda::DeviceFacts;
using image::KernelImage;
using image::Result;

/// Every machine that runs this program has it.
static std::string alwaysAvailable(llvm::StringRef) { return ""; }

static Result<std::unique_ptr<Executable>> loadCpu(Session &session, const attn::KernelFunction &kernel,
                                                   llvm::StringRef, ImageSource source) {
  Result<KernelImage> image = source(session, kernel, /*target=*/{});
  if (!image)
    return image.takeError();
  Result<std::unique_ptr<LoadedKernel>> loaded = LoadedKernel::load(std::move(*image));
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

static std::string explainGpuCode(llvm::StringRef architecture) {
  Result<DeviceFacts> gpu = cuda::Device::describeFirst();
  return gpu ? explainGpu(*gpu, architecture) : gpu.message();
}

/// NVRTC is asked for first: without it no GPU helps.
static std::string explainNvrtc(llvm::StringRef architecture) {
  if (nvrtc::describeNvrtc().empty())
    return nvrtc::explainMissing();
  return explainGpuCode(architecture);
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

/// Compiles for the first GPU, by LLVM or through CUDA C++, and loads.
template <bool cuda>
static Result<std::unique_ptr<Executable>> loadGpu(Session &session, const attn::KernelFunction &kernel,
                                                   llvm::StringRef architecture, ImageSource source) {
  Result<cuda::DeviceRef> device = openGpu();
  if (!device)
    return device.takeError();
  Result<attn::GpuTargetAttr> target = chooseGpuTarget(&session.context(), (*device)->facts(), architecture, cuda);
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

static Result<std::unique_ptr<Executable>> loadReference(Session &session, const attn::KernelFunction &kernel,
                                                         llvm::StringRef, ImageSource) {
  Result<std::unique_ptr<ReferenceKernel>> loaded = ReferenceKernel::create(kernel);
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

static Result<std::unique_ptr<Executable>> loadSim(Session &session, const attn::KernelFunction &kernel,
                                                   llvm::StringRef architecture, ImageSource) {
  attn::GpuTargetAttr target = target::getNvidiaGpu(&session.context(), architecture);
  Result<std::unique_ptr<SimKernel>> loaded = SimKernel::create(session, kernel, target);
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

llvm::ArrayRef<Target> jit::getTargets() {
  static constexpr Target targets[] = {
      {"cpu", "", "this CPU: SIMD code for its registers, tiles on all cores", alwaysAvailable, loadCpu},
      {"nvptx", "", "NVIDIA GPUs through LLVM: the best code for the GPU at hand", explainGpuCode, loadGpu<false>},
      {"nvptx:sm_90a", "sm_90a", "for Hopper: products of warpgroups, copies of boxes", explainGpuCode, loadGpu<false>},
      {"nvptx:sm_80", "sm_80", "for all from Ampere on: products of warps", explainGpuCode, loadGpu<false>},
      {"nvrtc", "", "NVIDIA GPUs through CUDA C++, compiled by NVRTC: the best code for the GPU at hand", explainNvrtc,
       loadGpu<true>},
      {"nvrtc:sm_90a", "sm_90a", "the same for Hopper", explainNvrtc, loadGpu<true>},
      {"nvrtc:sm_80", "sm_80", "the same for all from Ampere on", explainNvrtc, loadGpu<true>},
      {"reference", "", "the definition in fp64: slow, exact, what all else is judged against", alwaysAvailable,
       loadReference},
      {"sim:sm_90a", "sm_90a", "the steps of the kernel for Hopper under adverse timing: very slow, finds races",
       alwaysAvailable, loadSim},
      {"sim:sm_80", "sm_80", "the same for the kernel from Ampere on", alwaysAvailable, loadSim},
  };
  return targets;
}

Result<const Target *> jit::findTarget(llvm::StringRef name, Use use) {
  std::string names = "auto";
  for (const Target &target : getTargets()) {
    names += ", " + target.name.str();
    if (name != "auto" && name != target.name)
      continue;
    // Asked only where the answer counts: it may start a driver.
    std::string why = use == Use::Run || name == "auto" ? target.whyUnavailable() : "";
    if (why.empty())
      return &target;
    if (name == target.name)
      return image::Error{"target '" + name.str() + "' cannot be used here: " + why};
  }
  return image::Error{"unknown target '" + name.str() + "'; there are " + names};
}
