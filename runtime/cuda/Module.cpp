//===- Module.cpp - Code loaded on a GPU -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Module.h"

#include <cstring>
#include <vector>

using attnc::image::Error;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;

namespace attnc::cuda {

bool isPtx(Span<const uint8_t> code) {
  // Cubins are ELF files; fat binaries have a magic number of their own.
  constexpr uint8_t elf[] = {0x7F, 'E', 'L', 'F'}, fat[] = {0x50, 0xED, 0x55, 0xBA};
  return code.size() < 4 || (std::memcmp(code.data(), elf, 4) != 0 && std::memcmp(code.data(), fat, 4) != 0);
}

namespace {

/// A log of several lines, up to its end, as a part of one line: "a; b".
std::string oneLine(const char *log) {
  std::string line;
  for (; *log; ++log) {
    if (*log != '\n')
      line += *log;
    else if (log[1] != '\0' && log[1] != '\n')
      line += "; ";
  }
  return line;
}

/// PTX on its way to machine code, by the driver's linker, which says why it refuses; optimized at a level.
class PtxLink {
public:
  PtxLink(const Driver &driver, int level) : driver(driver), level(level) {}
  ~PtxLink() {
    if (link)
      driver->linkDestroy(link);
  }
  PtxLink(const PtxLink &) = delete;
  PtxLink &operator=(const PtxLink &) = delete;

  /// The machine code of `text`, which ends with a zero; it lives as long as this object. An error has the log.
  Result<const void *> assemble(std::vector<uint8_t> &text, const std::string &attempt) {
    log.assign(16384, '\0');
    JitOption options[] = {JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferSizeBytes, JitOption::OptimizationLevel};
    void *values[] = {log.data(), reinterpret_cast<void *>(static_cast<uintptr_t>(log.size() - 1)),
                      reinterpret_cast<void *>(static_cast<uintptr_t>(level))};
    void *cubin = nullptr;
    size_t bytes = 0;
    const char *call = "cuLinkCreate_v2";
    DriverResult result = driver->linkCreate(3, options, values, &link);
    if (result == driverSuccess) {
      call = "cuLinkAddData_v2";
      result = driver->linkAddData(link, JitInput::Ptx, text.data(), text.size(), "attnc", 0, nullptr, nullptr);
    }
    if (result == driverSuccess) {
      call = "cuLinkComplete";
      result = driver->linkComplete(link, &cubin, &bytes);
    }
    if (result == driverSuccess)
      return static_cast<const void *>(cubin);
    Error error = driver.error(result, call, attempt);
    if (const std::string said = oneLine(log.c_str()); !said.empty())
      error.message += ": " + said;
    return error;
  }

private:
  const Driver &driver;
  int level;
  /// The linker writes to it until it is destroyed.
  std::string log;
  LinkHandle link = nullptr;
};

} // namespace

Result<std::unique_ptr<Module>> Module::load(DeviceRef device, Span<const uint8_t> code, const std::string &name,
                                             int level) {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  RelaxedCaptureScope relaxed(driver);
  std::unique_ptr<Module> module(new Module(std::move(device), name));
  const std::string attempt = "load kernel '" + name + "' on the GPU";
  const void *cubin = code.data();
  PtxLink link(driver, level);
  if (isPtx(code)) {
    std::vector<uint8_t> text = code.toVector();
    text.push_back(0);
    Result<const void *> assembled = link.assemble(text, attempt);
    if (!assembled)
      return assembled.takeError();
    cubin = *assembled;
  }
  if (Status status = driver.check(driver->moduleLoadDataEx(&module->handle, cubin, 0, nullptr, nullptr),
                                   "cuModuleLoadDataEx", attempt);
      !status)
    return status.takeError();
  return module;
}

Module::~Module() {
  if (!handle)
    return;
  ContextScope scope(*device);
  RelaxedCaptureScope relaxed(device->driver());
  device->driver()->moduleUnload(handle);
}

Result<Function> Module::prepare(const std::string &symbol, int threads, int64_t sharedBytes) const {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  RelaxedCaptureScope relaxed(driver);
  const std::string who = "function '" + symbol + "' of kernel '" + name + "'";
  Function function;
  if (Status status = driver.check(driver->moduleGetFunction(&function.handle, handle, symbol.c_str()),
                                   "cuModuleGetFunction", "find " + who);
      !status)
    return status.takeError();
  // Drivers load functions when they are first launched, unless told so before; a launch may not, where it is captured.
  if (driver->functionLoad)
    if (Status status = driver.check(driver->functionLoad(function.handle), "cuFuncLoad", "load " + who); !status)
      return status.takeError();

  const struct {
    int &value;
    FunctionAttribute attribute;
  } facts[] = {{function.registers, FunctionAttribute::NumRegs},
               {function.localBytes, FunctionAttribute::LocalSizeBytes},
               {function.staticSharedBytes, FunctionAttribute::SharedSizeBytes},
               {function.maxThreads, FunctionAttribute::MaxThreadsPerBlock}};
  for (const auto &fact : facts)
    if (Status status = driver.check(driver->functionGetAttribute(&fact.value, fact.attribute, function.handle),
                                     "cuFuncGetAttribute", "read what " + who + " takes");
        !status)
      return status.takeError();

  if (threads > function.maxThreads)
    return Error{"cannot launch " + who + ": expected blocks of at most " + std::to_string(function.maxThreads) +
                 " threads, since a thread has " + std::to_string(function.registers) + " registers, got " +
                 std::to_string(threads)};
  const int64_t available = device->facts().sharedBytes - function.staticSharedBytes;
  if (sharedBytes > available)
    return Error{"cannot launch " + who + ": expected at most " + std::to_string(available) +
                 " bytes of dynamic shared memory on " + device->facts().name + ", got " + std::to_string(sharedBytes)};
  if (Status status = driver.check(
          driver->functionSetAttribute(function.handle, FunctionAttribute::MaxDynamicSharedSizeBytes,
                                       static_cast<int>(sharedBytes)),
          "cuFuncSetAttribute", "give " + who + ' ' + std::to_string(sharedBytes) + " bytes of shared memory");
      !status)
    return status.takeError();
  return function;
}

DriverResult launchFunction(const Device &device, const Function &function, const LaunchConfig &config,
                            void **parameters) {
  const auto call = [&] {
    const auto &driver = device.driver();
    // The newer of both takes less time.
    return driver->launchKernelEx ? driver->launchKernelEx(&config, function.handle, parameters, nullptr)
                                  : driver->launchKernel(function.handle, config.gridX, config.gridY, config.gridZ,
                                                         config.blockX, config.blockY, config.blockZ,
                                                         config.sharedBytes, config.stream, parameters, nullptr);
  };
  const DriverResult result = call();
  // Where the thread has no context, or that of another GPU, whose default stream a null stream is.
  if (result != driverInvalidContext && result != driverInvalidHandle)
    return result;
  ContextScope scope(device);
  return call();
}

} // namespace attnc::cuda
