//===- NvptxPrint.cpp - Code as text ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Assembler.h"
#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/nvptx/Passes.h"
#include "llvm/Support/raw_ostream.h"

namespace attnc::nvptx {
#define GEN_PASS_DEF_NVPTXPRINT
#include "codegen/nvptx/Passes.h.inc"
} // namespace attnc::nvptx

using namespace mlir;
using namespace attnc;

namespace {

struct NvptxPrint : nvptx::impl::NvptxPrintBase<NvptxPrint> {
  using NvptxPrintBase::NvptxPrintBase;

  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<attn::GpuTargetAttr>(attn::targetAttrName);
    if (!target) {
      getOperation().emitError("expected a GPU in the attribute 'attn.target'");
      return signalPassFailure();
    }
    FailureOr<std::string> text = failure();
    if (as == "llvm")
      text = nvptx::emitLlvmText(getOperation(), target);
    else if (as == "ptx")
      text = ptx(target);
    else if (as == "report" || as == "sass")
      text = assembled(target);
    else
      getOperation().emitError() << "unknown form '" << as << "'; there are llvm, ptx, report and sass";
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }

private:
  /// The module as PTX.
  FailureOr<std::string> ptx(attn::GpuTargetAttr target) {
    FailureOr<nvptx::PtxModule> module = nvptx::emitPtx(getOperation(), target);
    if (failed(module))
      return failure();
    return std::move(module->text);
  }

  /// What the assembler makes of the module: machine code, or its report.
  FailureOr<std::string> assembled(attn::GpuTargetAttr target) {
    FailureOr<nvptx::PtxModule> ptx = nvptx::emitPtx(getOperation(), target);
    if (failed(ptx))
      return failure();
    nvptx::AssemblerOptions options;
    options.required = true;
    image::Result<nvptx::AssembledKernel> kernel = nvptx::assemble(*ptx, target.getArch(), options);
    if (!kernel)
      return getOperation().emitError() << kernel.message();
    if (as == "sass") {
      image::Result<std::string> text = nvptx::disassemble(kernel->cubin);
      if (!text)
        return getOperation().emitError() << text.message();
      return std::move(*text);
    }
    return nvptx::toString(kernel->report);
  }
};

} // namespace
