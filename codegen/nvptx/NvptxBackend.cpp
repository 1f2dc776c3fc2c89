//===- NvptxBackend.cpp - Code for NVIDIA's GPUs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxBackend.h"
#include "codegen/gpu/GpuSchedule.h"
#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/target/NvidiaGpu.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;
using target::LoweredKernel;
using target::Stage;

void nvptx::takeReport(LoweredKernel &kernel, const AssemblerReport &report, StringRef by) {
  setAssemblerFacts(kernel.image, report);
  for (const AssemblerWarning &warning : report.performanceLosses())
    kernel.module->emitWarning() << by << ' ' << warning.code << ": " << warning.text;
}

/// Assembles `ptx` of `kernel`, enters what the assembler says in its image, and warns of what costs time.
static Result<AssembledKernel> assemblePtx(LoweredKernel &kernel, const PtxModule &ptx, bool required) {
  AssemblerOptions options;
  options.required = required;
  options.keepRefused = llvm::sys::Process::GetEnv("ATTNC_KEEP_PTX").has_value();
  Result<AssembledKernel> assembled = assemble(ptx, cast<attn::GpuTargetAttr>(kernel.target).getMachineArch(), options);
  if (!assembled)
    return assembled;
  takeReport(kernel, assembled->report, assembled->by);
  return assembled;
}

namespace {

constexpr Stage stages[] = {{"nvvm", false, "of a GPU: kernels in MLIR's LLVM and NVVM dialects"},
                            {"llvm", false, "optimised LLVM IR"},
                            {"ptx", false, "of a GPU: the assembly that every GPU's driver reads"},
                            {"cubin", true, "of a GPU: machine code, by ptxas"},
                            {"sass", false, "of a GPU: machine code as text, by nvdisasm"}};

class NvptxBackend : public target::Backend {
public:
  void registerMachines(DialectRegistry &registry) const override { attnc::gpu::registerSchedules(registry); }

  std::optional<Result<Attribute>> parse(MLIRContext *context, StringRef name) const override {
    if (name.split(':').first != "nvptx")
      return std::nullopt;
    Result<attn::GpuTargetAttr> gpu = target::parseNvidiaGpu(context, name);
    return gpu ? Result<Attribute>(*gpu) : gpu.takeError();
  }

  std::string describeNames() const override { return "nvptx (" + target::defaultNvidiaGpu.str() + ") or nvptx:ARCH"; }

  bool serves(Attribute target) const override {
    auto gpu = dyn_cast<attn::GpuTargetAttr>(target);
    return gpu && !gpu.getCuda();
  }

  std::string getName(Attribute target) const override {
    return "nvptx:" + cast<attn::GpuTargetAttr>(target).getArch().str();
  }

  std::string describeTools(Attribute) const override { return describeAssembler(); }

  ArrayRef<Stage> getStages() const override { return stages; }

  void buildPipeline(OpPassManager &pm) const override { buildNvptxPipeline(pm); }

  LogicalResult setFacts(KernelImage &image, ModuleOp module) const override { return setLaunchFacts(image, module); }

  Result<std::string> emit(LoweredKernel &kernel, StringRef stage) const override {
    if (stage == "nvvm")
      return target::printModule(kernel.module);
    auto target = cast<attn::GpuTargetAttr>(kernel.target);
    if (stage == "llvm") {
      FailureOr<std::string> text = emitLlvmText(kernel.module, target);
      if (failed(text))
        return Error();
      return std::move(*text);
    }
    FailureOr<PtxModule> ptx = emitPtx(kernel.module, target);
    if (failed(ptx))
      return Error();
    if (stage == "ptx")
      return std::move(ptx->text);
    Result<AssembledKernel> assembled = assemblePtx(kernel, *ptx, /*required=*/true);
    if (!assembled)
      return assembled.takeError();
    if (stage == "sass")
      return disassemble(assembled->cubin);
    return std::string(assembled->cubin.begin(), assembled->cubin.end());
  }

  Status setCode(LoweredKernel &kernel) const override {
    FailureOr<PtxModule> ptx = emitPtx(kernel.module, cast<attn::GpuTargetAttr>(kernel.target));
    if (failed(ptx))
      return Error();
    Result<AssembledKernel> assembled = assemblePtx(kernel, *ptx, /*required=*/false);
    if (!assembled)
      return assembled.takeError();
    std::vector<uint8_t> &bytes = kernel.image.bytes;
    bytes = std::move(assembled->cubin);
    // The driver tells PTX from machine code by looking at it, and reads it as a string that ends with a zero.
    if (bytes.empty())
      bytes.assign(ptx->text.c_str(), ptx->text.c_str() + ptx->text.size() + 1);
    return {};
  }
};

} // namespace

const target::Backend &nvptx::getBackend() {
  static const NvptxBackend backend;
  return backend;
}
