//===- LoadedKernel.cpp - Kernels behind handles of C -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/LoadedKernel.h"
#include "runtime/capi/Values.h"

#include <algorithm>

using namespace attnc;
using namespace attnc::capi;
using image::KernelImage;
using image::Result;
using image::Status;
using runtime::ArgValue;
using runtime::MemorySpace;

namespace {

class GpuLoadedKernel : public LoadedKernel {
public:
  GpuLoadedKernel(std::unique_ptr<cuda::GpuLaunch> gpu, int ordinal) : gpu(std::move(gpu)), ordinal(ordinal) {}

  const KernelImage &image() const override { return gpu->image(); }

  void describe(attnc_kernel_info &info) const override {
    info.resident_bytes = static_cast<uint64_t>(gpu->residentBytes());
    for (const cuda::Function &function : gpu->functions()) {
      info.registers = std::max<int32_t>(info.registers, function.registers);
      info.spill_bytes = std::max<int32_t>(info.spill_bytes, function.localBytes);
    }
  }

  Result<int64_t> countWorkspace(const attnc_launch_options &options) override {
    Result<LaunchCache::Prepared> prepared = prepare(options);
    if (!prepared)
      return prepared.takeError();
    return (*prepared)->workspaceBytes;
  }

  Status launch(const attnc_launch_options &options) override {
    Result<LaunchCache::Prepared> prepared = prepare(options);
    if (!prepared)
      return prepared.takeError();
    return gpu->launch(**prepared, static_cast<cuda::StreamHandle>(options.stream), options.workspace);
  }

private:
  /// Does what the values of a launch decide, unless that was done before.
  Result<LaunchCache::Prepared> prepare(const attnc_launch_options &given) {
    PlainValues plain;
    Result<attnc_launch_options> options = plain.replace(given, image(), {MemorySpace::Device, ordinal});
    if (!options)
      return options.takeError();
    LaunchKey key(*options);
    if (key)
      if (LaunchCache::Prepared found = launches.find(key))
        return found;
    Result<std::vector<ArgValue>> values = readValues(image(), *options, MemorySpace::Device);
    if (!values)
      return values.takeError();
    Result<runtime::BoundArguments> arguments = runtime::bindArguments(image(), *values, MemorySpace::Device);
    if (!arguments)
      return arguments.takeError();
    Result<cuda::PreparedLaunch> prepared = gpu->prepare(*arguments);
    if (!prepared)
      return prepared.takeError();
    auto kept = std::make_shared<const cuda::PreparedLaunch>(std::move(*prepared));
    if (key)
      launches.keep(key, kept);
    return LaunchCache::Prepared(kept);
  }

  std::unique_ptr<cuda::GpuLaunch> gpu;
  int ordinal;
  LaunchCache launches;
};

class CpuLoadedKernel : public LoadedKernel {
public:
  CpuLoadedKernel(KernelImage image, std::shared_ptr<CpuProgram> program)
      : kernel(std::move(image)), program(std::move(program)) {
    kernel.bytes.clear();
    kernel.bytes.shrink_to_fit();
  }

  const KernelImage &image() const override { return kernel; }
  void describe(attnc_kernel_info &) const override {}
  Result<int64_t> countWorkspace(const attnc_launch_options &) override { return int64_t{0}; }

  Status launch(const attnc_launch_options &given) override {
    if (given.stream)
      return image::Error{"expected no stream for a kernel on a CPU, got one"};
    PlainValues plain;
    Result<attnc_launch_options> options = plain.replace(given, kernel, {MemorySpace::Host, 0});
    if (!options)
      return options.takeError();
    Result<std::vector<ArgValue>> values = readValues(kernel, *options, MemorySpace::Host);
    if (!values)
      return values.takeError();
    return program->run(*values);
  }

private:
  KernelImage kernel;
  std::shared_ptr<CpuProgram> program;
};

} // namespace

std::shared_ptr<LoadedKernel> capi::makeGpuKernel(std::unique_ptr<cuda::GpuLaunch> launch, int ordinal) {
  return std::make_shared<GpuLoadedKernel>(std::move(launch), ordinal);
}

std::shared_ptr<LoadedKernel> capi::makeCpuKernel(KernelImage image, std::shared_ptr<CpuProgram> program) {
  return std::make_shared<CpuLoadedKernel>(std::move(image), std::move(program));
}
