//===- CpuBackend.cpp - Code for this CPU -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuBackend.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/CpuSchedule.h"
#include "codegen/target/HostCpu.h"

using namespace mlir;
using namespace attnc;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;
using target::LoweredKernel;
using target::Stage;

namespace {

constexpr Stage stages[] = {{"llvm", false, "optimised LLVM IR"}, {"asm", false, "of this CPU: assembly"}};

class CpuBackend : public target::Backend {
public:
  void registerMachines(DialectRegistry &registry) const override { cpu::registerSchedules(registry); }

  std::optional<Result<Attribute>> parse(MLIRContext *context, StringRef name) const override {
    if (name != getHostName())
      return std::nullopt;
    return Result<Attribute>(target::getHostCpu(context));
  }

  llvm::StringRef getHostName() const override { return "cpu"; }

  std::string describeNames() const override { return getHostName().str(); }

  bool serves(Attribute target) const override { return isa<attn::CpuTargetAttr>(target); }

  std::string getName(Attribute target) const override {
    return "cpu:" + cast<attn::CpuTargetAttr>(target).getCpu().str();
  }

  std::optional<StringRef> getHostFeatures(Attribute target) const override {
    return cast<attn::CpuTargetAttr>(target).getFeatures();
  }

  ArrayRef<Stage> getStages() const override { return stages; }

  void buildPipeline(OpPassManager &pm) const override { cpu::buildCpuPipeline(pm); }

  LogicalResult setFacts(KernelImage &image, ModuleOp module) const override {
    cpu::setScratchSizes(image, module);
    return success();
  }

  Result<std::string> emit(LoweredKernel &kernel, StringRef stage) const override {
    auto target = cast<attn::CpuTargetAttr>(kernel.target);
    FailureOr<std::string> text =
        stage == "asm" ? cpu::emitAssembly(kernel.module, target) : cpu::emitLlvmText(kernel.module, target);
    if (failed(text))
      return Error();
    return std::move(*text);
  }

  Status setCode(LoweredKernel &kernel) const override {
    FailureOr<std::vector<uint8_t>> object = cpu::emitObject(kernel.module, cast<attn::CpuTargetAttr>(kernel.target));
    if (failed(object))
      return Error();
    kernel.image.bytes = std::move(*object);
    return {};
  }
};

} // namespace

const target::Backend &cpu::getBackend() {
  static const CpuBackend backend;
  return backend;
}
