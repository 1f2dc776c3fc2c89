//===- LinkedKernel.cpp - The kernel of a shared object ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/LinkedKernel.h"
#include "runtime/CpuLaunch.h"
#include "runtime/capi/CApi.h"
#include "runtime/capi/CpuFeatures.h"
#include "runtime/capi/Values.h"

#include <cstdlib>
#include <unistd.h>

using namespace attnc;
using namespace attnc::capi;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;
using runtime::CpuEntry;

namespace {

/// Code that came with a shared object.
class LinkedCode : public CpuProgram {
public:
  LinkedCode(const KernelImage &image, std::vector<CpuEntry> entries) : image(image), entries(std::move(entries)) {
    this->image.bytes.clear();
  }

  Status run(image::Span<const runtime::ArgValue> values) override {
    Result<runtime::BoundArguments> arguments = runtime::bindArguments(image, values);
    if (!arguments)
      return arguments.takeError();
    return runtime::runCpu(image, entries, *arguments, runtime::ThreadPool::shared());
  }

private:
  KernelImage image; ///< without its code
  std::vector<CpuEntry> entries;
};

} // namespace

/// The kernel of `image` whose code `linked` has.
static Result<std::shared_ptr<LoadedKernel>> openOnCpu(const attnc_linked_kernel &linked, const KernelImage &image) {
  if (linked.num_entries != image.entries.size())
    return Error{"kernel '" + image.name + "': expected " + std::to_string(image.entries.size()) +
                 " functions in the shared object, got " + std::to_string(linked.num_entries)};
  if (std::string missing = findMissingFeature(linked.features ? linked.features : ""); !missing.empty())
    return Error{"kernel '" + image.name + "' was compiled for " + image.target + ": this CPU has no " + missing};
  std::vector<CpuEntry> entries;
  entries.reserve(linked.num_entries);
  for (size_t index = 0; index < linked.num_entries; ++index)
    entries.push_back(reinterpret_cast<CpuEntry>(const_cast<void *>(linked.entries[index])));
  return makeCpuKernel(image, std::make_shared<LinkedCode>(image, std::move(entries)));
}

/// Whether the process is ending, and with it, maybe before, the driver: nothing is unloaded any more.
static std::atomic<bool> isEnding{false};

/// Has `isEnding` set in time: before objects that are still open are told to unload.
static void watchEnd() {
  // Not a static object, whose lock a fork might copy.
  static std::atomic_flag watched = ATOMIC_FLAG_INIT;
  if (!watched.test_and_set())
    std::atexit([] { isEnding = true; });
}

LinkedState::LinkedState(const attnc_linked_kernel &linked) : linked(linked), process(getpid()) { watchEnd(); }

LinkedState &LinkedState::of(attnc_linked_kernel &linked) {
  void *found = __atomic_load_n(&linked.state, __ATOMIC_ACQUIRE);
  if (found && static_cast<LinkedState *>(found)->process == getpid())
    return *static_cast<LinkedState *>(found);
  // What a child has of its parent stays as it is: its locks may be held by threads that are not here.
  std::unique_ptr<LinkedState> made(new LinkedState(linked));
  if (__atomic_compare_exchange_n(&linked.state, &found, made.get(), /*weak=*/false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return *made.release();
  return *static_cast<LinkedState *>(found);
}

void LinkedState::end(attnc_linked_kernel &linked) {
  auto *state = static_cast<LinkedState *>(__atomic_exchange_n(&linked.state, nullptr, __ATOMIC_ACQ_REL));
  if (state && state->process == getpid() && !isEnding)
    delete state;
}

Result<KernelImage> LinkedState::readImage() const {
  return image::deserialize({static_cast<const uint8_t *>(linked.image), static_cast<size_t>(linked.image_bytes)});
}

Result<int> LinkedState::chooseDevice(const attnc_launch_options &options) {
  if (linked.entries)
    return 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!described) {
      Result<KernelImage> image = readImage();
      if (!image)
        return image.takeError();
      image->bytes = {};
      described = std::move(*image);
    }
    if (Status status = checkCount(*described, options.num_values); !status)
      return status.takeError();
  }
  return findDevice(options);
}

Result<std::shared_ptr<LoadedKernel>> LinkedState::load(int device) {
  Result<KernelImage> image = readImage();
  if (!image)
    return image.takeError();
  return linked.entries ? openOnCpu(linked, *image) : loadOnGpu(device, *image);
}

Result<std::shared_ptr<LoadedKernel>> LinkedState::open(int device) {
  Result<int> place = linked.entries ? Result<int>(0) : findOrdinal(device);
  if (!place)
    return place.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<LoadedKernel> &kept = kernels[*place];
  if (!kept) {
    Result<std::shared_ptr<LoadedKernel>> loaded = load(*place);
    if (!loaded)
      return loaded.takeError();
    kept = std::move(*loaded);
  }
  return kept;
}

attnc_error *attnc_linked_launch(attnc_linked_kernel *linked, const attnc_launch_options *given) {
  Result<attnc_launch_options> options = readStruct(given, "attnc_launch_options");
  if (!options)
    return fail(options.takeError());
  LinkedState &state = LinkedState::of(*linked);
  Result<int> device = state.chooseDevice(*options);
  if (!device)
    return fail(device.takeError());
  Result<std::shared_ptr<LoadedKernel>> kernel = state.open(*device);
  if (!kernel)
    return fail(kernel.takeError());
  Status status = (*kernel)->launch(*options);
  return status ? nullptr : fail(status.takeError());
}

attnc_error *attnc_linked_get_kernel(attnc_linked_kernel *linked, int32_t device, attnc_kernel **kernel) {
  if (!kernel)
    return fail(Error{"expected a place for the kernel, got null"});
  *kernel = nullptr;
  Result<std::shared_ptr<LoadedKernel>> opened = LinkedState::of(*linked).open(device);
  if (!opened)
    return fail(opened.takeError());
  *kernel = new attnc_kernel{std::move(*opened), ATTNC_FROM_IMAGE};
  return nullptr;
}

int attnc_linked_call(attnc_linked_kernel *linked, const void *args, int32_t num_args, void *result) {
  LinkedState &state = LinkedState::of(*linked);
  const auto raise = [&](const char *kind, Error error) {
    state.host.raise(kind, error.message);
    return -1;
  };
  const image::Span<const TvmFfiAny> given(static_cast<const TvmFfiAny *>(args),
                                           static_cast<size_t>(std::max(num_args, 0)));
  const int device = findTvmFfiDevice(given);
  Result<std::shared_ptr<LoadedKernel>> kernel = state.open(device);
  if (!kernel)
    return raise("RuntimeError", kernel.takeError());
  std::vector<attnc_value> values;
  if (Status status = readTvmFfi((*kernel)->image(), given, values); !status)
    return raise("TypeError", status.takeError());
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values.data();
  options.num_values = values.size();
  options.value_size = sizeof(attnc_value);
  if (!linked->entries && device >= 0)
    options.stream = state.host.findStream(device);
  if (Status status = (*kernel)->launch(options); !status)
    return raise("ValueError", status.takeError());
  if (result)
    *static_cast<TvmFfiAny *>(result) = {};
  return 0;
}

void attnc_linked_unload(attnc_linked_kernel *linked) { LinkedState::end(*linked); }
