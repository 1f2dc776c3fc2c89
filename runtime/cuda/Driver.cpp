//===- Driver.cpp - The CUDA driver, opened at run time --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Finds the library, its functions, and words for its errors.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Driver.h"

#include <dlfcn.h>
#include <string>

using attnc::image::Error;
using attnc::image::Result;
using attnc::image::Status;

namespace attnc::cuda {
namespace {

/// Looks functions up in a library and remembers the first that is not there.
class Lookup {
public:
  explicit Lookup(void *library) : library(library) {}

  /// Sets `function` to the library's `name`.
  template <typename Function>
  void require(Function &function, const char *name) {
    allow(function, name);
    if (!function && !missing)
      missing = name;
  }

  /// Likewise, where null is an answer.
  template <typename Function>
  void allow(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }

  /// The first function that is not there; null when all are.
  const char *missing = nullptr;

private:
  void *library;
};

/// The functions of `library`; the name of the first that it lacks otherwise.
/// A name with `_v2` is the function that CUDA's header gives to the name
/// without: the plain one is older, and takes other types.
const char *findFunctions(void *library, DriverApi &api) {
  Lookup lookup(library);
  lookup.require(api.init, "cuInit");
  lookup.require(api.driverGetVersion, "cuDriverGetVersion");
  lookup.require(api.getErrorName, "cuGetErrorName");
  lookup.require(api.getErrorString, "cuGetErrorString");
  lookup.require(api.deviceGetCount, "cuDeviceGetCount");
  lookup.require(api.deviceGet, "cuDeviceGet");
  lookup.require(api.deviceGetName, "cuDeviceGetName");
  lookup.require(api.deviceGetAttribute, "cuDeviceGetAttribute");
  lookup.require(api.deviceTotalMem, "cuDeviceTotalMem_v2");
  lookup.require(api.primaryContextRetain, "cuDevicePrimaryCtxRetain");
  lookup.require(api.primaryContextRelease, "cuDevicePrimaryCtxRelease_v2");
  lookup.require(api.contextPush, "cuCtxPushCurrent_v2");
  lookup.require(api.contextPop, "cuCtxPopCurrent_v2");
  lookup.require(api.contextGetDevice, "cuCtxGetDevice");
  lookup.require(api.moduleLoadDataEx, "cuModuleLoadDataEx");
  lookup.require(api.moduleUnload, "cuModuleUnload");
  lookup.require(api.linkCreate, "cuLinkCreate_v2");
  lookup.require(api.linkAddData, "cuLinkAddData_v2");
  lookup.require(api.linkComplete, "cuLinkComplete");
  lookup.require(api.linkDestroy, "cuLinkDestroy");
  lookup.require(api.moduleGetFunction, "cuModuleGetFunction");
  lookup.require(api.functionGetAttribute, "cuFuncGetAttribute");
  lookup.require(api.functionSetAttribute, "cuFuncSetAttribute");
  lookup.allow(api.functionLoad, "cuFuncLoad");
  lookup.require(api.memAlloc, "cuMemAlloc_v2");
  lookup.require(api.memFree, "cuMemFree_v2");
  lookup.allow(api.memAllocAsync, "cuMemAllocAsync");
  lookup.allow(api.memFreeAsync, "cuMemFreeAsync");
  lookup.require(api.memcpyHostToDevice, "cuMemcpyHtoD_v2");
  lookup.require(api.memcpyDeviceToHost, "cuMemcpyDtoH_v2");
  lookup.require(api.memset8, "cuMemsetD8_v2");
  lookup.allow(api.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  lookup.require(api.launchKernel, "cuLaunchKernel");
  lookup.allow(api.launchKernelEx, "cuLaunchKernelEx");
  lookup.require(api.streamSynchronize, "cuStreamSynchronize");
  lookup.allow(api.exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
  lookup.require(api.eventCreate, "cuEventCreate");
  lookup.require(api.eventDestroy, "cuEventDestroy_v2");
  lookup.require(api.eventRecord, "cuEventRecord");
  lookup.require(api.eventSynchronize, "cuEventSynchronize");
  lookup.require(api.eventElapsedTime, "cuEventElapsedTime");
  return lookup.missing;
}

/// Opens and initialises the driver.
Result<Driver> openLibrary() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return Error{std::string("no NVIDIA driver: ") + (why ? why : "libcuda.so.1 cannot be opened")};
  }
  DriverApi api;
  if (const char *missing = findFunctions(library, api))
    return Error{std::string("the NVIDIA driver is too old: libcuda.so.1 has no ") + missing};
  Driver driver(api);
  if (Status status = driver.check(api.init(0), "cuInit", "initialise the NVIDIA driver"); !status)
    return status.takeError();
  return driver;
}

} // namespace

Result<const Driver *> Driver::open() {
  // Never destroyed: what is freed when the process ends may still call it.
  static const Result<Driver> &driver = *new Result<Driver>(openLibrary());
  if (!driver)
    return Error{driver.message()};
  return &*driver;
}

Error Driver::error(DriverResult result, std::string_view call, std::string_view attempt) const {
  const char *name = nullptr, *text = nullptr;
  std::string message = "cannot " + std::string(attempt) + ": " + std::string(call) + ": ";
  if (api.getErrorName(result, &name) != driverSuccess || !name)
    return Error{message + "error " + std::to_string(result)};
  message += name;
  if (api.getErrorString(result, &text) == driverSuccess && text)
    message += " (" + std::string(text) + ")";
  return Error{message};
}

Status Driver::check(DriverResult result, std::string_view call, std::string_view attempt) const {
  if (result == driverSuccess)
    return {};
  return error(result, call, attempt);
}

} // namespace attnc::cuda
