//===- NvptxPrint.cpp - Code as text ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

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
    auto target = getOperation()->getAttrOfType<attn::GpuTargetAttr>("attn.target");
    if (!target) {
      getOperation().emitError("expected a GPU in the attribute 'attn.target'");
      return signalPassFailure();
    }
    FailureOr<std::string> text = failure();
    if (as == "llvm")
      text = nvptx::emitLlvmText(getOperation(), target);
    else if (as == "ptx")
      text = nvptx::emitPtx(getOperation(), target);
    else
      getOperation().emitError() << "unknown form '" << as << "'; there are llvm and ptx";
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }
};

} // namespace
