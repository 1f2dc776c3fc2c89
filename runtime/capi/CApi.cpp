//===- CApi.cpp - The door between C and the runtime ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/CApi.h"
#include <algorithm>
#include <cstring>

using namespace attnc;
using capi::maxRank;
using runtime::ArgValue;
using runtime::DType;
using runtime::Error;
using runtime::KernelImage;
using runtime::Result;
using runtime::Span;
using runtime::Status;
using runtime::Tensor;

static_assert(static_cast<int>(DType::F32) == ATTNC_F32 && static_cast<int>(DType::F16) == ATTNC_F16 &&
              static_cast<int>(DType::BF16) == ATTNC_BF16 && static_cast<int>(DType::F64) == ATTNC_F64 &&
              static_cast<int>(DType::I1) == ATTNC_I1 && static_cast<int>(DType::I8) == ATTNC_I8 &&
              static_cast<int>(DType::I32) == ATTNC_I32 && static_cast<int>(DType::I64) == ATTNC_I64);

static attnc_error *fail(Error error) { return new attnc_error{std::move(error.message)}; }

/// Reads the caller's structure at `from`, which may be shorter or longer than ours: what it does not have is zero.
template <typename Struct>
static Result<Struct> readStruct(const Struct *from, const char *name) {
  if (!from)
    return Error{std::string("expected an ") + name + ", got null"};
  if (from->struct_size < sizeof(size_t))
    return Error{std::string("expected struct_size of ") + name + " to be its size, got " +
                 std::to_string(from->struct_size)};
  Struct to;
  std::memset(&to, 0, sizeof(to));
  std::memcpy(&to, from, std::min(from->struct_size, sizeof(to)));
  return to;
}

/// Writes as much of `from` to the caller's structure at `to` as it has.
template <typename Struct>
static attnc_error *writeStruct(Struct *to, Struct from, const char *name) {
  if (Result<Struct> theirs = readStruct(to, name); !theirs)
    return fail(theirs.takeError());
  from.struct_size = to->struct_size;
  std::memcpy(to, &from, std::min(from.struct_size, sizeof(from)));
  return nullptr;
}

/// The tensor that `tensor` describes.
static Result<Tensor> readTensor(const attnc_tensor &tensor) {
  if (tensor.dtype < 0 || tensor.dtype >= static_cast<int32_t>(runtime::numDTypes))
    return Error{"unknown element type " + std::to_string(tensor.dtype)};
  if (tensor.rank < 0 || tensor.rank > maxRank)
    return Error{"expected a rank from 0 to " + std::to_string(maxRank) + ", got " + std::to_string(tensor.rank)};
  if (tensor.rank > 0 && !tensor.sizes)
    return Error{"expected sizes, got null"};
  Span<const int64_t> sizes(tensor.sizes, static_cast<size_t>(tensor.rank));
  auto dtype = static_cast<DType>(tensor.dtype);
  if (tensor.strides)
    return Tensor::deviceView(tensor.address, dtype, sizes, {tensor.strides, static_cast<size_t>(tensor.rank)});
  if (!runtime::countElements(sizes))
    return Error{"expected sizes of a tensor, got " + runtime::shapeString(sizes)};
  return Tensor::deviceView(tensor.address, dtype, sizes, runtime::rowMajorStrides(sizes));
}

/// The value that `value` describes.
static Result<ArgValue> readValue(const attnc_value &value) {
  switch (value.kind) {
  case ATTNC_INTEGER:
    return ArgValue(value.as.integer);
  case ATTNC_REAL:
    return ArgValue(value.as.real);
  case ATTNC_TENSOR: {
    Result<Tensor> tensor = readTensor(value.as.tensor);
    if (!tensor)
      return tensor.takeError();
    return ArgValue(std::move(*tensor));
  }
  default:
    return Error{"unknown kind of value " + std::to_string(value.kind)};
  }
}

/// The values of a launch.
static Result<std::vector<ArgValue>> readValues(const KernelImage &image, const attnc_launch_options &options) {
  if (options.num_values > 0 && (!options.values || options.value_size < sizeof(attnc_value)))
    return Error{"expected values of at least " + std::to_string(sizeof(attnc_value)) + " bytes, got " +
                 (options.values ? std::to_string(options.value_size) : "null")};
  std::vector<ArgValue> values;
  values.reserve(options.num_values);
  for (size_t index = 0; index < options.num_values; ++index) {
    const auto *bytes = reinterpret_cast<const char *>(options.values) + index * options.value_size;
    Result<ArgValue> value = readValue(*reinterpret_cast<const attnc_value *>(bytes));
    if (!value) {
      std::string name = index < image.args.size() ? image.args[index].name : std::to_string(index);
      return Error{"argument '" + name + "': " + value.message()};
    }
    values.push_back(std::move(*value));
  }
  return values;
}

/// The GPU of the thread's current context; 0 where it has none.
static int currentOrdinal(const cuda::Driver &driver) {
  cuda::DeviceHandle device = 0;
  // Handles of GPUs are their numbers.
  if (driver->contextGetDevice && driver->contextGetDevice(&device) == cuda::driverSuccess)
    return device;
  return 0;
}

Result<attnc_kernel *> capi::loadKernel(cuda::DeviceRef device, Span<const uint8_t> image) {
  Result<KernelImage> kernel = runtime::deserialize(image);
  if (!kernel)
    return kernel.takeError();
  Result<std::unique_ptr<cuda::GpuLaunch>> launch = cuda::GpuLaunch::load(std::move(device), *kernel);
  if (!launch)
    return launch.takeError();
  auto *loaded = new attnc_kernel;
  loaded->launch = std::move(*launch);
  return loaded;
}

const char *attnc_version() { return ATTNC_VERSION; }

attnc_error *attnc_kernel_load(const attnc_load_options *given, attnc_kernel **kernel) {
  Result<attnc_load_options> options = readStruct(given, "attnc_load_options");
  if (!options)
    return fail(options.takeError());
  if (!kernel || !options->image)
    return fail({"expected an image and a place for the kernel, got null"});
  *kernel = nullptr;
  Result<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    return fail(driver.takeError());
  int ordinal = options->device >= 0 ? options->device : currentOrdinal(**driver);
  Result<cuda::DeviceRef> device = cuda::Device::open(**driver, ordinal);
  if (!device)
    return fail(device.takeError());
  Result<attnc_kernel *> loaded =
      capi::loadKernel(std::move(*device), {static_cast<const uint8_t *>(options->image), options->image_bytes});
  if (!loaded)
    return fail(loaded.takeError());
  *kernel = *loaded;
  return nullptr;
}

void attnc_kernel_destroy(attnc_kernel *kernel) { delete kernel; }

attnc_error *attnc_kernel_get_info(const attnc_kernel *kernel, attnc_kernel_info *info) {
  if (!kernel)
    return fail({"expected a kernel, got null"});
  const KernelImage &image = kernel->launch->image();
  attnc_kernel_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.name = image.name.c_str();
  facts.target = image.target.c_str();
  facts.num_arguments = image.args.size();
  facts.num_entries = image.entries.size();
  facts.resident_bytes = static_cast<uint64_t>(kernel->launch->residentBytes());
  for (const runtime::KernelEntry &entry : image.entries) {
    facts.shared_bytes = std::max<int64_t>(facts.shared_bytes, entry.sharedBytes);
    facts.threads = std::max<int32_t>(facts.threads, entry.threads);
  }
  for (const cuda::Function &function : kernel->launch->functions()) {
    facts.registers = std::max<int32_t>(facts.registers, function.registers);
    facts.spill_bytes = std::max<int32_t>(facts.spill_bytes, function.localBytes);
  }
  return writeStruct(info, facts, "attnc_kernel_info");
}

attnc_error *attnc_kernel_get_argument(const attnc_kernel *kernel, size_t index, attnc_argument_info *info) {
  if (!kernel)
    return fail({"expected a kernel, got null"});
  const KernelImage &image = kernel->launch->image();
  if (index >= image.args.size())
    return fail({"expected an argument below " + std::to_string(image.args.size()) + ", got " + std::to_string(index)});
  const runtime::ArgSpec &arg = image.args[index];
  attnc_argument_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.name = arg.name.c_str();
  facts.is_tensor = arg.kind == runtime::ArgKind::Tensor;
  facts.is_output = arg.role == runtime::ArgRole::Output;
  facts.dtype = static_cast<int32_t>(arg.dtype);
  facts.rank = static_cast<int32_t>(arg.dims.size());
  return writeStruct(info, facts, "attnc_argument_info");
}

/// Reads a launch, `given` by the caller, to `options`, and does what its values decide unless that was done before.
static Result<capi::LaunchCache::Prepared> prepare(const attnc_kernel *kernel, const attnc_launch_options *given,
                                                   attnc_launch_options &options) {
  if (!kernel)
    return Error{"expected a kernel, got null"};
  Result<attnc_launch_options> read = readStruct(given, "attnc_launch_options");
  if (!read)
    return read.takeError();
  options = *read;
  capi::LaunchKey key(options);
  if (key)
    if (capi::LaunchCache::Prepared found = kernel->launches.find(key))
      return found;
  cuda::GpuLaunch &launch = *kernel->launch;
  Result<std::vector<ArgValue>> values = readValues(launch.image(), options);
  if (!values)
    return values.takeError();
  Result<runtime::BoundArguments> arguments =
      runtime::bindArguments(launch.image(), *values, runtime::MemorySpace::Device);
  if (!arguments)
    return arguments.takeError();
  Result<cuda::PreparedLaunch> prepared = launch.prepare(*arguments);
  if (!prepared)
    return prepared.takeError();
  auto kept = std::make_shared<const cuda::PreparedLaunch>(std::move(*prepared));
  if (key)
    kernel->launches.keep(key, kept);
  return capi::LaunchCache::Prepared(kept);
}

attnc_error *attnc_kernel_get_workspace(const attnc_kernel *kernel, const attnc_launch_options *given,
                                        uint64_t *bytes) {
  if (!bytes)
    return fail({"expected a place for the size, got null"});
  *bytes = 0;
  attnc_launch_options options;
  Result<capi::LaunchCache::Prepared> prepared = prepare(kernel, given, options);
  if (!prepared)
    return fail(prepared.takeError());
  *bytes = static_cast<uint64_t>((*prepared)->workspaceBytes);
  return nullptr;
}

attnc_error *attnc_kernel_launch(attnc_kernel *kernel, const attnc_launch_options *given) {
  attnc_launch_options options;
  Result<capi::LaunchCache::Prepared> prepared = prepare(kernel, given, options);
  if (!prepared)
    return fail(prepared.takeError());
  Status status =
      kernel->launch->launch(**prepared, static_cast<cuda::StreamHandle>(options.stream), options.workspace);
  return status ? nullptr : fail(status.takeError());
}

const char *attnc_error_message(const attnc_error *error) { return error ? error->message.c_str() : ""; }

void attnc_error_destroy(attnc_error *error) { delete error; }
