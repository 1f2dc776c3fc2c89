//===- NvptxCodegen.cpp - Tile programs to PTX ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
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
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return nullptr;
  llvm::TargetOptions options;
  // Operations that carry `contract` are fused, and no others: the rest keep their rounding.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      llvmTarget->createTargetMachine(triple, target.getArch(), ("+ptx" + Twine(target.getPtx())).str(), options,
                                      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
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

/// Leaves out passes of the back end that look for common parts of addresses, with the searches for common
/// subexpressions behind them. Kernels with roles have none, whose boxes are found by the copy engine; those of warps
/// have (docs/rationale/compile-time.md). Passes go by the names that -opt-bisect shows. Of one kernel: it counts.
struct AddressPassGate : llvm::OptPassGate {
  bool shouldRunPass(StringRef name, StringRef) const override {
    // The third search is the one behind the loops' passes.
    if (name == "early-cse")
      return ++searches > 2;
    return name != "slsr" && name != "nary-reassociate" && name != "Canonicalize Freeze Instructions in Loops";
  }
  bool isEnabled() const override { return true; }

  mutable int searches = 0;
};

/// A module in LLVM's IR, with the machine it is for.
struct Translated {
  std::string error;    ///< outlives the context, which writes it
  AddressPassGate gate; ///< outlives the context, which may ask it
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

/// Inline assembly with side effects synchronises threads: no pass may make it depend on more conditions, and it does
/// not throw.
static void markAssembly(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction))
        if (auto *assembly = dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
          call->setDoesNotThrow();
          if (assembly->hasSideEffects())
            call->setConvergent();
        }
}

/// A context and a machine, without a module yet; null where LLVM has no code generator for NVIDIA GPUs.
static std::unique_ptr<Translated> prepare(attn::GpuTargetAttr target) {
  auto result = std::make_unique<Translated>();
  result->context.setDiagnosticHandler(std::make_unique<ErrorKeeper>(result->error));
  result->machine = createTargetMachine(target);
  return result->machine ? std::move(result) : nullptr;
}

static FailureOr<std::unique_ptr<Translated>> translate(ModuleOp module, attn::GpuTargetAttr target) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  std::unique_ptr<Translated> result = prepare(target);
  if (!result)
    return module.emitError("LLVM has no code generator for NVIDIA GPUs");
  result->module = translateModuleToLLVMIR(module, result->context);
  if (!result->module)
    return failure();
  result->module->setTargetTriple(result->machine->getTargetTriple());
  result->module->setDataLayout(result->machine->createDataLayout());
  markAssembly(*result->module);
  // The back end ends the process on IR that is not sound.
  std::string fault;
  llvm::raw_string_ostream os(fault);
  if (llvm::verifyModule(*result->module, &os))
    return module.emitError() << "the LLVM IR is not sound: " << StringRef(fault).rtrim();
  return result;
}

/// Optimises. A tenth of the passes of -O3: those that change what the assembler makes of a kernel, whose loops the
/// emitters have written as they are to be (docs/rationale/compile-time.md).
static void optimize(Translated &translated) {
  llvm::PassBuilder builder(translated.machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

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
  for (llvm::Function &function : *translated.module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

/// Whether warps of the kernel have roles, which hand registers to each other.
static bool hasRoles(const llvm::Module &module) {
  const llvm::Function *intrinsic =
      llvm::Intrinsic::getDeclarationIfExists(&module, llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32);
  return intrinsic && !intrinsic->use_empty();
}

/// Optimises and writes PTX; what fails stands in `error`.
static FailureOr<std::string> writePtx(Translated &translated) {
  optimize(translated);
  if (hasRoles(*translated.module))
    translated.context.setOptPassGate(translated.gate);
  SmallString<0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  // `translate` has verified the module.
  if (translated.machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                              /*DisableVerify=*/true)) {
    translated.error = "LLVM cannot write PTX";
    return failure();
  }
  passes.run(*translated.module);
  if (!translated.error.empty()) {
    translated.error = "LLVM cannot write PTX: " + translated.error;
    return failure();
  }
  return std::string(buffer.str());
}

/// The names of the kernels of `module`, where nothing else is defined in it.
static SmallVector<std::string> findKernels(const llvm::Module &module) {
  SmallVector<std::string> names;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      return {};
    names.push_back(function.getName().str());
  }
  return names;
}

/// The kernel `name` alone of the module that `bitcode` holds.
static std::unique_ptr<Translated> readKernel(StringRef bitcode, StringRef name, attn::GpuTargetAttr target) {
  std::unique_ptr<Translated> result = prepare(target);
  if (!result)
    return nullptr;
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

/// PTX of several modules as one: headers and shared variables, which all declare alike, come from the first.
static std::string joinPtx(ArrayRef<std::string> texts) {
  std::string joined = texts.front();
  for (const std::string &text : texts.drop_front()) {
    SmallVector<StringRef> lines;
    StringRef(text).split(lines, '\n');
    for (StringRef line : lines)
      if (!line.starts_with(".version") && !line.starts_with(".target") && !line.starts_with(".address_size") &&
          !line.starts_with(".extern .shared"))
        joined += line.str() + '\n';
  }
  return joined;
}

std::string nvptx::emitNvvm(ModuleOp llvmModule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvmModule.print(os);
  os << '\n';
  return text;
}

FailureOr<std::string> nvptx::emitLlvmText(ModuleOp llvmModule, attn::GpuTargetAttr target) {
  FailureOr<std::unique_ptr<Translated>> translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  optimize(**translated);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*translated)->module->print(stream, nullptr);
  return text;
}

FailureOr<std::string> nvptx::emitPtx(ModuleOp llvmModule, attn::GpuTargetAttr target) {
  FailureOr<std::unique_ptr<Translated>> translated = translate(llvmModule, target);
  if (failed(translated))
    return failure();
  SmallVector<std::string> kernels = findKernels(*(*translated)->module);
  if (kernels.size() < 2) {
    FailureOr<std::string> text = writePtx(**translated);
    if (failed(text))
      return llvmModule.emitError() << (*translated)->error;
    return text;
  }
  // Kernels share no code: each goes its way on a thread, in a context of its own.
  SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*(*translated)->module, stream);
  SmallVector<std::string> texts(kernels.size()), errors(kernels.size());
  llvm::DefaultThreadPool pool;
  for (size_t n = 0; n < kernels.size(); ++n)
    pool.async([&, n] {
      std::unique_ptr<Translated> kernel = readKernel(bitcode, kernels[n], target);
      FailureOr<std::string> text = kernel && kernel->module ? writePtx(*kernel) : FailureOr<std::string>(failure());
      if (succeeded(text))
        texts[n] = std::move(*text);
      else
        errors[n] = kernel ? kernel->error : "LLVM has no code generator for NVIDIA GPUs";
    });
  pool.wait();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvmModule.emitError() << error;
  return joinPtx(texts);
}
