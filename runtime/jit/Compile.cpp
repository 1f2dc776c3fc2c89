//===- Compile.cpp - From a kernel of a spec to its image -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "codegen/describe/DescribeImage.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using image::KernelImage;
using image::Result;
using target::Backend;
using target::LoweredKernel;
using target::Stage;

/// Stages that all targets have.
static constexpr Stage first[] = {
    {"attn", false, "what is decided: sugar expanded, bounds derived from the mask, a schedule chosen"},
    {"tile", false, "how it is carried out: tile programs, their loops cut into masked and full stretches"}};
static constexpr Stage last[] = {
    {"image", true, "the kernel image: object code and what the runtime must know of it (the default)"}};

/// The stages of `backends`, each once.
static SmallVector<Stage> getStages(ArrayRef<const Backend *> backends) {
  SmallVector<Stage> stages(std::begin(first), std::end(first));
  for (const Backend *backend : backends)
    for (const Stage &stage : backend->getStages())
      if (llvm::none_of(stages, [&](const Stage &other) { return other.name == stage.name; }))
        stages.push_back(stage);
  llvm::append_range(stages, last);
  return stages;
}

/// The stage of `backends` called `name`, or nothing.
static std::optional<Stage> findStage(ArrayRef<const Backend *> backends, StringRef name) {
  for (const Stage &stage : ::getStages(backends))
    if (stage.name == name)
      return stage;
  return std::nullopt;
}

static std::string joinNames(ArrayRef<Stage> stages) {
  return llvm::join(llvm::map_range(stages, [](const Stage &stage) { return stage.name.str(); }), ", ");
}

bool jit::isStage(StringRef name) { return findStage(getBackends(), name).has_value(); }

SmallVector<Stage> jit::getStages() { return ::getStages(getBackends()); }

std::string jit::getStageNames() { return joinNames(getStages()); }

bool jit::isBinary(StringRef stage) {
  std::optional<Stage> found = findStage(getBackends(), stage);
  return found && found->isBinary;
}

/// Whether `backend` has `stage`; the error says which it has on the way to `target`.
static image::Status checkStage(const Backend &backend, StringRef stage, Attribute target) {
  if (findStage(&backend, stage))
    return {};
  return image::Error{"there is no stage '" + stage.str() + "' on the way to " + backend.getName(target) +
                      "; there are " + joinNames(::getStages(&backend))};
}

namespace {

/// A kernel lowered past its tile programs: the module, and what the runtime must know of it.
struct Lowered {
  OwningOpRef<ModuleOp> module;
  KernelImage image;
  Attribute target;

  LoweredKernel kernel() { return {*module, image, target}; }
};

} // namespace

/// Runs the pipeline that `build` describes on `module`; without `checked`, what is between its passes is verified in
/// builds with assertions only.
static LogicalResult runPipeline(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build,
                                 bool checked = true) {
  PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(checked);
#else
  (void)checked;
#endif
  build(pm);
  return pm.run(module);
}

Result<OwningOpRef<ModuleOp>> jit::lowerToAttn(Session &session, const attn::KernelFunction &kernel, Attribute target) {
  func::FuncOp function = kernel.function;
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  (*module)->setAttr(attn::targetAttrName, targetOrHost(&session.context(), target));
  module->push_back(function.clone());
  if (failed(runPipeline(*module, buildAttnPipeline)))
    return reported();
  return module;
}

/// Lowers `kernel` to what its backend makes code of.
static Result<Lowered> lower(Session &session, const attn::KernelFunction &kernel, Attribute wanted) {
  auto module = lowerToAttn(session, kernel, wanted);
  if (!module)
    return module.takeError();
  Attribute target = (**module)->getAttr(attn::targetAttrName);
  const Backend &backend = getBackend(target);
  if (failed(runPipeline(**module, buildTilePipeline)))
    return reported();
  FailureOr<KernelImage> image = describe::describeImage(kernel, **module);
  if (failed(image))
    return reported();
  // Thousands of operations, a fifth of the time that code takes; LLVM verifies what comes of them.
  if (failed(runPipeline(**module, [&](OpPassManager &pm) { backend.buildPipeline(pm); }, /*checked=*/false)))
    return reported();
  image->target = backend.getName(target);
  if (failed(backend.setFacts(*image, **module)))
    return reported();
  return Lowered{std::move(*module), std::move(*image), target};
}

Result<KernelImage> jit::describeKernel(Session &session, const attn::KernelFunction &kernel, Attribute target) {
  Result<Lowered> lowered = lower(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  return std::move(lowered->image);
}

Result<KernelImage> jit::compileToImage(Session &session, const attn::KernelFunction &kernel, Attribute target) {
  Result<Lowered> lowered = lower(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  LoweredKernel code = lowered->kernel();
  if (image::Status status = getBackend(lowered->target).setCode(code); !status)
    return status.takeError();
  return std::move(lowered->image);
}

Result<KernelImage> jit::compileSource(Session &session, const attn::KernelFunction &kernel,
                                       const target::SourceFile &source, Attribute target) {
  Result<Lowered> lowered = lower(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  LoweredKernel code = lowered->kernel();
  if (image::Status status = getBackend(lowered->target).setCodeFrom(code, source); !status)
    return status.takeError();
  return std::move(lowered->image);
}

Result<std::string> jit::compileToStage(Session &session, const attn::KernelFunction &kernel, StringRef stage,
                                        Attribute target) {
  target = targetOrHost(&session.context(), target);
  const Backend &backend = getBackend(target);
  if (image::Status status = checkStage(backend, stage, target); !status)
    return status.takeError();
  if (stage == "attn" || stage == "tile") {
    auto module = lowerToAttn(session, kernel, target);
    if (!module)
      return module.takeError();
    if (stage == "tile" && failed(runPipeline(**module, buildTilePipeline)))
      return reported();
    return target::printModule(**module);
  }
  Result<Lowered> lowered = lower(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  LoweredKernel code = lowered->kernel();
  if (stage != "image")
    return backend.emit(code, stage);
  if (image::Status status = backend.setCode(code); !status)
    return status.takeError();
  std::vector<uint8_t> bytes = image::serialize(lowered->image);
  return std::string(bytes.begin(), bytes.end());
}
