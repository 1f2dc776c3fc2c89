//===- CApi.cpp - Between C and the runtime ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/CApi.h"
#include "runtime/Place.h"
#include "runtime/capi/Compiler.h"

using namespace attnc;
using namespace attnc::capi;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;

const char *attnc_version() { return ATTNC_VERSION; }

int capi::currentOrdinal(const cuda::Driver &driver) {
  cuda::DeviceHandle device = 0;
  // Handles of GPUs are their numbers.
  if (driver->contextGetDevice && driver->contextGetDevice(&device) == cuda::driverSuccess)
    return device;
  return 0;
}

Result<int> capi::findOrdinal(int device) {
  Result<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    return driver.takeError();
  return device >= 0 ? device : currentOrdinal(**driver);
}

/// Loads `image` on `device`, whose number is `ordinal`.
static Result<std::shared_ptr<LoadedKernel>> loadOn(cuda::DeviceRef device, int ordinal, const KernelImage &image) {
  Result<std::unique_ptr<cuda::GpuLaunch>> launch = cuda::GpuLaunch::load(std::move(device), image);
  if (!launch)
    return launch.takeError();
  return makeGpuKernel(std::move(*launch), ordinal);
}

Result<std::shared_ptr<LoadedKernel>> capi::loadOnGpu(int ordinal, const KernelImage &image) {
  Result<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    return driver.takeError();
  Result<cuda::DeviceRef> device = cuda::Device::open(**driver, ordinal);
  if (!device)
    return device.takeError();
  return loadOn(std::move(*device), ordinal, image);
}

/// The handle of C for a kernel of an image.
static Result<attnc_kernel *> toHandle(Result<std::shared_ptr<LoadedKernel>> kernel) {
  if (!kernel)
    return kernel.takeError();
  return new attnc_kernel{std::move(*kernel), ATTNC_FROM_IMAGE};
}

Result<attnc_kernel *> capi::loadKernel(cuda::DeviceRef device, Span<const uint8_t> image) {
  Result<KernelImage> kernel = image::deserialize(image);
  if (!kernel)
    return kernel.takeError();
  return toHandle(loadOn(std::move(device), /*ordinal=*/0, *kernel));
}

/// Links `image` into this process.
static Result<std::shared_ptr<LoadedKernel>> loadOnCpu(const KernelImage &image) {
  const Compiler *compiler = getCompiler();
  if (!compiler)
    return Error{"kernel '" + image.name + "' is for " + image.target +
                 ": this library runs kernels on GPUs alone, libattnc runs them on CPUs too"};
  Result<std::shared_ptr<CpuProgram>> program = compiler->link(image);
  if (!program)
    return program.takeError();
  return makeCpuKernel(image, std::move(*program));
}

/// Loads the image that `options` give, where they say.
static Result<attnc_kernel *> load(const attnc_load_options &options) {
  Result<KernelImage> image = image::deserialize({static_cast<const uint8_t *>(options.image), options.image_bytes});
  if (!image)
    return image.takeError();
  if (runtime::findPlace(image->target) == runtime::Place::Host)
    return toHandle(loadOnCpu(*image));
  Result<int> ordinal = findOrdinal(options.device);
  if (!ordinal)
    return ordinal.takeError();
  return toHandle(loadOnGpu(*ordinal, *image));
}

attnc_error *attnc_kernel_load(const attnc_load_options *given, attnc_kernel **kernel) {
  Result<attnc_load_options> options = readStruct(given, "attnc_load_options");
  if (!options)
    return fail(options.takeError());
  if (!kernel || !options->image)
    return fail(Error{"expected an image and a place for the kernel, got null"});
  *kernel = nullptr;
  Result<attnc_kernel *> loaded = load(*options);
  if (!loaded)
    return fail(loaded.takeError());
  *kernel = *loaded;
  return nullptr;
}

void attnc_kernel_destroy(attnc_kernel *kernel) { delete kernel; }

attnc_error *attnc_kernel_get_info(const attnc_kernel *kernel, attnc_kernel_info *info) {
  if (!kernel)
    return fail(Error{"expected a kernel, got null"});
  const KernelImage &image = kernel->loaded->image();
  attnc_kernel_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.name = image.name.c_str();
  facts.target = image.target.c_str();
  facts.num_arguments = image.args.size();
  facts.num_entries = image.entries.size();
  facts.origin = kernel->origin;
  facts.build = image.buildId.c_str();
  for (const image::KernelEntry &entry : image.entries) {
    facts.shared_bytes = std::max<int64_t>(facts.shared_bytes, entry.sharedBytes);
    facts.threads = std::max<int32_t>(facts.threads, entry.threads);
  }
  kernel->loaded->describe(facts);
  return writeStruct(info, facts, "attnc_kernel_info");
}

/// Argument `index` of `kernel`.
static Result<const image::ArgSpec *> argumentAt(const attnc_kernel *kernel, size_t index) {
  if (!kernel)
    return Error{"expected a kernel, got null"};
  const KernelImage &image = kernel->loaded->image();
  if (index >= image.args.size())
    return Error{"expected an argument below " + std::to_string(image.args.size()) + ", got " + std::to_string(index)};
  return &image.args[index];
}

attnc_error *attnc_kernel_get_argument(const attnc_kernel *kernel, size_t index, attnc_argument_info *info) {
  Result<const image::ArgSpec *> found = argumentAt(kernel, index);
  if (!found)
    return fail(found.takeError());
  const image::ArgSpec &arg = **found;
  attnc_argument_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.name = arg.name.c_str();
  facts.is_tensor = arg.kind == image::ArgKind::Tensor;
  facts.is_output = arg.role == image::ArgRole::Output;
  facts.dtype = static_cast<int32_t>(arg.dtype);
  facts.rank = static_cast<int32_t>(arg.dims.size());
  return writeStruct(info, facts, "attnc_argument_info");
}

attnc_error *attnc_kernel_get_dimension(const attnc_kernel *kernel, size_t index, size_t dimension,
                                        attnc_dimension_info *info) {
  Result<const image::ArgSpec *> arg = argumentAt(kernel, index);
  if (!arg)
    return fail(arg.takeError());
  const std::vector<image::DimSpec> &dims = (*arg)->dims;
  if (dimension >= dims.size())
    return fail(Error{"argument '" + (*arg)->name + "': expected a dimension below " + std::to_string(dims.size()) +
                      ", got " + std::to_string(dimension)});
  const image::DimSpec &dim = dims[dimension];
  attnc_dimension_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.size = dim.size;
  facts.symbol = dim.symbol < 0 ? nullptr : kernel->loaded->image().symbols[dim.symbol].c_str();
  facts.extra = dim.extra;
  facts.broadcast = dim.broadcast;
  facts.unit = dim.unit;
  return writeStruct(info, facts, "attnc_dimension_info");
}

/// The launch that the caller gives, of a kernel that there must be.
static Result<attnc_launch_options> readLaunch(const attnc_kernel *kernel, const attnc_launch_options *given) {
  if (!kernel)
    return Error{"expected a kernel, got null"};
  return readStruct(given, "attnc_launch_options");
}

attnc_error *attnc_kernel_get_workspace(const attnc_kernel *kernel, const attnc_launch_options *given,
                                        uint64_t *bytes) {
  if (!bytes)
    return fail(Error{"expected a place for the size, got null"});
  *bytes = 0;
  Result<attnc_launch_options> options = readLaunch(kernel, given);
  if (!options)
    return fail(options.takeError());
  Result<int64_t> count = kernel->loaded->countWorkspace(*options);
  if (!count)
    return fail(count.takeError());
  *bytes = static_cast<uint64_t>(*count);
  return nullptr;
}

attnc_error *attnc_kernel_launch(attnc_kernel *kernel, const attnc_launch_options *given) {
  Result<attnc_launch_options> options = readLaunch(kernel, given);
  if (!options)
    return fail(options.takeError());
  Status status = kernel->loaded->launch(*options);
  return status ? nullptr : fail(status.takeError());
}
