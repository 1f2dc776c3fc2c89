//===- XlaFfi.cpp - Kernels as functions of XLA -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A compiled program of XLA names a kernel by the text of its spec: it may be
// kept on disk and be read by another process, which compiles or finds the
// kernel at the first call.
//
//===----------------------------------------------------------------------===//

#include "XlaFfi.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
#include <xla/ffi/api/ffi.h>

namespace ffi = xla::ffi;
using namespace attnc::python;

static std::atomic<attnc_context *> xlaContext{nullptr};

void attnc::python::setXlaContext(attnc_context *context) { xlaContext = context; }

/// `error` as XLA has it; it is ended.
static ffi::Error toXla(attnc_error *error) {
  ffi::Error result = ffi::Error::InvalidArgument(std::string("attnc: ") + attnc_error_details(error));
  attnc_error_destroy(error);
  return result;
}

namespace {

/// Kernels that programs have asked for, on all devices. They live as long as the process.
class Kernels {
public:
  /// Sets `kernel` to that of `spec` on GPU number `ordinal`, or on the CPU where it is -1. `schedule` replaces the
  /// compiler's where it is not empty.
  attnc_error *find(std::string_view spec, std::string_view schedule, bool backward, int ordinal,
                    attnc_kernel *&kernel);

private:
  static attnc_error *compile(std::string_view spec, const std::string &schedule, bool backward, int ordinal,
                              attnc_kernel *&kernel);

  std::shared_mutex mutex;
  std::unordered_map<std::string, attnc_kernel *> known;
};

} // namespace

attnc_error *Kernels::find(std::string_view spec, std::string_view schedule, bool backward, int ordinal,
                           attnc_kernel *&kernel) {
  std::string key = std::to_string(ordinal) + (backward ? "b" : "f");
  key.append(schedule).push_back('\0');
  key.append(spec);
  {
    std::shared_lock<std::shared_mutex> reading(mutex);
    if (auto found = known.find(key); found != known.end()) {
      kernel = found->second;
      return nullptr;
    }
  }
  if (attnc_error *error = compile(spec, std::string(schedule), backward, ordinal, kernel))
    return error;
  std::unique_lock<std::shared_mutex> writing(mutex);
  auto [place, isNew] = known.emplace(std::move(key), kernel);
  if (!isNew) {
    attnc_kernel_destroy(kernel);
    kernel = place->second;
  }
  return nullptr;
}

attnc_error *Kernels::compile(std::string_view text, const std::string &schedule, bool backward, int ordinal,
                              attnc_kernel *&kernel) {
  attnc_spec_options source = {};
  source.struct_size = sizeof(source);
  source.text = text.data();
  source.text_bytes = text.size();
  source.name = "attention";
  attnc_spec *spec = nullptr;
  if (attnc_error *error = attnc_spec_create(xlaContext, &source, &spec))
    return error;
  attnc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = ordinal < 0 ? "cpu" : "nvptx";
  options.device_plus_one = ordinal + 1;
  options.backward = backward;
  options.schedule = schedule.empty() ? nullptr : schedule.c_str();
  attnc_error *error = attnc_compile(xlaContext, spec, &options, &kernel);
  attnc_spec_destroy(spec);
  return error;
}

/// The element type of a buffer; -1 for one that no kernel has.
static int32_t toDtype(ffi::DataType type) {
  switch (type) {
  case ffi::DataType::F32:
    return ATTNC_F32;
  case ffi::DataType::F16:
    return ATTNC_F16;
  case ffi::DataType::BF16:
    return ATTNC_BF16;
  case ffi::DataType::F64:
    return ATTNC_F64;
  case ffi::DataType::PRED:
    return ATTNC_I1;
  case ffi::DataType::S8:
    return ATTNC_I8;
  case ffi::DataType::S32:
    return ATTNC_I32;
  case ffi::DataType::S64:
    return ATTNC_I64;
  default:
    return -1;
  }
}

/// `buffer` as the argument of a launch, which points into it.
static attnc_value toValue(const ffi::AnyBuffer &buffer) {
  attnc_value value = {};
  value.kind = ATTNC_TENSOR;
  value.as.tensor.address = reinterpret_cast<uint64_t>(buffer.untyped_data());
  value.as.tensor.dtype = toDtype(buffer.element_type());
  value.as.tensor.rank = static_cast<int32_t>(buffer.dimensions().size());
  value.as.tensor.sizes = buffer.dimensions().begin();
  return value;
}

static ffi::Error launch(int ordinal, void *stream, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                         std::string_view spec, std::string_view schedule, bool backward,
                         ffi::Span<const int64_t> numbers, int64_t position, bool hasWorkspace) {
  // Never ended: kernels may be on their way when the process ends.
  static auto &kernels = *new Kernels;
  attnc_kernel *kernel = nullptr;
  if (attnc_error *error = kernels.find(spec, schedule, backward, ordinal, kernel))
    return toXla(error);
  std::vector<attnc_value> values;
  values.reserve(arguments.size() + numbers.size() + results.size());
  auto addNumbers = [&] {
    for (int64_t number : numbers) {
      attnc_value value = {};
      value.kind = ATTNC_INTEGER;
      value.as.integer = number;
      values.push_back(value);
    }
  };
  for (size_t index = 0; index < arguments.size(); ++index) {
    if (static_cast<int64_t>(index) == position)
      addNumbers();
    ffi::ErrorOr<ffi::AnyBuffer> buffer = arguments.get<ffi::AnyBuffer>(index);
    if (!buffer)
      return buffer.error();
    values.push_back(toValue(*buffer));
  }
  if (static_cast<int64_t>(arguments.size()) == position)
    addNumbers();
  uint64_t workspace = 0, workspaceBytes = 0;
  for (size_t index = 0; index < results.size(); ++index) {
    ffi::ErrorOr<ffi::Result<ffi::AnyBuffer>> buffer = results.get<ffi::AnyBuffer>(index);
    if (!buffer)
      return buffer.error();
    if (hasWorkspace && index + 1 == results.size()) {
      workspace = reinterpret_cast<uint64_t>((*buffer)->untyped_data());
      workspaceBytes = (*buffer)->size_bytes();
    } else {
      values.push_back(toValue(**buffer));
    }
  }
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values.data();
  options.num_values = values.size();
  options.value_size = sizeof(attnc_value);
  options.stream = stream;
  if (workspace) {
    // The program may run on another GPU than the one that it was made for, whose kernel takes more.
    uint64_t wanted = 0;
    if (attnc_error *error = attnc_kernel_get_workspace(kernel, &options, &wanted))
      return toXla(error);
    options.workspace = wanted <= workspaceBytes ? workspace : 0;
  }
  attnc_error *error = attnc_kernel_launch(kernel, &options);
  return error ? toXla(error) : ffi::Error::Success();
}

static ffi::Error launchOnCpu(ffi::RemainingArgs arguments, ffi::RemainingRets results, std::string_view spec,
                              std::string_view schedule, bool backward, ffi::Span<const int64_t> numbers,
                              int64_t position, bool workspace) {
  return launch(/*ordinal=*/-1, nullptr, arguments, results, spec, schedule, backward, numbers, position, workspace);
}

static ffi::Error launchOnGpu(void *stream, int32_t ordinal, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                              std::string_view spec, std::string_view schedule, bool backward,
                              ffi::Span<const int64_t> numbers, int64_t position, bool workspace) {
  return launch(ordinal, stream, arguments, results, spec, schedule, backward, numbers, position, workspace);
}

XLA_FFI_DEFINE_HANDLER(cpuHandler, launchOnCpu,
                       ffi::Ffi::Bind()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<std::string_view>("spec")
                           .Attr<std::string_view>("schedule")
                           .Attr<bool>("backward")
                           .Attr<ffi::Span<const int64_t>>("numbers")
                           .Attr<int64_t>("position")
                           .Attr<bool>("workspace"));

// A launch waits for nothing, reads nothing back and, where the program gives it a workspace, allocates nothing, so
// that XLA's graphs may hold it.
XLA_FFI_DEFINE_HANDLER(gpuHandler, launchOnGpu,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void *>>()
                           .Ctx<ffi::DeviceOrdinal>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<std::string_view>("spec")
                           .Attr<std::string_view>("schedule")
                           .Attr<bool>("backward")
                           .Attr<ffi::Span<const int64_t>>("numbers")
                           .Attr<int64_t>("position")
                           .Attr<bool>("workspace"),
                       {ffi::Traits::kCmdBufferCompatible});

void *attnc::python::getCpuHandler() { return reinterpret_cast<void *>(+cpuHandler); }
void *attnc::python::getGpuHandler() { return reinterpret_cast<void *>(+gpuHandler); }
