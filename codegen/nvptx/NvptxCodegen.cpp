//===- NvptxCodegen.cpp - Tile programs to PTX ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/llvm/Guard.h"
#include "codegen/llvm/LlvmModule.h"
#include "codegen/nvptx/AddressPassGate.h"
#include "codegen/nvptx/BitMasks.h"
#include "codegen/nvptx/HighWords.h"
#include "codegen/nvptx/Magnitudes.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/ShortIntegers.h"
#include "codegen/nvptx/TrailingZeros.h"
#include "codegen/nvptx/UnreachablePaths.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace mlir;
using namespace attnc;
using codegen::LlvmModule;

void nvptx::buildNvvmToLlvmPipeline(OpPassManager &pm) {
  // Nothing simplifies in between: LLVM's passes do, in a third of the time.
  pm.addPass(createNvptxExpandMath());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createNvptxToLlvm());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void nvptx::buildNvptxPipeline(OpPassManager &pm) {
  pm.addPass(createTileToNvvm());
  buildNvvmToLlvmPipeline(pm);
}

void nvptx::registerNvptxPasses() {
  registerAttncNvptxPasses();
  PassPipelineRegistration<>("attnc-nvptx", "Tile programs to the LLVM and NVVM dialects for an NVIDIA GPU",
                             buildNvptxPipeline);
  PassPipelineRegistration<>("attnc-nvvm-to-llvm", "What `tile-to-nvvm` leaves to the LLVM and NVVM dialects",
                             buildNvvmToLlvmPipeline);
}

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(attn::GpuTargetAttr target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return codegen::createMachine(llvm::Triple("nvptx64-nvidia-cuda"), target.getArch(),
                                ("+ptx" + Twine(target.getPtx())).str(), llvm::CodeGenOptLevel::Default);
}

/// Whether `call` closes a group of copies or waits for one. To LLVM that is an effect of the thread alone.
static bool ordersCopies(const llvm::CallInst &call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::nvvm_cp_async_commit_group:
  case llvm::Intrinsic::nvvm_cp_async_wait_group:
  case llvm::Intrinsic::nvvm_cp_async_bulk_commit_group:
  case llvm::Intrinsic::nvvm_cp_async_bulk_wait_group:
  case llvm::Intrinsic::nvvm_cp_async_bulk_wait_group_read:
    return true;
  default:
    return false;
  }
}

/// Inline assembly with side effects synchronises threads: no pass may make it depend on more conditions, and it does
/// not throw. Nor is what orders copies to be written twice, once for each way to it.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallInst>(&instruction);
      auto *assembly = call ? dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (assembly)
        call->setDoesNotThrow();
      if (assembly ? assembly->hasSideEffects() : call && ordersCopies(*call))
        call->setConvergent();
    }
}

static FailureOr<std::unique_ptr<LlvmModule>> translate(ModuleOp module, attn::GpuTargetAttr target) {
  registerNVVMDialectTranslation(*module.getContext());
  auto result = codegen::translate(module, createTargetMachine(target));
  if (succeeded(result))
    markConvergent(*(*result)->module);
  return result;
}

/// Optimises. A tenth of the passes of -O3: those that change what the assembler makes of a kernel, whose loops the
/// emitters have written as they are to be (docs/rationale/compile-time.md).
static void optimize(LlvmModule &translated) {
  llvm::PassBuilder builder(translated.machine.get());
  codegen::Analyses analyses(builder);

  auto combine = llvm::InstCombineOptions().setMaxIterations(1);
  llvm::LoopPassManager motion, induction;
  motion.addPass(llvm::LoopRotatePass());
  motion.addPass(llvm::LICMPass(llvm::LICMOptions()));
  induction.addPass(llvm::IndVarSimplifyPass());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::InferAlignmentPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(combine));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ReassociatePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(motion), /*UseMemorySSA=*/true));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(induction)));
  passes.addPass(llvm::InstCombinePass(combine));
  passes.addPass(nvptx::RemoveUnreachablePaths());
  for (llvm::Function &function : *translated.module)
    if (!function.isDeclaration())
      passes.run(function, analyses.functions);
  // Magnitudes of short integers in 32 bits are no less than 0.
  nvptx::defineMagnitudes(*translated.module);
  nvptx::widenShortIntegers(*translated.module);
  nvptx::defineBitMasks(*translated.module);
  nvptx::defineHighWords(*translated.module);
  nvptx::defineTrailingZeros(*translated.module);
}

/// Whether warpgroups of a kernel have roles, which hand registers to each other: `tile-to-nvvm` says so.
static bool hasRoles(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &f) { return f.hasFnAttribute(nvptx::rolesAttrName); });
}

/// Optimises and writes PTX; what fails stands in the module's `error`.
static FailureOr<std::string> writePtx(LlvmModule &translated) {
  optimize(translated);
  if (hasRoles(*translated.module)) {
    translated.gate = std::make_unique<nvptx::AddressPassGate>();
    translated.context.setOptPassGate(*translated.gate);
  }
  FailureOr<SmallVector<char, 0>> text = codegen::writeCode(translated, llvm::CodeGenFileType::AssemblyFile);
  if (failed(text))
    return failure();
  return std::string(text->begin(), text->end());
}

static bool isKernel(const llvm::Function &function) {
  return !function.isDeclaration() && function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// The names of the kernels of `module`.
static SmallVector<std::string> findKernels(const llvm::Module &module) {
  SmallVector<std::string> names;
  for (const llvm::Function &function : llvm::make_filter_range(module, isKernel))
    names.push_back(function.getName().str());
  return names;
}

/// Whether all functions that `module` defines are kernels, which then share no code.
static bool hasKernelsAlone(const llvm::Module &module) {
  return llvm::all_of(module, [](const llvm::Function &f) { return f.isDeclaration() || isKernel(f); });
}

/// The module that `bitcode` holds with the function `name` alone, or without any where there is none of that name;
/// what fails stands in its `error`.
static std::unique_ptr<LlvmModule> readKernel(StringRef bitcode, StringRef name, attn::GpuTargetAttr target) {
  auto result = std::make_unique<LlvmModule>(createTargetMachine(target));
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, name), result->context);
  if (!module) {
    result->error = llvm::toString(module.takeError());
    return result;
  }
  result->module = std::move(*module);
  for (llvm::Function &function : llvm::make_early_inc_range(*result->module))
    if (!function.isDeclaration() && function.getName() != name)
      function.eraseFromParent();
  return result;
}

namespace {
/// What the back end writes of a module besides its functions.
struct Preamble {
  std::string header;    ///< version of PTX, machine, size of addresses: what any module begins with
  std::string variables; ///< declarations, in front of the first function
};
} // namespace

/// The preamble of the module that `bitcode` holds, as the back end writes it where there is nothing else; what fails
/// is added to `error`.
static Preamble writePreamble(StringRef bitcode, attn::GpuTargetAttr target, std::string &error) {
  auto write = [&](LlvmModule &module) -> std::string {
    auto text = module.module ? codegen::writeCode(module, llvm::CodeGenFileType::AssemblyFile)
                              : FailureOr<SmallVector<char, 0>>(failure());
    if (succeeded(text))
      return std::string(text->begin(), text->end());
    error += module.error;
    return "";
  };
  std::unique_ptr<LlvmModule> variables = readKernel(bitcode, /*name=*/"", target);
  const std::string both = write(*variables);
  if (!error.empty())
    return {};
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(variables->module->globals())) {
    variable.replaceAllUsesWith(llvm::PoisonValue::get(variable.getType()));
    variable.eraseFromParent();
  }
  const std::string none = write(*variables);
  // An empty line ends the variables, whether there are any or not.
  StringRef header = none, rest = both;
  if (!header.consume_back("\n") || !rest.consume_front(header) || !rest.consume_back("\n"))
    error += "LLVM writes other headers of PTX for modules with variables";
  return {header.str(), rest.str()};
}

/// PTX of several modules as one: all begin with `preamble`, of which the first is enough. What fails is added to
/// `error`.
static std::string joinPtx(ArrayRef<std::string> texts, const Preamble &preamble, std::string &error) {
  std::string joined = texts.front();
  for (StringRef text : texts.drop_front()) {
    size_t variables = text.consume_front(preamble.header) ? text.find(preamble.variables) : StringRef::npos;
    if (variables == StringRef::npos) {
      error += "LLVM writes kernels of one module unlike each other";
      return "";
    }
    joined += text.take_front(variables);
    joined += text.drop_front(variables + preamble.variables.size());
  }
  return joined;
}

FailureOr<std::string> nvptx::emitLlvmText(ModuleOp llvmModule, attn::GpuTargetAttr target) {
  auto translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  optimize(**translated);
  return codegen::print(*(*translated)->module);
}

FailureOr<nvptx::PtxModule> nvptx::emitPtx(ModuleOp llvmModule, attn::GpuTargetAttr target) {
  auto translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  SmallVector<std::string> kernels = findKernels(*(*translated)->module);
  bool exchangesRegisters = hasRoles(*(*translated)->module);
  if (kernels.size() < 2 || !hasKernelsAlone(*(*translated)->module)) {
    FailureOr<std::string> text = writePtx(**translated);
    if (failed(text))
      return llvmModule.emitError() << (*translated)->error;
    return nvptx::PtxModule{std::move(*text), kernels.size(), exchangesRegisters};
  }
  // Each kernel goes its way on a thread, in a context of its own.
  SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*(*translated)->module, stream);
  SmallVector<std::string> texts(kernels.size()), errors(kernels.size() + 1);
  Preamble preamble;
  const codegen::WithoutRecovery whileThreadsWork;
  llvm::DefaultThreadPool pool;
  auto emit = [&](size_t n) {
    std::unique_ptr<LlvmModule> kernel = readKernel(bitcode, kernels[n], target);
    FailureOr<std::string> text = kernel->module ? writePtx(*kernel) : FailureOr<std::string>(failure());
    if (succeeded(text))
      texts[n] = std::move(*text);
    else
      errors[n] = kernel->error;
  };
  const bool guarded = codegen::isGuarded();
  auto start = [&](std::string &error, std::function<void()> work) {
    pool.async([&error, guarded, work = std::move(work)] {
      if (!guarded)
        return work();
      if (image::Status status = codegen::runCompiler(work); !status)
        error = status.message();
    });
  };
  for (size_t n = 0; n < kernels.size(); ++n)
    start(errors[n], [&emit, n] { emit(n); });
  start(errors.back(), [&] { preamble = writePreamble(bitcode, target, errors.back()); });
  pool.wait();
  std::string joined;
  if (llvm::all_of(errors, [](const std::string &error) { return error.empty(); }))
    joined = joinPtx(texts, preamble, errors.back());
  for (const std::string &error : errors)
    if (!error.empty())
      return llvmModule.emitError() << error;
  return nvptx::PtxModule{std::move(joined), kernels.size(), exchangesRegisters};
}
