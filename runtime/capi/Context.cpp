//===- Context.cpp - What compiles and keeps kernels for C ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Context.h"
#include "runtime/Place.h"
#include "runtime/capi/CApi.h"

#include <unistd.h>

using namespace attnc;
using namespace attnc::capi;
using image::KernelImage;
using image::Result;

/// The most kernels that stay loaded when nobody else has them.
static constexpr size_t mostLoaded = 1024;

/// Whether kernels of `target` run on a GPU.
static bool isGpu(const std::string &target) { return runtime::findPlace(target) == runtime::Place::Gpu; }

Context::Context(cache::CacheOptions cache, unsigned threads)
    : remark(cache.remark ? cache.remark : [](const std::string &) {}), cacheDirectory(cache.directory),
      cacheComplaint(cache.complaint), kernels(cache), process(::getpid()), workers(threads) {
  const std::string folder = cache.directory.empty() ? "" : cache.directory + "/records";
  if (const Compiler *compiler = getCompiler())
    records = compiler->openRecords(folder, remark);
}

class Context::Use {
public:
  explicit Use(Context &context) : context(context) { ++context.users; }
  ~Use() { --context.users; }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

private:
  Context &context;
};

bool Context::isUsable() {
  const pid_t here = ::getpid();
  pid_t known = process;
  if (known == here)
    return true;
  // Another thread of the child may have come first, and be inside: the process is then ours.
  if (users != 0 || !workers.isIdle())
    return process == here;
  if (process.compare_exchange_strong(known, here))
    workers.forgetThreads();
  return process == here;
}

std::string Context::makeKey(const cache::Digest &digest, const Wish &wish) const {
  std::string key(digest.begin(), digest.end());
  key.append(wish.target).append(1, '\0').append(std::to_string(wish.ordinal)).append(1, wish.backward ? 'b' : 'f');
  key.append(wish.shape).append(1, '\0').append(std::to_string(wish.policy)).append(1, '\0');
  return key.append(std::to_string(revision)).append(1, '\0').append(wish.schedule);
}

void Context::settle(Wish &wish) {
  if (wish.target == "auto") {
    std::lock_guard<std::mutex> lock(mutex);
    if (!hasGpu)
      hasGpu = static_cast<bool>(cuda::Device::describeFirst());
    wish.target = *hasGpu || !getCompiler() ? runtime::gpuTarget : runtime::hostTarget;
  }
  if (!isGpu(wish.target))
    wish.ordinal = 0;
  else if (wish.ordinal < 0)
    if (Result<const cuda::Driver *> driver = cuda::Driver::open())
      wish.ordinal = currentOrdinal(**driver);
}

std::optional<Outcome> Context::findByKey(const std::string &key) {
  auto found = index.find(key);
  if (found == index.end())
    return std::nullopt;
  loaded.splice(loaded.begin(), loaded, found->second);
  return Outcome{loaded.front().kernel, ATTNC_FROM_MEMORY, std::nullopt};
}

std::optional<Outcome> Context::find(const cache::Digest &digest, Wish &wish) {
  const Use use(*this);
  settle(wish);
  const std::string key = makeKey(digest, wish);
  std::lock_guard<std::mutex> lock(mutex);
  return findByKey(key);
}

void Context::keep(const std::string &key, const std::shared_ptr<LoadedKernel> &kernel) {
  // What gives way is unloaded after the lock.
  std::shared_ptr<LoadedKernel> evicted;
  std::lock_guard<std::mutex> lock(mutex);
  loaded.push_front({key, kernel});
  index[key] = loaded.begin();
  if (loaded.size() <= mostLoaded)
    return;
  evicted = std::move(loaded.back().kernel);
  index.erase(loaded.back().key);
  loaded.pop_back();
}

std::shared_ptr<Compilation> Context::start(std::shared_ptr<const SpecSource> spec, const cache::Digest &digest,
                                            Wish wish, Waiting waiting) {
  const Use use(*this);
  settle(wish);
  std::string key = makeKey(digest, wish);
  std::shared_ptr<Compilation> compilation;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (std::optional<Outcome> outcome = findByKey(key))
      return std::make_shared<Compilation>(std::move(*outcome));
    std::shared_ptr<Compilation> &flight = flights[key];
    if (flight)
      return flight;
    flight = std::make_shared<Compilation>([this, spec = std::move(spec), wish = std::move(wish), key] {
      Outcome outcome = make(spec, wish);
      if (outcome.kernel)
        keep(key, outcome.kernel);
      std::lock_guard<std::mutex> lock(mutex);
      flights.erase(key);
      return outcome;
    });
    compilation = flight;
  }
  if (waiting == Waiting::Now && Workers::isWorker())
    compilation->run();
  else
    // Where a thread that waits has begun it, the context still stays until it has ended.
    workers.add([compilation] {
      if (!compilation->run())
        compilation->wait();
    });
  return compilation;
}

Result<cuda::DeviceRef> Context::open(int ordinal) {
  Result<const cuda::Driver *> driver = cuda::Driver::open();
  if (!driver)
    return driver.takeError();
  std::lock_guard<std::mutex> lock(deviceMutex);
  if (auto known = devices.find(ordinal); known != devices.end())
    return known->second;
  Result<cuda::DeviceRef> device = cuda::Device::open(**driver, ordinal);
  if (device)
    devices.emplace(ordinal, *device);
  return device;
}

static Outcome failed(Fault fault) { return {nullptr, ATTNC_FROM_COMPILER, std::move(fault)}; }

/// Loads `image` on the GPU of `request`, or links it where there is none.
static Result<std::shared_ptr<LoadedKernel>> load(const CompileRequest &request, int ordinal,
                                                  const KernelImage &image) {
  if (request.gpu) {
    Result<std::unique_ptr<cuda::GpuLaunch>> launch = cuda::GpuLaunch::load(request.gpu, image);
    if (!launch)
      return launch.takeError();
    return makeGpuKernel(std::move(*launch), ordinal);
  }
  Result<std::shared_ptr<CpuProgram>> program = getCompiler()->link(image);
  if (!program)
    return program.takeError();
  return makeCpuKernel(image, std::move(*program));
}

CompileRequest Context::makeRequestWithoutGpu(std::shared_ptr<const SpecSource> spec, const Wish &wish) const {
  return {std::move(spec), wish.target, wish.schedule, wish.backward, nullptr, wish.shape, wish.policy, records.get()};
}

Result<CompileRequest> Context::makeRequest(std::shared_ptr<const SpecSource> spec, const Wish &wish) {
  CompileRequest request = makeRequestWithoutGpu(std::move(spec), wish);
  if (isGpu(wish.target)) {
    Result<cuda::DeviceRef> device = open(wish.ordinal);
    if (!device)
      return device.takeError();
    request.gpu = *device;
  } else if (!runtime::findPlace(wish.target)) {
    return image::Error{"unknown target '" + wish.target + "'; there are " + runtime::describePlaces()};
  } else if (!getCompiler()) {
    return image::Error{"expected a GPU as the target, got '" + wish.target +
                        "': this library runs kernels on GPUs alone, libattnc "
                        "runs them on CPUs too"};
  }
  return request;
}

Tuned Context::tune(std::shared_ptr<const SpecSource> spec, Wish wish, TuneSettings settings) {
  const Use use(*this);
  Tuned tuned;
  settle(wish);
  const Compiler *compiler = getCompiler();
  if (!compiler) {
    tuned.fault = Fault({"this library holds no compiler, and tunes nothing"}, ATTNC_ERROR_COMPILER);
    return tuned;
  }
  Result<CompileRequest> request = makeRequest(std::move(spec), wish);
  if (!request) {
    tuned.fault = Fault(request.takeError());
    return tuned;
  }
  settings.remark = remark;
  tuned = compiler->tune(*request, settings);
  ++revision;
  return tuned;
}

Explained Context::explain(std::shared_ptr<const SpecSource> spec, Wish wish) {
  const Use use(*this);
  settle(wish);
  const Compiler *compiler = getCompiler();
  if (!compiler)
    return {"", "", Fault({"this library holds no compiler, and explains nothing"}, ATTNC_ERROR_COMPILER)};
  Result<CompileRequest> request = makeRequest(spec, wish);
  if (!request && isGpu(wish.target))
    request = makeRequestWithoutGpu(std::move(spec), wish);
  if (!request)
    return {"", "", Fault(request.takeError())};
  return compiler->explain(*request, cacheDirectory, cacheComplaint);
}

image::Status Context::addRecords(std::string_view text) {
  const Use use(*this);
  if (!records)
    return image::Error{"this library holds no compiler, and takes no records"};
  image::Status status = records->add(text);
  ++revision;
  return status;
}

Outcome Context::make(std::shared_ptr<const SpecSource> spec, const Wish &wish) {
  if (stopping)
    return failed(Fault({"the context ended before it was compiled"}));
  Result<CompileRequest> asked = makeRequest(std::move(spec), wish);
  if (!asked)
    return failed(Fault(asked.takeError()));
  const CompileRequest &request = *asked;
  const Compiler *compiler = getCompiler();
  Compiled compiled = compiler ? compiler->compile(request, kernels) : findWithoutCompiler(request, kernels);
  if (compiled.fault)
    return failed(std::move(*compiled.fault));
  Result<std::shared_ptr<LoadedKernel>> kernel = load(request, wish.ordinal, *compiled.image.image);
  if (!kernel)
    return failed(Fault(kernel.takeError()));
  // What the cache has in memory was asked for in other words, or for another GPU.
  const int32_t origin = compiled.image.origin == cache::Origin::Compiler ? ATTNC_FROM_COMPILER
                         : compiled.image.origin == cache::Origin::Disk   ? ATTNC_FROM_DISK
                                                                          : ATTNC_FROM_MEMORY;
  return {std::move(*kernel), origin, std::nullopt};
}
