//===- CpuCodegen.cpp - Tile programs to machine code -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/Passes.h"
#include "codegen/llvm/LlvmModule.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include <mutex>

using namespace mlir;
using namespace attnc;

void cpu::buildCpuPipeline(OpPassManager &pm) {
  pm.addPass(createTileToCpu());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCpuExpandMath());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.amx = true;
  vectors.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void cpu::registerCpuPasses() {
  registerAttncCpuPasses();
  PassPipelineRegistration<>("attnc-cpu", "Tile programs to the LLVM dialect for a CPU", buildCpuPipeline);
}

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(attn::CpuTargetAttr target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // The search for checksums in loops follows each path through a loop's expressions, of which a remainder of
    // floating point, written out, has more than can be counted.
    llvm::DisableLIRP::HashRecognize = true;
  });
  return codegen::createMachine(llvm::Triple(llvm::sys::getProcessTriple()), target.getCpu(), target.getFeatures(),
                                llvm::CodeGenOptLevel::Aggressive, llvm::Reloc::PIC_, /*justInTime=*/true);
}

/// LLVM's pipeline for -O3, but loops stay as they are: the emitter unrolls what gains by it, and to the point where
/// values fit the registers.
static void optimize(codegen::LlvmModule &translated) {
  llvm::PipelineTuningOptions options;
  options.LoopUnrolling = false;
  llvm::PassBuilder builder(translated.machine.get(), options);
  codegen::Analyses analyses(builder);
  // Loops over the same tiles have the same regions (RegionFunction.h): they need be optimised once.
  llvm::ModulePassManager passes;
  passes.addPass(llvm::MergeFunctionsPass());
  passes.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  passes.run(*translated.module, analyses.modules);
}

/// In LLVM's IR, optimised.
static FailureOr<std::unique_ptr<codegen::LlvmModule>> translate(ModuleOp module, attn::CpuTargetAttr target) {
  auto result = codegen::translate(module, createTargetMachine(target));
  if (succeeded(result))
    optimize(**result);
  return result;
}

static FailureOr<SmallVector<char, 0>> emitFile(ModuleOp module, attn::CpuTargetAttr target,
                                                llvm::CodeGenFileType type) {
  auto translated = translate(module, target);
  if (failed(translated))
    return failure();
  FailureOr<SmallVector<char, 0>> file = codegen::writeCode(**translated, type);
  if (failed(file))
    return module.emitError() << (*translated)->error;
  return file;
}

FailureOr<std::string> cpu::emitLlvmText(ModuleOp llvmModule, attn::CpuTargetAttr target) {
  auto translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  return codegen::print(*(*translated)->module);
}

FailureOr<std::string> cpu::emitAssembly(ModuleOp llvmModule, attn::CpuTargetAttr target) {
  FailureOr<SmallVector<char, 0>> file = emitFile(llvmModule, target, llvm::CodeGenFileType::AssemblyFile);
  if (failed(file))
    return failure();
  return std::string(file->begin(), file->end());
}

FailureOr<std::vector<uint8_t>> cpu::emitObject(ModuleOp llvmModule, attn::CpuTargetAttr target) {
  FailureOr<SmallVector<char, 0>> file = emitFile(llvmModule, target, llvm::CodeGenFileType::ObjectFile);
  if (failed(file))
    return failure();
  return std::vector<uint8_t>(file->begin(), file->end());
}
