//===- CpuCodegen.cpp - Tile programs to machine code -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
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
  pm.addPass(createConvertVectorToLLVMPass());
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
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      llvmTarget->createTargetMachine(triple, target.getCpu(), target.getFeatures(), options, llvm::Reloc::PIC_,
                                      std::nullopt, llvm::CodeGenOptLevel::Aggressive, /*JIT=*/true));
}

namespace {
/// A module translated and optimised, with the machine it is for.
struct Translated {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

/// LLVM's pipeline for -O3, but loops stay as they are: the emitter unrolls what gains by it, and to the point where
/// values fit the registers.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions options;
  options.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, options);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static FailureOr<std::unique_ptr<Translated>> translate(ModuleOp module, attn::CpuTargetAttr target) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  auto result = std::make_unique<Translated>();
  result->machine = createTargetMachine(target);
  if (!result->machine)
    return module.emitError("LLVM has no code generator for this machine");
  result->module = translateModuleToLLVMIR(module, result->context);
  if (!result->module)
    return failure();
  result->module->setTargetTriple(result->machine->getTargetTriple());
  result->module->setDataLayout(result->machine->createDataLayout());
  optimize(*result->module, *result->machine);
  return result;
}

static FailureOr<SmallVector<char, 0>> emitFile(ModuleOp module, attn::CpuTargetAttr target,
                                                llvm::CodeGenFileType type) {
  FailureOr<std::unique_ptr<Translated>> translated = translate(module, target);
  if (failed(translated))
    return failure();
  SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if ((*translated)->machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return module.emitError("LLVM cannot emit this kind of file");
  passes.run(*(*translated)->module);
  return buffer;
}

FailureOr<std::string> cpu::emitLlvmText(ModuleOp llvmModule, attn::CpuTargetAttr target) {
  FailureOr<std::unique_ptr<Translated>> translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*translated)->module->print(stream, nullptr);
  return text;
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
