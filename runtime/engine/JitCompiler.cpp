//===- JitCompiler.cpp - The compiler of the C API --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Guard.h"
#include "dialect/attn/AttnDialect.h"
#include "mlir/Parser/Parser.h"
#include "runtime/capi/Compiler.h"
#include "runtime/engine/CachedCompile.h"
#include "runtime/engine/JitRecords.h"
#include "runtime/explain/Explanation.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/ScheduleText.h"
#include <atomic>
#include <map>
#include <mutex>

using namespace mlir;
using namespace attnc;
using cache::CachedImage;
using cache::Digest;
using cache::KernelCache;
using capi::Compiled;
using capi::CompileRequest;
using capi::CpuProgram;
using capi::Explained;
using capi::Fault;
using capi::SpecSource;
using capi::Tuned;
using capi::TuneSettings;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;

/// The architecture that `target` asks for, "sm_90a" of "nvptx:sm_90a"; empty for the best.
static StringRef getArchitecture(StringRef target) { return target.split(':').second; }

/// `error`, or what was reported in its place to `diagnostics`.
static Fault toFault(Error error, std::string diagnostics) {
  if (!error.message.empty())
    return Fault(std::move(error));
  if (diagnostics.empty())
    return Fault({"the compiler failed without a word, which is a fault of attnc"}, ATTNC_ERROR_COMPILER);
  return Fault::ofSpec(std::move(diagnostics));
}

/// `bytecode` as text, which then is held to what any text is.
static Result<std::string> readBytecode(StringRef bytecode, llvm::raw_ostream &diagnostics) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics << "spec: " << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ")
                << diagnostic.str() << '\n';
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytecode, ParserConfig(&context));
  if (!module)
    return jit::reported();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

/// Opens `spec` in `session`, and finds its kernel.
static Result<attn::KernelFunction> open(jit::Session &session, const SpecSource &spec,
                                         llvm::raw_ostream &diagnostics) {
  std::string unpacked;
  StringRef text = spec.text;
  if (text.starts_with("ML\xEFR")) {
    Result<std::string> read = readBytecode(text, diagnostics);
    if (!read)
      return read.takeError();
    unpacked = std::move(*read);
    text = unpacked;
  }
  if (Status status = session.openText(text, spec.name); !status)
    return status.takeError();
  return session.findKernel(spec.entry);
}

namespace {

/// The code of a kernel that ORC has linked.
class LinkedProgram : public CpuProgram {
public:
  explicit LinkedProgram(std::unique_ptr<jit::LoadedKernel> kernel) : kernel(std::move(kernel)) {}

  Status run(image::Span<const runtime::ArgValue> values) override { return kernel->run(values); }

private:
  std::unique_ptr<jit::LoadedKernel> kernel;
};

/// What is known of the machine that this runs on before any spec is read.
struct HostFacts {
  std::string cpu;     ///< what the compiler is told of it
  std::string cpuName; ///< what images call it
};

class JitCompiler : public capi::Compiler {
public:
  std::optional<Fault> check(const SpecSource &spec) const override;
  Compiled compile(const CompileRequest &request, KernelCache &cache) const override;
  std::shared_ptr<capi::Records> openRecords(const std::string &folder,
                                             std::function<void(const std::string &)> remark) const override {
    return std::make_shared<engine::JitRecords>(folder, std::move(remark));
  }
  Tuned tune(const CompileRequest &request, const TuneSettings &settings) const override;
  Explained explain(const CompileRequest &request, const std::string &cacheDirectory,
                    const std::string &cacheComplaint) const override;
  Result<std::shared_ptr<CpuProgram>> link(const KernelImage &image) const override;

private:
  const HostFacts &getHost() const;
  Digest getBuild(const std::string &target) const;

  mutable std::atomic<const HostFacts *> host = nullptr;
  mutable std::mutex mutex;
  mutable std::map<std::string, Digest> builds; ///< what makes code for a target, by its name
};

} // namespace

/// Does `work`, which holds locks that others wait for: it is not left where memory is refused.
template <typename Work>
static auto withLocks(Work work) {
  const codegen::WithoutRecovery untilReleased;
  return work();
}

const HostFacts &JitCompiler::getHost() const {
  if (const HostFacts *known = host.load(std::memory_order_acquire))
    return *known;
  // Not by std::call_once: where memory is refused, this is left and begun again. Threads may find the same out at
  // once.
  auto found = std::make_unique<HostFacts>();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect>();
  Attribute cpu = jit::targetOrHost(&context, {});
  llvm::raw_string_ostream(found->cpu) << cpu;
  found->cpuName = jit::getTargetName(cpu);
  const HostFacts *known = nullptr;
  if (host.compare_exchange_strong(known, found.get(), std::memory_order_acq_rel))
    known = found.release();
  return *known;
}

/// What makes code for the target called `target`; nothing where there is none, which is told when it is compiled for.
Digest JitCompiler::getBuild(const std::string &target) const {
  std::optional<Digest> known;
  withLocks([&] {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = builds.find(target); found != builds.end())
      known = found->second;
  });
  if (known)
    return *known;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect>();
  Result<Attribute> machine = jit::parseTargetAttr(&context, target);
  if (!machine)
    return {};
  const Digest build = engine::getBuild(*machine);
  withLocks([&] {
    std::lock_guard<std::mutex> lock(mutex);
    builds.emplace(target, build);
  });
  return build;
}

std::optional<Fault> JitCompiler::check(const SpecSource &spec) const {
  std::optional<Fault> fault;
  Status status = codegen::runCompiler([&] {
    std::string diagnostics;
    llvm::raw_string_ostream os(diagnostics);
    jit::Session session(os);
    if (Result<attn::KernelFunction> kernel = open(session, spec, os); !kernel)
      fault = toFault(kernel.takeError(), std::move(diagnostics));
  });
  if (!status)
    fault = Fault(status.takeError(), ATTNC_ERROR_COMPILER);
  return fault;
}

namespace {

/// What is asked for, as far as a session has it.
struct Opened {
  attn::KernelFunction kernel;
  std::string entry; ///< the function of the spec
  Attribute target;
};

} // namespace

/// Opens the spec of `request` in `session`, and finds out what it is to be compiled for.
static Result<Opened> open(jit::Session &session, const CompileRequest &request, llvm::raw_ostream &diagnostics) {
  Opened opened;
  Result<attn::KernelFunction> kernel = open(session, *request.spec, diagnostics);
  if (!kernel)
    return kernel.takeError();
  opened.entry = kernel->function.getName().str();
  if (request.backward)
    kernel = session.deriveBackward(*kernel);
  if (!kernel)
    return kernel.takeError();
  opened.kernel = std::move(*kernel);
  if (!request.schedule.empty())
    if (Status status = jit::setSchedule(request.schedule, "schedule", diagnostics, opened.kernel); !status)
      return status.takeError();
  if (request.gpu) {
    Result<attn::GpuTargetAttr> target = jit::chooseGpuTarget(&session.context(), request.gpu->facts(), request.target);
    if (!target)
      return target.takeError();
    opened.target = *target;
  } else {
    Result<Attribute> target = jit::parseTargetAttr(&session.context(), request.target);
    if (!target)
      return target.takeError();
    opened.target = *target;
  }
  return opened;
}

/// Compiles what is open; its key is settled on the way.
static Compiled compileOpened(jit::Session &session, const Opened &opened, KernelCache &cache, Digest &key,
                              const std::string &diagnostics) {
  key = engine::getKey(opened.kernel, opened.target);
  bool gaveUp = false;
  // A fault of the compiler must not leave the cache: others wait there.
  Result<CachedImage> image = withLocks([&] {
    return cache.getOrMake(key, [&] {
      Result<KernelImage> made = Error();
      Status status = codegen::runCompiler([&] { made = engine::compile(session, opened.kernel, opened.target); });
      gaveUp = !status;
      return status ? std::move(made) : Result<KernelImage>(status.takeError());
    });
  });
  if (!image)
    return {{}, gaveUp ? Fault(image.takeError(), ATTNC_ERROR_COMPILER) : toFault(image.takeError(), diagnostics)};
  return {*image, std::nullopt};
}

/// Parses and compiles. The key of the kernel is settled on the way.
static Compiled compileAnew(const CompileRequest &request, KernelCache &cache, Digest &key) {
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  jit::Session session(os);
  Result<Opened> opened = open(session, request, os);
  if (!opened)
    return {{}, toFault(opened.takeError(), diagnostics)};
  Result<tune::Choice> choice =
      withLocks([&] { return engine::choose(request, {session, opened->kernel, opened->entry, opened->target}); });
  if (!choice)
    return {{}, toFault(choice.takeError(), diagnostics)};
  Compiled compiled = compileOpened(session, *opened, cache, key, diagnostics);
  if (!compiled.fault || choice->records.empty() || request.policy == ATTNC_POLICY_RECORDS)
    return compiled;
  // A record from elsewhere, or of another version: it costs the gain, and not the kernel.
  static_cast<engine::JitRecords *>(request.records)
      ->remark("the record of @" + opened->entry +
               " cannot be compiled; heuristics are used: " + compiled.fault->message);
  CompileRequest plain = request;
  plain.policy = ATTNC_POLICY_HEURISTICS;
  return compileAnew(plain, cache, key);
}

Compiled JitCompiler::compile(const CompileRequest &request, KernelCache &cache) const {
  Compiled compiled;
  Status status = codegen::runCompiler([&] {
    const HostFacts &facts = getHost();
    const SpecSource &spec = *request.spec;
    const std::string machine = request.gpu ? capi::describeMachine(request.gpu->facts()) : facts.cpu;
    const Digest build = getBuild(request.target);
    const std::string device = engine::nameDevice(request, facts.cpuName);
    auto ask = [&](std::string_view choice) {
      return cache::keyOf({spec.text, spec.entry, request.target, machine, request.schedule, request.backward, choice});
    };
    // What was compiled from the same text before need not be read again.
    const bool known = withLocks([&] {
      if (std::optional<Digest> key = cache.findAlias(ask(engine::describeChoice(request, device)), build))
        if (std::optional<CachedImage> image = cache.find(*key)) {
          compiled.image = std::move(*image);
          return true;
        }
      return false;
    });
    if (known)
      return;
    Digest key = {};
    compiled = compileAnew(request, cache, key);
    if (compiled.fault)
      return;
    withLocks([&] {
      // Tuning on the way has changed the records.
      const std::string choice = engine::describeChoice(request, device);
      cache.addAlias(ask(choice), {build, key});
      if (!choice.empty())
        cache.addAlias(ask(cache::anyChoice), {build, key});
    });
  });
  if (!status)
    return {{}, Fault(status.takeError(), ATTNC_ERROR_COMPILER)};
  return compiled;
}

Tuned JitCompiler::tune(const CompileRequest &request, const TuneSettings &settings) const {
  Tuned tuned;
  Status status = codegen::runGuarded([&] {
    std::string diagnostics;
    llvm::raw_string_ostream os(diagnostics);
    jit::Session session(os);
    Result<Opened> opened = open(session, request, os);
    if (!opened) {
      tuned.fault = toFault(opened.takeError(), diagnostics);
      return;
    }
    tune::TuneOptions options;
    auto set = [](auto &option, auto setting) {
      if (setting != 0)
        option = setting > 0 ? setting : 0;
    };
    set(options.seconds, settings.seconds);
    set(options.warmUps, settings.warmUps);
    set(options.iterations, settings.iterations);
    set(options.mostCandidates, settings.candidates);
    options.validateBackward = settings.validateBackward;
    options.progress = settings.progress;
    options.remark = settings.remark;
    Result<tune::Tuning> tuning =
        engine::tuneRequest(request, {session, opened->kernel, opened->entry, opened->target}, options);
    if (!tuning) {
      tuned.fault = toFault(tuning.takeError(), diagnostics);
      return;
    }
    const tune::Record &record = tuning->record;
    tuned.defaultSeconds = record.defaultSeconds;
    tuned.bestSeconds = record.bestSeconds;
    tuned.candidates = record.candidates;
    tuned.device = engine::nameDevice(request, jit::getTargetName(opened->target));
    tuned.records = tune::writeRecords({tuned.device, {record}});
  });
  if (!status)
    tuned.fault = Fault(status.takeError(), ATTNC_ERROR_COMPILER);
  return tuned;
}

/// What becomes of a request. `diagnostics` is what a reported fault says.
static Explained explainRequest(const CompileRequest &request, const std::string &cacheDirectory,
                                const std::string &cacheComplaint, jit::Session &session,
                                const std::string &diagnostics, llvm::raw_ostream &os) {
  auto fail = [&](Error error) { return Explained{"", "", toFault(std::move(error), diagnostics)}; };
  Result<Opened> opened = open(session, request, os);
  if (!opened)
    return fail(opened.takeError());
  Result<jit::Shapes> shapes = engine::resolveShape(request, opened->kernel);
  if (!shapes && !request.shape.empty())
    return fail(shapes.takeError());
  if (shapes)
    if (Status status = jit::checkSizes(opened->kernel, *shapes); !status)
      return fail(status.takeError());
  Result<tune::Choice> choice =
      withLocks([&] { return engine::choose(request, {session, opened->kernel, opened->entry, opened->target}); });
  if (!choice)
    return fail(choice.takeError());
  explain::Subject subject{session,        opened->kernel,     opened->target,
                           request.target, std::move(*choice), std::move(shapes)};
  subject.key = engine::getKey(opened->kernel, opened->target);
  subject.cacheDirectory = cacheDirectory;
  subject.cacheComplaint = cacheComplaint;
  Result<explain::Explanation> explanation = explain::Explanation::get(std::move(subject));
  if (!explanation)
    return fail(explanation.takeError());
  Explained explained;
  constexpr unsigned columns = 80;
  llvm::raw_string_ostream text(explained.text), svg(explained.svg);
  explanation->print(text, columns);
  explanation->drawSvg(svg);
  return explained;
}

Explained JitCompiler::explain(const CompileRequest &request, const std::string &cacheDirectory,
                               const std::string &cacheComplaint) const {
  Explained explained;
  Status status = codegen::runCompiler([&] {
    CompileRequest asked = request;
    // Tuning takes a minute, and is asked for by who runs the kernel.
    if (asked.policy == ATTNC_POLICY_AUTOTUNE)
      asked.policy = ATTNC_POLICY_AUTO;
    // The GPU that is here need not be the one that is asked for.
    const StringRef architecture = getArchitecture(asked.target);
    if (asked.gpu && !architecture.empty() && !jit::explainGpu(asked.gpu->facts(), architecture).empty())
      asked.gpu = nullptr;
    std::string diagnostics;
    llvm::raw_string_ostream os(diagnostics);
    jit::Session session(os);
    explained = explainRequest(asked, cacheDirectory, cacheComplaint, session, diagnostics, os);
  });
  if (!status)
    explained.fault = Fault(status.takeError(), ATTNC_ERROR_COMPILER);
  return explained;
}

Result<std::shared_ptr<CpuProgram>> JitCompiler::link(const KernelImage &image) const {
  Result<std::unique_ptr<jit::LoadedKernel>> loaded = Error();
  if (Status status = codegen::runCompiler([&] { loaded = jit::LoadedKernel::load(image); }); !status)
    return status.takeError();
  if (!loaded)
    return loaded.takeError();
  return std::shared_ptr<CpuProgram>(std::make_shared<LinkedProgram>(std::move(*loaded)));
}

const capi::Compiler *capi::getCompiler() {
  // Never ended: threads of contexts that nobody destroyed may use it until the process ends.
  static const auto *compiler = new JitCompiler;
  return compiler;
}
