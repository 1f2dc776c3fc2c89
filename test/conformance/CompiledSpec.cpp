//===- CompiledSpec.cpp - A spec that is ready to run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/CompiledSpec.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/describe/DescribeImage.h"
#include "codegen/target/HostCpu.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/CapturedGradients.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipelines.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Target.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::conformance;
using image::Result;
using image::Status;

/// Compiles `text` for `target`, or with `backward` its backward. What is said of it on the way goes to `diagnostics`.
static Result<image::KernelImage> compileImage(const std::string &text, StringRef target, std::string &diagnostics,
                                               bool backward = false) {
  llvm::raw_string_ostream stream(diagnostics);
  jit::Session session(stream);
  auto explain = [&](image::Error error) { return image::Error{diagnostics + error.message}; };
  if (Status status = session.openText(text, "spec"); !status)
    return explain(status.takeError());
  Result<attn::KernelFunction> kernel = session.findKernel();
  if (!kernel)
    return explain(kernel.takeError());
  if (backward) {
    Result<attn::KernelFunction> derived = session.deriveBackward(*kernel);
    if (!derived)
      return explain(derived.takeError());
    kernel = std::move(derived);
  }
  Result<Attribute> machine = jit::findMachine(&session.context(), target);
  if (!machine)
    return machine.takeError();
  Result<image::KernelImage> image = jit::compileToImage(session, *kernel, *machine);
  if (!image)
    return explain(image.takeError());
  return image;
}

Status attnc::conformance::compileOnly(const std::string &text, StringRef target, bool backward) {
  std::string diagnostics;
  Result<image::KernelImage> image = compileImage(text, target, diagnostics, backward);
  if (!image)
    return image.takeError();
  return {};
}

Status attnc::conformance::compileAlone(const std::string &text, StringRef target) {
  std::string diagnostics;
  Result<image::KernelImage> image = compileImage(text, target, diagnostics);
  if (!image)
    return image.takeError();
  // What the assembler warns of costs time: products that wait for each other, and the like.
  if (!diagnostics.empty())
    return image::Error{diagnostics};
  constexpr int mostSpilled = 32;
  for (const image::KernelEntry &entry : image->entries)
    if (entry.spillBytes > mostSpilled)
      return image::Error{entry.symbol + " spills " + std::to_string(entry.spillBytes) + " bytes of registers"};
  return {};
}

Result<std::unique_ptr<CompiledSpec>> CompiledSpec::open(const std::string &text) {
  auto spec = std::make_unique<CompiledSpec>();
  if (Status status = spec->session.openText(text, "spec"); !status)
    return spec->explain(status.takeError());
  Result<attn::KernelFunction> function = spec->session.findKernel();
  if (!function)
    return spec->explain(function.takeError());
  spec->function = std::move(*function);
  return spec;
}

Result<std::unique_ptr<CompiledSpec>> CompiledSpec::compile(const std::string &text, StringRef target, bool backward) {
  Result<const jit::Target *> found = jit::findTarget(target);
  if (!found)
    return found.takeError();
  auto spec = open(text);
  if (!spec)
    return spec.takeError();
  if (backward) {
    Result<attn::KernelFunction> derived = (*spec)->session.deriveBackward((*spec)->kernel());
    if (!derived)
      return (*spec)->explain(derived.takeError());
    (*spec)->function = std::move(*derived);
  }
  auto loaded = (*found)->load((*spec)->session, (*spec)->kernel());
  if (!loaded)
    return (*spec)->explain(loaded.takeError());
  (*spec)->loaded = std::move(*loaded);
  (*spec)->isForGpu = target.starts_with("nv");
  return spec;
}

bool CompiledSpec::hasSameBits(size_t number) const {
  func::FuncOp spec = function->function;
  Value result = spec.getBody().front().getTerminator()->getOperand(static_cast<unsigned>(number));
  auto backward = result.getDefiningOp<attn::BackwardOp>();
  if (!backward || attn::isDeterministic(backward))
    return true;
  for (const attn::CapturedGradient &one : attn::getCapturedGradients(backward, {attn::CapturedForm::Scattered}))
    if (one.gradient == result)
      return false;
  return !isForGpu || result != backward.getDQuery();
}

/// Builds the pipelines from spec to tile program into `pm`, without the pass `pass`; fails where they do not hold it.
static LogicalResult buildWithoutPass(PassManager &pm, StringRef pass) {
  registerTransformsPasses();
  registerPipelines();
  PassManager whole(pm.getContext());
  buildAttnPipeline(whole);
  buildTilePipeline(whole);
  std::string text;
  llvm::raw_string_ostream os(text);
  whole.printAsTextualPipeline(os);
  std::string needle = "," + pass.str();
  size_t place = text.find(needle);
  if (place == std::string::npos)
    return failure();
  text.erase(place, needle.size());
  // "any(...)": what is parsed is added to a manager that has its anchor already.
  return parsePassPipeline(StringRef(text).split('(').second.rsplit(')').first, pm);
}

Result<std::unique_ptr<CompiledSpec>> CompiledSpec::compileWithoutPass(const std::string &text, StringRef pass) {
  auto spec = open(text);
  if (!spec)
    return spec.takeError();
  MLIRContext *context = &(*spec)->session.context();
  attn::CpuTargetAttr target = target::getHostCpu(context);
  func::FuncOp function = (*spec)->kernel().function;
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  (*module)->setAttr(attn::targetAttrName, target);
  module->push_back(function.clone());

  PassManager tiles(context), cpu(context);
  cpu::buildCpuPipeline(cpu);
  if (failed(buildWithoutPass(tiles, pass)) || failed(tiles.run(*module)))
    return (*spec)->explain({"the pipeline without '" + pass.str() + "' failed"});
  FailureOr<image::KernelImage> image = describe::describeImage((*spec)->kernel(), *module);
  if (failed(image) || failed(cpu.run(*module)))
    return (*spec)->explain({"code generation failed"});
  cpu::setScratchSizes(*image, *module);
  FailureOr<std::vector<uint8_t>> object = cpu::emitObject(*module, target);
  if (failed(object))
    return (*spec)->explain({"no object code"});
  image->bytes = std::move(*object);
  auto loaded = jit::LoadedKernel::load(std::move(*image));
  if (!loaded)
    return loaded.takeError();
  (*spec)->loaded = std::move(*loaded);
  return spec;
}

Result<attn::ScheduleAttr> CompiledSpec::scheduleFor(int64_t queries) {
  auto module = jit::lowerToAttn(session, kernel());
  if (!module)
    return explain(module.takeError());
  attn::ScheduleAttr schedule;
  auto sizes = attn::SizesAttr::get(&session.context(), attn::SizeRange{attn::Size::Queries, queries, queries});
  (*module)->walk([&](attn::KernelOpInterface op) { schedule = op.getScheduleFor(sizes); });
  return schedule;
}

Status CompiledSpec::run(image::Span<const runtime::ArgValue> inputs, image::Span<const runtime::Tensor> outputs) {
  std::vector<runtime::ArgValue> values(inputs.begin(), inputs.end());
  values.insert(values.end(), outputs.begin(), outputs.end());
  if (Status status = loaded->run(values); !status)
    return explain(status.takeError());
  return {};
}
