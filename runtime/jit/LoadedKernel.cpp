//===- LoadedKernel.cpp - A kernel image linked into the process *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/LoadedKernel.h"
#include "codegen/image/DType.h"
#include "runtime/jit/HalfSymbols.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;
using namespace attnc;
using namespace attnc::jit;
using image::KernelImage;
using image::Result;
using image::Status;

namespace {

/// What a linker reports on the side: why symbols are not there. Left to itself it writes that to standard error.
struct LinkerReport {
  std::mutex mutex;
  std::string reasons; ///< one after the other

  void add(Error error) {
    std::lock_guard<std::mutex> lock(mutex);
    reasons += (reasons.empty() ? "" : "; ") + toString(std::move(error));
  }
};

} // namespace

/// An LLVM error as one of the runtime's. What was reported on the side says more than that a symbol is missing.
static image::Error toError(const KernelImage &image, Error error, LinkerReport &report) {
  std::string reason = toString(std::move(error));
  std::lock_guard<std::mutex> lock(report.mutex);
  return {"kernel '" + image.name + "' cannot be loaded: " + (report.reasons.empty() ? reason : report.reasons)};
}

/// A linker for objects of this process. It compiles nothing, so it needs no platform; what code calls comes from the
/// process (libm) or from HalfSymbols.h.
static Expected<std::unique_ptr<orc::LLJIT>> makeLinker() {
  [[maybe_unused]] static bool initialised = !InitializeNativeTarget();
  return orc::LLJITBuilder()
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .setObjectLinkingLayerCreator([](orc::ExecutionSession &session) -> Expected<std::unique_ptr<orc::ObjectLayer>> {
        return std::make_unique<orc::ObjectLinkingLayer>(session);
      })
      .create();
}

/// Adds the functions of HalfSymbols.h to what objects may call.
static Error addHalfSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  for (const HalfSymbol &symbol : getHalfSymbols())
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

LoadedKernel::LoadedKernel(KernelImage image, std::unique_ptr<orc::LLJIT> jit, std::vector<runtime::CpuEntry> entries)
    : Executable(std::move(image)), jit(std::move(jit)), entries(std::move(entries)) {}

LoadedKernel::~LoadedKernel() = default;

Result<std::unique_ptr<LoadedKernel>> LoadedKernel::load(KernelImage image) {
  if (Status status = image::verify(image); !status)
    return status.takeError();
  // The linker holds it as well: its memory is freed with the kernel.
  auto report = std::make_shared<LinkerReport>();
  auto jit = makeLinker();
  if (!jit)
    return toError(image, jit.takeError(), *report);
  (*jit)->getExecutionSession().setErrorReporter([report](Error error) { report->add(std::move(error)); });
  if (Error error = addHalfSymbols(**jit))
    return toError(image, std::move(error), *report);
  StringRef bytes(reinterpret_cast<const char *>(image.bytes.data()), image.bytes.size());
  if (Error error = (*jit)->addObjectFile(MemoryBuffer::getMemBufferCopy(bytes, image.name)))
    return toError(image, std::move(error), *report);
  std::vector<runtime::CpuEntry> entries;
  for (const image::KernelEntry &entry : image.entries) {
    Expected<orc::ExecutorAddr> address = (*jit)->lookup(entry.symbol);
    if (!address)
      return toError(image, address.takeError(), *report);
    entries.push_back(address->toPtr<runtime::CpuEntry>());
  }
  return std::unique_ptr<LoadedKernel>(new LoadedKernel(std::move(image), std::move(*jit), std::move(entries)));
}

Status LoadedKernel::run(image::Span<const runtime::ArgValue> values) {
  auto arguments = runtime::bindArguments(image(), values);
  if (!arguments)
    return arguments.takeError();
  return runtime::runCpu(image(), entries, *arguments, runtime::ThreadPool::shared());
}

/// Compiles for this CPU, and loads.
static Result<std::unique_ptr<Executable>> loadHost(const jit::Target &, Session &session,
                                                    const attn::KernelFunction &kernel, ImageSource source) {
  Result<KernelImage> image = source(session, kernel, /*target=*/{});
  if (!image)
    return image.takeError();
  Result<std::unique_ptr<jit::LoadedKernel>> loaded = jit::LoadedKernel::load(std::move(*image));
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

llvm::ArrayRef<jit::Target> jit::getHostTargets() {
  static constexpr jit::Target targets[] = {
      {"cpu", "this CPU: SIMD code for its registers, tiles on all cores", explainNothing, loadHost}};
  return targets;
}
