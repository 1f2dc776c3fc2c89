//===- FakeLibrary.cpp - A libcuda without a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The fake driver as a library, which programs open as they open NVIDIA's: with
// it on the library path, all that a launch does on the host runs on a machine
// without a GPU. Kernels write nothing. With ATTNC_FAKE_CUDA_LOG in the
// environment, launches and what is unloaded are lines of the standard error.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <cstdio>
#include <cstdlib>

using namespace attnc::cuda;
using attnc::test::FakeDriver;

static bool isLogged() { return std::getenv("ATTNC_FAKE_CUDA_LOG"); }

/// The machine, which lives until the process ends.
static FakeDriver *makeMachine() {
  auto *fake = new FakeDriver;
  if (isLogged())
    fake->onLaunch = [fake](void **) {
      std::fprintf(stderr, "fake driver: %s on stream %p\n", fake->launches.back().function.c_str(),
                   static_cast<void *>(fake->launches.back().stream));
    };
  return fake;
}

/// The functions of the only machine.
static const DriverApi &api() {
  static FakeDriver &fake = *makeMachine();
  fake.calls.clear();
  return *fake.driver().operator->();
}

// NOLINTBEGIN(bugprone-macro-parentheses,readability-identifier-naming): parameters are whole lists, names NVIDIA's.
#define EXPORT(name, member, parameters, arguments)                                                                    \
  extern "C" __attribute__((visibility("default"))) DriverResult name parameters { return api().member arguments; }

/// NVRTC asks for tables that are not documented, and does without.
extern "C" __attribute__((visibility("default"))) DriverResult cuGetExportTable(const void **table, const void *) {
  constexpr DriverResult notSupported = 801;
  *table = nullptr;
  return notSupported;
}

EXPORT(cuInit, init, (unsigned flags), (flags))
EXPORT(cuDriverGetVersion, driverGetVersion, (int *version), (version))
EXPORT(cuGetErrorName, getErrorName, (DriverResult result, const char **text), (result, text))
EXPORT(cuGetErrorString, getErrorString, (DriverResult result, const char **text), (result, text))
EXPORT(cuDeviceGetCount, deviceGetCount, (int *count), (count))
EXPORT(cuDeviceGet, deviceGet, (DeviceHandle * device, int ordinal), (device, ordinal))
EXPORT(cuDeviceGetName, deviceGetName, (char *name, int length, DeviceHandle device), (name, length, device))
EXPORT(cuDeviceGetAttribute, deviceGetAttribute, (int *value, DeviceAttribute attribute, DeviceHandle device),
       (value, attribute, device))
EXPORT(cuDeviceTotalMem_v2, deviceTotalMem, (size_t *bytes, DeviceHandle device), (bytes, device))
EXPORT(cuDevicePrimaryCtxRetain, primaryContextRetain, (ContextHandle * context, DeviceHandle device),
       (context, device))
EXPORT(cuDevicePrimaryCtxRelease_v2, primaryContextRelease, (DeviceHandle device), (device))
EXPORT(cuCtxPushCurrent_v2, contextPush, (ContextHandle context), (context))
EXPORT(cuCtxPopCurrent_v2, contextPop, (ContextHandle * context), (context))
EXPORT(cuModuleLoadDataEx, moduleLoadDataEx,
       (ModuleHandle * module, const void *image, unsigned numOptions, JitOption *options, void **values),
       (module, image, numOptions, options, values))
EXPORT(cuLinkCreate_v2, linkCreate, (unsigned numOptions, JitOption *options, void **values, LinkHandle *link),
       (numOptions, options, values, link))
EXPORT(cuLinkAddData_v2, linkAddData,
       (LinkHandle link, JitInput type, void *data, size_t bytes, const char *name, unsigned numOptions,
        JitOption *options, void **values),
       (link, type, data, bytes, name, numOptions, options, values))
EXPORT(cuLinkComplete, linkComplete, (LinkHandle link, void **cubin, size_t *bytes), (link, cubin, bytes))
EXPORT(cuLinkDestroy, linkDestroy, (LinkHandle link), (link))
EXPORT(cuModuleGetFunction, moduleGetFunction, (FunctionHandle * function, ModuleHandle module, const char *name),
       (function, module, name))
EXPORT(cuFuncGetAttribute, functionGetAttribute, (int *value, FunctionAttribute attribute, FunctionHandle function),
       (value, attribute, function))
EXPORT(cuFuncSetAttribute, functionSetAttribute, (FunctionHandle function, FunctionAttribute attribute, int value),
       (function, attribute, value))
EXPORT(cuFuncLoad, functionLoad, (FunctionHandle function), (function))
EXPORT(cuMemAlloc_v2, memAlloc, (DeviceAddress * address, size_t bytes), (address, bytes))
EXPORT(cuMemFree_v2, memFree, (DeviceAddress address), (address))
EXPORT(cuMemAllocAsync, memAllocAsync, (DeviceAddress * address, size_t bytes, StreamHandle stream),
       (address, bytes, stream))
EXPORT(cuMemFreeAsync, memFreeAsync, (DeviceAddress address, StreamHandle stream), (address, stream))
EXPORT(cuMemcpyHtoD_v2, memcpyHostToDevice, (DeviceAddress to, const void *from, size_t bytes), (to, from, bytes))
EXPORT(cuMemcpyDtoH_v2, memcpyDeviceToHost, (void *to, DeviceAddress from, size_t bytes), (to, from, bytes))
EXPORT(cuMemsetD8_v2, memset8, (DeviceAddress address, unsigned char value, size_t bytes), (address, value, bytes))
EXPORT(cuTensorMapEncodeTiled, tensorMapEncodeTiled,
       (TensorMap * map, TensorMapType type, uint32_t rank, void *address, const uint64_t *sizes,
        const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides, TensorMapInterleave interleave,
        TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill),
       (map, type, rank, address, sizes, strides, box, elementStrides, interleave, swizzle, promotion, fill))
EXPORT(cuLaunchKernel, launchKernel,
       (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
        unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void **parameters, void **extra),
       (function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters, extra))
EXPORT(cuLaunchKernelEx, launchKernelEx,
       (const LaunchConfig *config, FunctionHandle function, void **parameters, void **extra),
       (config, function, parameters, extra))
EXPORT(cuStreamSynchronize, streamSynchronize, (StreamHandle stream), (stream))
EXPORT(cuThreadExchangeStreamCaptureMode, exchangeCaptureMode, (CaptureMode * mode), (mode))
EXPORT(cuEventCreate, eventCreate, (EventHandle * event, unsigned flags), (event, flags))
EXPORT(cuEventDestroy_v2, eventDestroy, (EventHandle event), (event))
EXPORT(cuEventRecord, eventRecord, (EventHandle event, StreamHandle stream), (event, stream))
EXPORT(cuEventSynchronize, eventSynchronize, (EventHandle event), (event))
EXPORT(cuEventElapsedTime, eventElapsedTime, (float *milliseconds, EventHandle begin, EventHandle end),
       (milliseconds, begin, end))
// NOLINTEND(bugprone-macro-parentheses,readability-identifier-naming)

extern "C" __attribute__((visibility("default"))) DriverResult cuModuleUnload(ModuleHandle module) {
  if (isLogged())
    std::fprintf(stderr, "fake driver: a module is unloaded\n");
  return api().moduleUnload(module);
}

/// A thread of the host that has no context: all go by the primary one.
extern "C" __attribute__((visibility("default"))) DriverResult cuCtxGetDevice(DeviceHandle * /*device*/) {
  return driverInvalidContext;
}
