//===- LlvmModule.cpp - The LLVM dialect to code ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/llvm/LlvmModule.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::codegen;

std::unique_ptr<llvm::TargetMachine> codegen::createMachine(const llvm::Triple &triple, StringRef processor,
                                                            StringRef features, llvm::CodeGenOptLevel level,
                                                            std::optional<llvm::Reloc::Model> relocation,
                                                            bool justInTime) {
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // The linker keeps code and constants together: addresses fit 32 bits, and constants are operands.
  auto model = justInTime ? std::optional(llvm::CodeModel::Small) : std::nullopt;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, processor, features, options, relocation, model, level, justInTime));
}

namespace {
/// Keeps the first error that LLVM reports; its own way with errors is to end the process.
struct ErrorKeeper : llvm::DiagnosticHandler {
  explicit ErrorKeeper(std::string &error) : error(error) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error.empty()) {
      llvm::raw_string_ostream os(error);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }

  std::string &error;
};
} // namespace

LlvmModule::LlvmModule(std::unique_ptr<llvm::TargetMachine> machine) : machine(std::move(machine)) {
  context.setDiagnosticHandler(std::make_unique<ErrorKeeper>(error));
}

FailureOr<std::unique_ptr<LlvmModule>> codegen::translate(ModuleOp module,
                                                          std::unique_ptr<llvm::TargetMachine> machine) {
  if (!machine)
    return module.emitError("LLVM has no code generator for this target");
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  auto result = std::make_unique<LlvmModule>(std::move(machine));
  // MLIR would write what is not sound to the standard error.
  result->module = translateModuleToLLVMIR(module, result->context, "attnc", /*disableVerification=*/true);
  if (!result->module)
    return failure();
  result->module->setTargetTriple(result->machine->getTargetTriple());
  result->module->setDataLayout(result->machine->createDataLayout());
  // The back end ends the process on IR that is not sound.
  std::string fault;
  llvm::raw_string_ostream os(fault);
  if (llvm::verifyModule(*result->module, &os))
    return module.emitError() << "the LLVM IR is not sound: " << StringRef(fault).rtrim();
  return result;
}

Analyses::Analyses(llvm::PassBuilder &builder) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

std::string codegen::print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

FailureOr<SmallVector<char, 0>> codegen::writeCode(LlvmModule &module, llvm::CodeGenFileType type) {
  SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  // `translate` has verified the module.
  if (module.machine->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    module.error = "LLVM cannot write this kind of code";
    return failure();
  }
  passes.run(*module.module);
  if (module.error.empty())
    return code;
  module.error = "LLVM cannot write the code: " + module.error;
  return failure();
}
