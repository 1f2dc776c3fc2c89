//===- NvrtcBackend.cpp - NVIDIA's GPUs by way of CUDA C++ ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/NvrtcBackend.h"
#include "codegen/gpu/GpuSchedule.h"
#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/CudaTools.h"
#include "codegen/nvptx/NvptxBackend.h"
#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvrtc/CudaWriter.h"
#include "codegen/nvrtc/Nvrtc.h"
#include "codegen/nvrtc/Passes.h"
#include "codegen/nvrtc/RequiredThreads.h"
#include "codegen/target/NvidiaGpu.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace attnc::nvrtc {
#define GEN_PASS_DEF_NVRTCPRINT
#include "codegen/nvrtc/Passes.h.inc"
} // namespace attnc::nvrtc

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Status;
using target::LoweredKernel;
using target::Stage;

void nvrtc::buildNvrtcPipeline(OpPassManager &pm) {
  pm.addPass(nvptx::createTileToNvvm());
  pm.addPass(nvptx::createNvptxExpandMath());
  pm.addPass(createNvrtcFuseProducts());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // After all that would make selections of masks again.
  pm.addPass(createNvrtcDefineBitMasks());
}

FailureOr<std::string> nvrtc::emitCuda(ModuleOp module) {
  CudaWriter writer;
  if (failed(writer.write(module)))
    return failure();
  return "#include \"attnc_device.cuh\"\n\nusing namespace attnc;\n\n" + writer.take();
}

namespace {
struct NvrtcPrint : nvrtc::impl::NvrtcPrintBase<NvrtcPrint> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<std::string> text = emitCuda(getOperation());
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }
};
} // namespace

void nvrtc::registerNvrtcPasses() {
  registerAttncNvrtcPasses();
  PassPipelineRegistration<>("attnc-nvrtc", "Tile programs to what CUDA C++ is printed from", buildNvrtcPipeline);
}

/// Assembles PTX of NVRTC's; an error also where there is no ptxas, or one that is older than NVRTC and cannot read it.
static Result<nvptx::AssembledKernel> assemblePtx(const LoweredKernel &kernel, std::string text, StringRef arch) {
  nvptx::PtxModule module;
  module.text = std::move(text);
  module.kernels = kernel.image.entries.size();
  nvptx::AssemblerOptions options;
  options.assembler = nvptx::Assembler::Ptxas;
  options.keepLines = true;
  return nvptx::assemble(module, arch, options);
}

/// The PTX of `source`.
static Result<std::string> compileToPtx(const LoweredKernel &kernel, const CudaSource &source) {
  Result<CompiledCuda> ptx = compileCuda(source, cast<attn::GpuTargetAttr>(kernel.target).getArch(), /*toPtx=*/true);
  if (!ptx)
    return ptx.takeError();
  // It ends with a zero.
  std::string text(ptx->code.begin(), ptx->code.end() - 1);
  requireThreads(text, kernel.image.entries);
  return text;
}

/// Compiles `source`, enters what the assembler says in the image of `kernel`, and warns of what costs time. NVRTC's
/// own assembler is asked where there is no other: it cannot be told how many threads blocks have.
static Result<std::vector<uint8_t>> compile(LoweredKernel &kernel, const CudaSource &source) {
  auto gpu = cast<attn::GpuTargetAttr>(kernel.target);
  StringRef arch = gpu.getMachineArch();
  if (!nvptx::findCudaProgram("ptxas").empty()) {
    Result<std::string> text = compileToPtx(kernel, source);
    if (!text)
      return text.takeError();
    if (Result<nvptx::AssembledKernel> assembled = assemblePtx(kernel, std::move(*text), arch)) {
      nvptx::takeReport(kernel, assembled->report, assembled->by);
      return std::move(assembled->cubin);
    }
  }
  Result<CompiledCuda> compiled = compileCuda(source, arch, /*toPtx=*/false);
  // A GPU that is newer than NVRTC takes what NVRTC knows as PTX.
  if (!compiled && !gpu.getMachine().empty()) {
    Result<std::string> text = compileToPtx(kernel, source);
    if (!text)
      return text.takeError();
    return std::vector<uint8_t>(text->c_str(), text->c_str() + text->size() + 1);
  }
  if (!compiled)
    return compiled.takeError();
  nvptx::takeReport(kernel, compiled->report, "NVRTC");
  return std::move(compiled->code);
}

/// Makes what `source` compiles to the code of `kernel`.
static Status setCompiled(LoweredKernel &kernel, const CudaSource &source) {
  Result<std::vector<uint8_t>> code = compile(kernel, source);
  if (!code)
    return code.takeError();
  kernel.image.bytes = std::move(*code);
  return {};
}

/// What the compiler checks after a source by hand: the runtime launches its entries with these parameters.
static std::string writeChecks(const LoweredKernel &kernel) {
  std::string checks = "\n#line 1 \"entries that attnc launches\"\n#include \"attnc_device.cuh\"\n"
                       "namespace attnc {\n";
  ModuleOp module = kernel.module;
  for (const image::KernelEntry &entry : kernel.image.entries) {
    std::string types = CudaWriter::listParameterTypes(module.lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol));
    checks += "static_assert(isSame<decltype(" + entry.symbol + "), void(" + types + ")>, \"expected " + entry.symbol +
              "(" + types + ")\");\n";
  }
  return checks + "} // namespace attnc\n";
}

namespace {

constexpr Stage stages[] = {
    {"nvvm", false, "of a GPU: kernels in MLIR's LLVM and NVVM dialects"},
    {"cuda", false, "of a GPU through NVRTC: CUDA C++, to be read, edited and run (docs/cuda.md)"},
    {"ptx", false, "of a GPU: the assembly that every GPU's driver reads"},
    {"cubin", true, "of a GPU: machine code, by ptxas"},
    {"sass", false, "of a GPU: machine code as text, by nvdisasm"}};

class NvrtcBackend : public target::Backend {
public:
  void registerMachines(DialectRegistry &registry) const override { attnc::gpu::registerSchedules(registry); }

  std::optional<Result<Attribute>> parse(MLIRContext *context, StringRef name) const override {
    if (name.split(':').first != "nvrtc")
      return std::nullopt;
    Result<attn::GpuTargetAttr> gpu = target::parseNvidiaGpu(context, name);
    return gpu ? Result<Attribute>(target::throughCuda(*gpu)) : gpu.takeError();
  }

  std::string describeNames() const override { return "nvrtc (" + target::defaultNvidiaGpu.str() + ") or nvrtc:ARCH"; }

  bool serves(Attribute target) const override {
    auto gpu = dyn_cast<attn::GpuTargetAttr>(target);
    return gpu && gpu.getCuda();
  }

  std::string getName(Attribute target) const override {
    return "nvrtc:" + cast<attn::GpuTargetAttr>(target).getArch().str();
  }

  std::string describeTools(Attribute) const override { return describeNvrtc() + ' ' + nvptx::describeAssembler(); }

  ArrayRef<Stage> getStages() const override { return stages; }

  void buildPipeline(OpPassManager &pm) const override { buildNvrtcPipeline(pm); }

  LogicalResult setFacts(KernelImage &image, ModuleOp module) const override {
    return nvptx::setLaunchFacts(image, module);
  }

  Result<std::string> emit(LoweredKernel &kernel, StringRef stage) const override {
    if (stage == "nvvm")
      return target::printModule(kernel.module);
    FailureOr<std::string> text = emitCuda(kernel.module);
    if (failed(text))
      return Error();
    if (stage == "cuda")
      return std::move(*text);
    if (stage == "ptx")
      return compileToPtx(kernel, {*text});
    Result<std::vector<uint8_t>> code = compile(kernel, {*text});
    if (!code)
      return code.takeError();
    if (stage == "sass")
      return nvptx::disassemble(*code);
    return std::string(code->begin(), code->end());
  }

  Status setCode(LoweredKernel &kernel) const override {
    FailureOr<std::string> text = emitCuda(kernel.module);
    if (failed(text))
      return Error();
    return setCompiled(kernel, {*text});
  }

  bool takesSource() const override { return true; }

  Status setCodeFrom(LoweredKernel &kernel, const target::SourceFile &source) const override {
    return setCompiled(kernel, {source.text + writeChecks(kernel), source.name});
  }
};

} // namespace

const target::Backend &nvrtc::getBackend() {
  static const NvrtcBackend backend;
  return backend;
}
