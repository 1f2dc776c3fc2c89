//===- Compile.cpp - From a kernel of a spec to its image -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/image/DescribeImage.h"
#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/target/HostCpu.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using runtime::KernelImage;
using runtime::Result;

namespace {

/// A stage by its name, and the machines that have it.
struct StageName {
  llvm::StringLiteral name;
  Stage stage;
  bool onCpu, onGpu;
};

constexpr StageName stageNames[] = {
    {"attn", Stage::Attn, true, true},    {"tile", Stage::Tile, true, true},     {"nvvm", Stage::Nvvm, false, true},
    {"llvm", Stage::Llvm, true, true},    {"asm", Stage::Assembly, true, false}, {"ptx", Stage::Ptx, false, true},
    {"cubin", Stage::Cubin, false, true}, {"sass", Stage::Sass, false, true},    {"image", Stage::Image, true, true},
};

/// A kernel lowered past its tile programs: the module, and what the runtime must know of it.
struct Lowered {
  OwningOpRef<ModuleOp> module;
  KernelImage image;
  Attribute target;

  /// The GPU or the CPU that it is for, or null.
  attn::GpuTargetAttr gpu() const { return dyn_cast<attn::GpuTargetAttr>(target); }
  attn::CpuTargetAttr cpu() const { return dyn_cast<attn::CpuTargetAttr>(target); }
};

} // namespace

std::optional<Stage> jit::parseStage(StringRef name) {
  const StageName *found = llvm::find_if(stageNames, [&](const StageName &stage) { return stage.name == name; });
  return found == std::end(stageNames) ? std::nullopt : std::optional(found->stage);
}

/// The names of the stages that `has` holds for.
template <typename Predicate>
static std::string joinStages(Predicate has) {
  SmallVector<StringRef> names;
  for (const StageName &stage : stageNames)
    if (has(stage))
      names.push_back(stage.name);
  return llvm::join(names, ", ");
}

std::string jit::getStageNames() {
  return joinStages([](const StageName &) { return true; });
}

bool jit::isBinary(Stage stage) { return stage == Stage::Image || stage == Stage::Cubin; }

/// Whether `target` has `stage`; the error says which it has.
static runtime::Status checkStage(Stage stage, Attribute target) {
  bool gpu = isa<attn::GpuTargetAttr>(target);
  auto has = [&](const StageName &stage) { return gpu ? stage.onGpu : stage.onCpu; };
  const StageName *named = llvm::find_if(stageNames, [&](const StageName &name) { return name.stage == stage; });
  if (has(*named))
    return {};
  return runtime::Error{"there is no stage '" + named->name.str() + "' on the way to " + getTargetName(target) +
                        "; there are " + joinStages(has)};
}

/// Runs the pipeline that `build` describes on `module`; without `checked`, what is between its passes is verified in
/// builds with assertions only.
static LogicalResult runPipeline(ModuleOp module, void (*build)(OpPassManager &), bool checked = true) {
  PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(checked);
#else
  (void)checked;
#endif
  build(pm);
  return pm.run(module);
}

/// The text of `module`, as `attnc-opt` prints it.
static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << '\n';
  return text;
}

Result<OwningOpRef<ModuleOp>> jit::lowerToAttn(Session &session, const attn::KernelFunction &kernel, Attribute target) {
  func::FuncOp function = kernel.function;
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  (*module)->setAttr(target::targetAttrName, target ? target : target::getHostCpu(&session.context()));
  module->push_back(function.clone());
  if (failed(runPipeline(*module, buildAttnPipeline)))
    return reported();
  return module;
}

/// Lowers `kernel` to the LLVM dialect.
static Result<Lowered> lowerToLlvm(Session &session, const attn::KernelFunction &kernel, Attribute wanted) {
  auto module = lowerToAttn(session, kernel, wanted);
  if (!module)
    return module.takeError();
  Attribute target = (**module)->getAttr(target::targetAttrName);
  bool gpu = isa<attn::GpuTargetAttr>(target);
  if (failed(runPipeline(**module, buildTilePipeline)))
    return reported();
  FailureOr<KernelImage> image = image::describeImage(kernel, **module);
  if (failed(image))
    return reported();
  // Thousands of operations, a fifth of the time that code takes; LLVM verifies what comes of them.
  if (failed(runPipeline(**module, gpu ? nvptx::buildNvptxPipeline : cpu::buildCpuPipeline, /*checked=*/false)))
    return reported();
  image->target = getTargetName(target);
  if (!gpu)
    cpu::setScratchSizes(*image, **module);
  else if (failed(nvptx::setLaunchFacts(*image, **module)))
    return reported();
  return Lowered{std::move(*module), std::move(*image), target};
}

/// Assembles `ptx` of `lowered`, enters what the assembler says in its image, and warns of what costs time.
static Result<nvptx::AssembledKernel> assemblePtx(Lowered &lowered, StringRef ptx, bool required) {
  nvptx::AssemblerOptions options;
  options.required = required;
  options.keepRefused = llvm::sys::Process::GetEnv("ATTNC_KEEP_PTX").has_value();
  Result<nvptx::AssembledKernel> kernel = nvptx::assemble(ptx, lowered.gpu().getArch(), options);
  if (!kernel)
    return kernel;
  nvptx::setAssemblerFacts(lowered.image, kernel->report);
  for (const nvptx::AssemblerWarning &warning : kernel->report.performanceLosses())
    lowered.module->emitWarning() << kernel->by << ' ' << warning.code << ": " << warning.text;
  return kernel;
}

/// Enters the code of `lowered` in its image, that of a GPU as PTX where `asPtx` says so.
static runtime::Status setCode(Lowered &lowered, bool asPtx = false) {
  if (attn::CpuTargetAttr cpu = lowered.cpu()) {
    FailureOr<std::vector<uint8_t>> object = cpu::emitObject(*lowered.module, cpu);
    if (failed(object))
      return reported();
    lowered.image.bytes = std::move(*object);
    return {};
  }
  FailureOr<std::string> ptx = nvptx::emitPtx(*lowered.module, lowered.gpu());
  if (failed(ptx))
    return reported();
  if (!asPtx) {
    Result<nvptx::AssembledKernel> kernel = assemblePtx(lowered, *ptx, /*required=*/false);
    if (!kernel)
      return kernel.takeError();
    lowered.image.bytes = std::move(kernel->cubin);
  }
  // The driver tells PTX from machine code by looking at it, and reads it as a string that ends with a zero.
  if (lowered.image.bytes.empty())
    lowered.image.bytes.assign(ptx->c_str(), ptx->c_str() + ptx->size() + 1);
  return {};
}

Result<KernelImage> jit::describeKernel(Session &session, const attn::KernelFunction &kernel, Attribute target) {
  Result<Lowered> lowered = lowerToLlvm(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  return std::move(lowered->image);
}

Result<KernelImage> jit::compileToImage(Session &session, const attn::KernelFunction &kernel, Attribute target,
                                        bool asPtx) {
  Result<Lowered> lowered = lowerToLlvm(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  if (runtime::Status status = setCode(*lowered, asPtx); !status)
    return status.takeError();
  return std::move(lowered->image);
}

/// The machine code of a GPU, as bytes or as text.
static Result<std::string> emitMachineCode(Lowered &lowered, Stage stage) {
  FailureOr<std::string> ptx = nvptx::emitPtx(*lowered.module, lowered.gpu());
  if (failed(ptx))
    return reported();
  Result<nvptx::AssembledKernel> assembled = assemblePtx(lowered, *ptx, /*required=*/true);
  if (!assembled)
    return assembled.takeError();
  if (stage == Stage::Sass)
    return nvptx::disassemble(assembled->cubin);
  return std::string(assembled->cubin.begin(), assembled->cubin.end());
}

/// The stages that lie past the LLVM dialect.
static Result<std::string> emitStage(Lowered &lowered, Stage stage) {
  if (stage == Stage::Cubin || stage == Stage::Sass)
    return emitMachineCode(lowered, stage);
  if (stage == Stage::Image) {
    if (runtime::Status status = setCode(lowered); !status)
      return status.takeError();
    std::vector<uint8_t> bytes = runtime::serialize(lowered.image);
    return std::string(bytes.begin(), bytes.end());
  }
  if (stage == Stage::Nvvm)
    return print(*lowered.module);
  FailureOr<std::string> text = failure();
  if (stage == Stage::Assembly)
    text = cpu::emitAssembly(*lowered.module, lowered.cpu());
  else if (stage == Stage::Ptx)
    text = nvptx::emitPtx(*lowered.module, lowered.gpu());
  else if (attn::GpuTargetAttr gpu = lowered.gpu())
    text = nvptx::emitLlvmText(*lowered.module, gpu);
  else
    text = cpu::emitLlvmText(*lowered.module, lowered.cpu());
  if (failed(text))
    return reported();
  return std::move(*text);
}

Result<std::string> jit::compileToStage(Session &session, const attn::KernelFunction &kernel, Stage stage,
                                        Attribute target) {
  if (!target)
    target = target::getHostCpu(&session.context());
  if (runtime::Status status = checkStage(stage, target); !status)
    return status.takeError();
  if (stage == Stage::Attn || stage == Stage::Tile) {
    auto module = lowerToAttn(session, kernel, target);
    if (!module)
      return module.takeError();
    if (stage == Stage::Tile && failed(runPipeline(**module, buildTilePipeline)))
      return reported();
    return print(**module);
  }
  Result<Lowered> lowered = lowerToLlvm(session, kernel, target);
  if (!lowered)
    return lowered.takeError();
  return emitStage(*lowered, stage);
}
