//===- FakeDriver.cpp - A CUDA driver without a GPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "FakeDriver.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace attnc::cuda;
using attnc::test::FakeDriver;

FakeDriver *FakeDriver::current = nullptr;

namespace {

/// Function names stand for their handles.
std::vector<std::string> &functionNames() {
  static std::vector<std::string> names;
  return names;
}

/// A handle that is not null and not to be followed.
template <typename Handle>
Handle handle(uintptr_t number) {
  return reinterpret_cast<Handle>(0x1000 + number);
}

/// Whether a thread may call it during a capture in relaxed mode only.
bool isUnsafeInCaptures(std::string_view name) {
  constexpr std::string_view unsafe[] = {"cuModuleLoadDataEx", "cuModuleUnload", "cuLinkComplete", "cuFuncLoad",
                                         "cuMemAlloc_v2",      "cuMemFree_v2",   "cuMemsetD8_v2"};
  return std::find(std::begin(unsafe), std::end(unsafe), name) != std::end(unsafe);
}

/// What the linker makes of any PTX.
constexpr char linked[] = "\x7F"
                          "ELF";

/// Records a call; its result.
DriverResult called(const char *name) {
  FakeDriver &fake = *FakeDriver::current;
  fake.calls.emplace_back(name);
  if (fake.captureMode != CaptureMode::Relaxed && isUnsafeInCaptures(name))
    fake.unsafeCalls.emplace_back(name);
  const auto failure = fake.failures.find(name);
  return failure == fake.failures.end() ? driverSuccess : failure->second;
}

/// A launch by a function of this name; `launched` lacks the name of what is launched.
DriverResult launch(const char *name, FunctionHandle function, attnc::test::FakeLaunch launched, void **parameters) {
  FakeDriver &fake = *FakeDriver::current;
  const DriverResult result = called(name);
  // A context that is current cures the lack of one.
  bool isOfContext = result == driverInvalidContext || result == driverInvalidHandle;
  if (result != driverSuccess && !(isOfContext && fake.depth > 0))
    return result;
  launched.function = functionNames()[reinterpret_cast<uintptr_t>(function) - 0x1000];
  fake.launches.push_back(std::move(launched));
  if (fake.onLaunch)
    fake.onLaunch(parameters);
  return driverSuccess;
}

DriverApi makeApi() {
  DriverApi api;
  api.init = [](unsigned) { return called("cuInit"); };
  api.driverGetVersion = [](int *version) {
    *version = FakeDriver::current->version;
    return called("cuDriverGetVersion");
  };
  api.getErrorName = [](DriverResult result, const char **text) {
    const std::map<DriverResult, const char *> names = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                        {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                        {218, "CUDA_ERROR_INVALID_PTX"},
                                                        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                        {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    const auto found = names.find(result);
    *text = found == names.end() ? nullptr : found->second;
    return *text ? 0 : 1;
  };
  api.getErrorString = [](DriverResult result, const char **text) {
    const std::map<DriverResult, const char *> texts = {{2, "out of memory"},
                                                        {218, "a PTX JIT compilation failed"},
                                                        {700, "an illegal memory access was encountered"},
                                                        {719, "unspecified launch failure"}};
    const auto found = texts.find(result);
    *text = found == texts.end() ? nullptr : found->second;
    return *text ? 0 : 1;
  };
  api.deviceGetCount = [](int *count) {
    *count = FakeDriver::current->numDevices;
    return called("cuDeviceGetCount");
  };
  api.deviceGet = [](DeviceHandle *device, int ordinal) {
    *device = ordinal;
    return called("cuDeviceGet");
  };
  api.deviceGetName = [](char *name, int length, DeviceHandle) {
    std::strncpy(name, "NVIDIA H200", static_cast<size_t>(length));
    return called("cuDeviceGetName");
  };
  api.deviceGetAttribute = [](int *value, DeviceAttribute attribute, DeviceHandle) {
    const std::map<DeviceAttribute, int> values = {
        {DeviceAttribute::ClockRate, 1980000},
        {DeviceAttribute::MultiprocessorCount, 132},
        {DeviceAttribute::L2CacheSize, 60 << 20},
        {DeviceAttribute::ComputeCapabilityMajor, FakeDriver::current->major},
        {DeviceAttribute::ComputeCapabilityMinor, FakeDriver::current->minor},
        {DeviceAttribute::MaxRegistersPerMultiprocessor, 65536},
        {DeviceAttribute::MaxSharedMemoryPerBlockOptin, 232448},
    };
    *value = values.at(attribute);
    return called("cuDeviceGetAttribute");
  };
  api.deviceTotalMem = [](size_t *bytes, DeviceHandle) {
    *bytes = size_t{139} << 30;
    return called("cuDeviceTotalMem_v2");
  };
  api.primaryContextRetain = [](ContextHandle *context, DeviceHandle) {
    ++FakeDriver::current->retained;
    *context = handle<ContextHandle>(1);
    return called("cuDevicePrimaryCtxRetain");
  };
  api.primaryContextRelease = [](DeviceHandle) {
    --FakeDriver::current->retained;
    return called("cuDevicePrimaryCtxRelease_v2");
  };
  api.contextPush = [](ContextHandle) {
    ++FakeDriver::current->depth;
    return called("cuCtxPushCurrent_v2");
  };
  api.contextPop = [](ContextHandle *) {
    --FakeDriver::current->depth;
    return called("cuCtxPopCurrent_v2");
  };
  api.moduleLoadDataEx = [](ModuleHandle *module, const void *image, unsigned, JitOption *, void **) {
    FakeDriver &fake = *FakeDriver::current;
    // What the linker made stands for the text that it was given.
    if (image != linked)
      fake.code.assign(static_cast<const char *>(image), 4);
    const DriverResult result = called("cuModuleLoadDataEx");
    *module = result == driverSuccess ? handle<ModuleHandle>(2) : nullptr;
    return result;
  };
  api.linkCreate = [](unsigned numOptions, JitOption *options, void **values, LinkHandle *link) {
    FakeDriver &fake = *FakeDriver::current;
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == JitOption::ErrorLogBuffer)
        fake.linkLog = static_cast<char *>(values[i]);
      else if (options[i] == JitOption::OptimizationLevel)
        fake.levels.push_back(static_cast<int>(reinterpret_cast<uintptr_t>(values[i])));
    *link = handle<LinkHandle>(3);
    return called("cuLinkCreate_v2");
  };
  api.linkAddData = [](LinkHandle, JitInput, void *data, size_t bytes, const char *, unsigned, JitOption *, void **) {
    FakeDriver &fake = *FakeDriver::current;
    // PTX ends with a zero.
    fake.code.assign(static_cast<const char *>(data), bytes - 1);
    std::strcpy(fake.linkLog, fake.log.c_str());
    return called("cuLinkAddData_v2");
  };
  api.linkComplete = [](LinkHandle, void **cubin, size_t *bytes) {
    *cubin = const_cast<char *>(linked);
    *bytes = 4;
    return called("cuLinkComplete");
  };
  api.linkDestroy = [](LinkHandle) {
    FakeDriver::current->linkLog = nullptr;
    return called("cuLinkDestroy");
  };
  api.moduleUnload = [](ModuleHandle) { return called("cuModuleUnload"); };
  api.moduleGetFunction = [](FunctionHandle *function, ModuleHandle, const char *name) {
    functionNames().emplace_back(name);
    *function = handle<FunctionHandle>(functionNames().size() - 1);
    return called("cuModuleGetFunction");
  };
  api.functionGetAttribute = [](int *value, FunctionAttribute attribute, FunctionHandle) {
    FakeDriver &fake = *FakeDriver::current;
    *value = attribute == FunctionAttribute::NumRegs              ? fake.registers
             : attribute == FunctionAttribute::MaxThreadsPerBlock ? fake.maxThreads
             : attribute == FunctionAttribute::SharedSizeBytes    ? fake.staticSharedBytes
                                                                  : fake.spilledBytes;
    return called("cuFuncGetAttribute");
  };
  api.functionSetAttribute = [](FunctionHandle, FunctionAttribute attribute, int value) {
    if (attribute == FunctionAttribute::MaxDynamicSharedSizeBytes)
      FakeDriver::current->dynamicSharedBytes = value;
    return called("cuFuncSetAttribute");
  };
  api.functionLoad = [](FunctionHandle) { return called("cuFuncLoad"); };
  api.memAlloc = [](DeviceAddress *address, size_t bytes) {
    const DriverResult result = called("cuMemAlloc_v2");
    if (result == driverSuccess)
      *address = FakeDriver::current->allocate(bytes);
    return result;
  };
  api.memFree = [](DeviceAddress address) {
    FakeDriver::current->memory.erase(address);
    return called("cuMemFree_v2");
  };
  api.memAllocAsync = [](DeviceAddress *address, size_t bytes, StreamHandle) {
    const DriverResult result = called("cuMemAllocAsync");
    if (result == driverSuccess)
      *address = FakeDriver::current->allocate(bytes);
    return result;
  };
  api.memFreeAsync = [](DeviceAddress address, StreamHandle) {
    FakeDriver::current->memory.erase(address);
    return called("cuMemFreeAsync");
  };
  api.memcpyHostToDevice = [](DeviceAddress to, const void *from, size_t bytes) {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return called("cuMemcpyHtoD_v2");
  };
  api.memcpyDeviceToHost = [](void *to, DeviceAddress from, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return called("cuMemcpyDtoH_v2");
  };
  api.memset8 = [](DeviceAddress address, unsigned char value, size_t bytes) {
    std::memset(reinterpret_cast<void *>(address), value, bytes);
    return called("cuMemsetD8_v2");
  };
  api.tensorMapEncodeTiled = [](TensorMap *map, TensorMapType type, uint32_t rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                TensorMapInterleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                                TensorMapFill) {
    FakeDriver &fake = *FakeDriver::current;
    const DriverResult result = called("cuTensorMapEncodeTiled");
    fake.encoded.push_back(
        {type, address, {sizes, sizes + rank}, {strides, strides + rank - 1}, {box, box + rank}, swizzle, promotion});
    for (uint32_t d = 0; d < rank; ++d)
      if (elementStrides[d] != 1 || sizes[d] == 0)
        return 1;
    *map = {};
    map->words[0] = fake.encoded.size();
    return result;
  };
  api.launchKernel = [](FunctionHandle function, unsigned gridX, unsigned, unsigned, unsigned blockX, unsigned,
                        unsigned, unsigned sharedBytes, StreamHandle stream, void **parameters, void **) {
    return launch("cuLaunchKernel", function, {{}, gridX, blockX, sharedBytes, stream}, parameters);
  };
  api.launchKernelEx = [](const LaunchConfig *config, FunctionHandle function, void **parameters, void **) {
    const LaunchAttribute *first = config->attributes;
    const bool early = config->numAttributes == 1 && first->id == 6 && first->value[0] == 1;
    return launch("cuLaunchKernelEx", function,
                  {{}, config->gridX, config->blockX, config->sharedBytes, config->stream, early}, parameters);
  };
  api.streamSynchronize = [](StreamHandle) { return called("cuStreamSynchronize"); };
  api.exchangeCaptureMode = [](CaptureMode *mode) {
    std::swap(FakeDriver::current->captureMode, *mode);
    return driverSuccess;
  };
  api.eventCreate = [](EventHandle *event, unsigned) {
    *event = handle<EventHandle>(3);
    return called("cuEventCreate");
  };
  api.eventDestroy = [](EventHandle) { return called("cuEventDestroy_v2"); };
  api.eventRecord = [](EventHandle, StreamHandle) { return called("cuEventRecord"); };
  api.eventSynchronize = [](EventHandle) { return called("cuEventSynchronize"); };
  api.eventElapsedTime = [](float *milliseconds, EventHandle, EventHandle) {
    *milliseconds = 0.5;
    return called("cuEventElapsedTime");
  };
  return api;
}

} // namespace

FakeDriver::FakeDriver() : table(makeApi()) { current = this; }

FakeDriver::~FakeDriver() { current = nullptr; }

DeviceRef FakeDriver::device() const { return *Device::open(table); }

DeviceAddress FakeDriver::allocate(size_t bytes) {
  // Aligned as the driver does it, inside of a block that is a little larger.
  std::vector<char> block(bytes + 256, '\xCD');
  const DeviceAddress address = (reinterpret_cast<DeviceAddress>(block.data()) + 255) / 256 * 256;
  memory.emplace(address, std::move(block));
  return address;
}

void FakeDriver::withoutLaunchEx() {
  DriverApi api = makeApi();
  api.launchKernelEx = nullptr;
  table = Driver(api);
}

void FakeDriver::clear() {
  calls.clear();
  encoded.clear();
  launches.clear();
}
