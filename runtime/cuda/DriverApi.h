//===- DriverApi.h - The CUDA driver as we call it -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Declarations of what we use of the CUDA driver API, so that neither its
// headers nor its library are needed to build or to start the program. Layouts
// and numbers are those of the CUDA Driver API Reference Manual, which keeps
// them from version to version.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_DRIVERAPI_H
#define ATTNC_RUNTIME_CUDA_DRIVERAPI_H

#include <cstddef>
#include <cstdint>

// The driver's own opaque types, so that a CUstream of a caller fits as it is.
struct CUctx_st;
struct CUmod_st;
struct CUlinkState_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace attnc::cuda {

/// A CUresult: 0, or a number that the driver has a name for.
using DriverResult = int;

/// Results that are told apart.
inline constexpr DriverResult driverSuccess = 0, driverInvalidContext = 201, driverInvalidHandle = 400;

/// Handles: CUcontext, CUmodule, CUlinkState, CUfunction, CUstream, CUevent,
/// CUdevice and CUdeviceptr.
using ContextHandle = CUctx_st *;
using ModuleHandle = CUmod_st *;
using LinkHandle = CUlinkState_st *;
using FunctionHandle = CUfunc_st *;
using StreamHandle = CUstream_st *;
using EventHandle = CUevent_st *;
using DeviceHandle = int;
using DeviceAddress = uint64_t;

/// Members of CUstreamCaptureMode: what a thread may do while streams are
/// captured, those of other threads among them.
enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };

/// A CUtensorMap: what the copy unit knows of a tensor. Opaque. The driver asks
/// for 64 bytes of alignment, and since CUDA 13 its header for 128.
struct alignas(128) TensorMap {
  uint64_t words[16];
};

/// Members of CUdevice_attribute.
enum class DeviceAttribute : int {
  ClockRate = 13, ///< in kHz
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxRegistersPerMultiprocessor = 82,
  MaxSharedMemoryPerBlockOptin = 97,
};

/// Members of CUfunction_attribute.
enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  LocalSizeBytes = 3,
  NumRegs = 4,
  MaxDynamicSharedSizeBytes = 8,
};

/// Members of CUjit_option.
enum class JitOption : int {
  InfoLogBuffer = 3,
  InfoLogBufferSizeBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSizeBytes = 6,
  OptimizationLevel = 7,
};

/// Members of CUjitInputType.
enum class JitInput : int { Ptx = 1 };

/// Members of CUtensorMapDataType.
enum class TensorMapType : int {
  UInt8 = 0,
  Int32 = 3,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  BFloat16 = 9,
};

/// Members of CUtensorMapInterleave, CUtensorMapSwizzle,
/// CUtensorMapL2promotion and CUtensorMapFloatOOBfill.
enum class TensorMapInterleave : int { None = 0 };
enum class TensorMapSwizzle : int { None = 0, Bytes32 = 1, Bytes64 = 2, Bytes128 = 3 };
enum class TensorMapPromotion : int { None = 0, L2Bytes256 = 3 };
enum class TensorMapFill : int { Zeros = 0 };

/// A CUlaunchAttribute: a member of CUlaunchAttributeID, and its value, of which
/// the first word counts here.
struct LaunchAttribute {
  /// The kernel may start while the one before it in its stream runs, and waits
  /// for it by itself.
  static constexpr int programmaticStreamSerialization = 6;

  int id = 0;
  int padding = 0;
  int value[16] = {};
};

/// A CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// The functions that we call. `Driver::open` fills it from the library; tests
/// fill it with their own.
struct DriverApi {
  DriverResult (*init)(unsigned flags) = nullptr;
  DriverResult (*driverGetVersion)(int *version) = nullptr;
  DriverResult (*getErrorName)(DriverResult result, const char **text) = nullptr;
  DriverResult (*getErrorString)(DriverResult result, const char **text) = nullptr;

  DriverResult (*deviceGetCount)(int *count) = nullptr;
  DriverResult (*deviceGet)(DeviceHandle *device, int ordinal) = nullptr;
  DriverResult (*deviceGetName)(char *name, int length, DeviceHandle device) = nullptr;
  DriverResult (*deviceGetAttribute)(int *value, DeviceAttribute attribute, DeviceHandle device) = nullptr;
  DriverResult (*deviceTotalMem)(size_t *bytes, DeviceHandle device) = nullptr;
  DriverResult (*primaryContextRetain)(ContextHandle *context, DeviceHandle device) = nullptr;
  DriverResult (*primaryContextRelease)(DeviceHandle device) = nullptr;
  DriverResult (*contextPush)(ContextHandle context) = nullptr;
  DriverResult (*contextPop)(ContextHandle *context) = nullptr;
  /// Fails where the thread has no context.
  DriverResult (*contextGetDevice)(DeviceHandle *device) = nullptr;

  DriverResult (*moduleLoadDataEx)(ModuleHandle *module, const void *image, unsigned numOptions, JitOption *options,
                                   void **values) = nullptr;
  DriverResult (*moduleUnload)(ModuleHandle module) = nullptr;
  /// The linker, which assembles PTX. What `linkComplete` gives lives as long as the link.
  DriverResult (*linkCreate)(unsigned numOptions, JitOption *options, void **values, LinkHandle *link) = nullptr;
  DriverResult (*linkAddData)(LinkHandle link, JitInput type, void *data, size_t bytes, const char *name,
                              unsigned numOptions, JitOption *options, void **values) = nullptr;
  DriverResult (*linkComplete)(LinkHandle link, void **cubin, size_t *bytes) = nullptr;
  DriverResult (*linkDestroy)(LinkHandle link) = nullptr;
  DriverResult (*moduleGetFunction)(FunctionHandle *function, ModuleHandle module, const char *name) = nullptr;
  DriverResult (*functionGetAttribute)(int *value, FunctionAttribute attribute, FunctionHandle function) = nullptr;
  DriverResult (*functionSetAttribute)(FunctionHandle function, FunctionAttribute attribute, int value) = nullptr;
  /// Null in drivers before 12.4.
  DriverResult (*functionLoad)(FunctionHandle function) = nullptr;

  DriverResult (*memAlloc)(DeviceAddress *address, size_t bytes) = nullptr;
  DriverResult (*memFree)(DeviceAddress address) = nullptr;
  /// In the order of a stream. Null in drivers before 11.2.
  DriverResult (*memAllocAsync)(DeviceAddress *address, size_t bytes, StreamHandle stream) = nullptr;
  DriverResult (*memFreeAsync)(DeviceAddress address, StreamHandle stream) = nullptr;
  DriverResult (*memcpyHostToDevice)(DeviceAddress to, const void *from, size_t bytes) = nullptr;
  DriverResult (*memcpyDeviceToHost)(void *to, DeviceAddress from, size_t bytes) = nullptr;
  DriverResult (*memset8)(DeviceAddress address, unsigned char value, size_t bytes) = nullptr;

  /// Null in drivers before 12.0.
  DriverResult (*tensorMapEncodeTiled)(TensorMap *map, TensorMapType type, uint32_t rank, void *address,
                                       const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                       const uint32_t *elementStrides, TensorMapInterleave interleave,
                                       TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                                       TensorMapFill fill) = nullptr;
  DriverResult (*launchKernel)(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ, unsigned sharedBytes, StreamHandle stream,
                               void **parameters, void **extra) = nullptr;
  /// Null in drivers before 11.8.
  DriverResult (*launchKernelEx)(const LaunchConfig *config, FunctionHandle function, void **parameters,
                                 void **extra) = nullptr;

  DriverResult (*streamSynchronize)(StreamHandle stream) = nullptr;
  /// Takes the mode that this thread shall have, and gives the one that it had.
  /// Null in drivers before 10.1.
  DriverResult (*exchangeCaptureMode)(CaptureMode *mode) = nullptr;
  DriverResult (*eventCreate)(EventHandle *event, unsigned flags) = nullptr;
  DriverResult (*eventDestroy)(EventHandle event) = nullptr;
  DriverResult (*eventRecord)(EventHandle event, StreamHandle stream) = nullptr;
  DriverResult (*eventSynchronize)(EventHandle event) = nullptr;
  DriverResult (*eventElapsedTime)(float *milliseconds, EventHandle begin, EventHandle end) = nullptr;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_DRIVERAPI_H
