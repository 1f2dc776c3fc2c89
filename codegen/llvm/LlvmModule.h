//===- LlvmModule.h - The LLVM dialect to code ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What targets share of the way from the LLVM dialect through LLVM's IR to code. Each has passes of its own in between.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_LLVM_LLVMMODULE_H
#define ATTNC_CODEGEN_LLVM_LLVMMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace attnc::codegen {

/// The machine that writes code for `processor` of `triple` with `features`, or null where LLVM has none. Operations
/// that carry `contract` are fused, and no others: the rest keep their rounding.
std::unique_ptr<llvm::TargetMachine> createMachine(const llvm::Triple &triple, llvm::StringRef processor,
                                                   llvm::StringRef features, llvm::CodeGenOptLevel level,
                                                   std::optional<llvm::Reloc::Model> relocation = std::nullopt,
                                                   bool justInTime = false);

/// A module in LLVM's IR, with the machine that its code is for. It has a context of its own, so that threads can work
/// on one each.
struct LlvmModule {
  /// Without a module yet.
  explicit LlvmModule(std::unique_ptr<llvm::TargetMachine> machine);

  std::string error;                       ///< the first that LLVM reports; outlives the context, which writes it
  std::unique_ptr<llvm::OptPassGate> gate; ///< outlives the context, which may ask it for passes to leave out
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// `module`, which is in the LLVM dialect and those whose translations the caller has registered, in LLVM's IR for
/// `machine`, verified. Where there is no machine, or the IR is not sound, that is reported on `module`.
mlir::FailureOr<std::unique_ptr<LlvmModule>> translate(mlir::ModuleOp module,
                                                       std::unique_ptr<llvm::TargetMachine> machine);

/// What LLVM's passes ask about a module, registered with a builder of passes.
struct Analyses {
  explicit Analyses(llvm::PassBuilder &builder);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

/// The text of LLVM's IR.
std::string print(const llvm::Module &module);

/// The code that the machine writes for `module`; what fails stands in its `error`.
mlir::FailureOr<llvm::SmallVector<char, 0>> writeCode(LlvmModule &module, llvm::CodeGenFileType type);

} // namespace attnc::codegen

#endif // ATTNC_CODEGEN_LLVM_LLVMMODULE_H
