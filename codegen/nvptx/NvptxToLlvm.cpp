//===- NvptxToLlvm.cpp - Kernels to the LLVM dialect ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attnc::nvptx {
#define GEN_PASS_DEF_NVPTXTOLLVM
#include "codegen/nvptx/Passes.h.inc"
} // namespace attnc::nvptx

using namespace mlir;
using namespace attnc;

namespace {
struct NvptxToLlvm : nvptx::impl::NvptxToLlvmBase<NvptxToLlvm> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    // What LLVM has no intrinsic for is written out as assembly.
    target.addDynamicallyLegalDialect<NVVM::NVVMDialect>([](Operation *op) {
      auto written = dyn_cast<NVVM::BasicPtxBuilderInterface>(op);
      return !written || written.hasIntrinsic();
    });
    ConversionConfig config;
    // No pattern fails once it has begun, and LLVM folds: bookkeeping for both would take as long as the rewrites.
    config.allowPatternRollback = false;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
