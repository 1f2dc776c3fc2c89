//===- Compile.cpp - From a kernel of a spec to its image -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/image/DescribeImage.h"
#include "codegen/target/HostCpu.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using runtime::KernelImage;
using runtime::Result;

std::optional<Stage> jit::parseStage(StringRef name) {
  return llvm::StringSwitch<std::optional<Stage>>(name)
      .Case("attn", Stage::Attn)
      .Case("tile", Stage::Tile)
      .Case("llvm", Stage::Llvm)
      .Case("asm", Stage::Assembly)
      .Case("image", Stage::Image)
      .Default(std::nullopt);
}

/// Runs the pipeline that `build` describes on `module`.
static LogicalResult runPipeline(ModuleOp module, void (*build)(OpPassManager &)) {
  PassManager pm(module.getContext());
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

Result<OwningOpRef<ModuleOp>> jit::lowerToAttn(Session &session, const attn::KernelFunction &kernel) {
  func::FuncOp function = kernel.function;
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  (*module)->setAttr(target::targetAttrName, target::getHostCpu(&session.context()));
  module->push_back(function.clone());
  if (failed(runPipeline(*module, buildAttnPipeline)))
    return reported();
  return module;
}

namespace {

/// A kernel lowered past its tile programs: the module, and what the runtime must know of it.
struct Lowered {
  OwningOpRef<ModuleOp> module;
  KernelImage image;
  attn::CpuTargetAttr target;
};

} // namespace

/// Lowers `kernel` to the LLVM dialect.
static Result<Lowered> lowerToLlvm(Session &session, const attn::KernelFunction &kernel) {
  auto module = lowerToAttn(session, kernel);
  if (!module)
    return module.takeError();
  if (failed(runPipeline(**module, buildTilePipeline)))
    return reported();
  FailureOr<KernelImage> image = image::describeImage(kernel, **module);
  if (failed(image) || failed(runPipeline(**module, cpu::buildCpuPipeline)))
    return reported();
  cpu::setScratchSizes(*image, **module);
  auto target = (**module)->getAttrOfType<attn::CpuTargetAttr>(target::targetAttrName);
  return Lowered{std::move(*module), std::move(*image), target};
}

Result<KernelImage> jit::describeKernel(Session &session, const attn::KernelFunction &kernel) {
  Result<Lowered> lowered = lowerToLlvm(session, kernel);
  if (!lowered)
    return lowered.takeError();
  return std::move(lowered->image);
}

Result<KernelImage> jit::compileToImage(Session &session, const attn::KernelFunction &kernel) {
  Result<Lowered> lowered = lowerToLlvm(session, kernel);
  if (!lowered)
    return lowered.takeError();
  FailureOr<std::vector<uint8_t>> object = cpu::emitObject(*lowered->module, lowered->target);
  if (failed(object))
    return reported();
  lowered->image.bytes = std::move(*object);
  return std::move(lowered->image);
}

Result<std::string> jit::compileToStage(Session &session, const attn::KernelFunction &kernel, Stage stage) {
  if (stage == Stage::Attn || stage == Stage::Tile) {
    auto module = lowerToAttn(session, kernel);
    if (!module)
      return module.takeError();
    if (stage == Stage::Tile && failed(runPipeline(**module, buildTilePipeline)))
      return reported();
    return print(**module);
  }
  if (stage == Stage::Image) {
    Result<KernelImage> image = compileToImage(session, kernel);
    if (!image)
      return image.takeError();
    std::vector<uint8_t> bytes = runtime::serialize(*image);
    return std::string(bytes.begin(), bytes.end());
  }
  Result<Lowered> lowered = lowerToLlvm(session, kernel);
  if (!lowered)
    return lowered.takeError();
  FailureOr<std::string> text = stage == Stage::Llvm ? cpu::emitLlvmText(*lowered->module, lowered->target)
                                                     : cpu::emitAssembly(*lowered->module, lowered->target);
  if (failed(text))
    return reported();
  return std::move(*text);
}
