//===- Glue.cpp - The functions around an embedded kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each function passes its arguments on to one of libattnc-runtime, with the address of the structure that describes
// the kernel before them.
//===----------------------------------------------------------------------===//

#include "attnc/object.h"
#include "codegen/llvm/LlvmModule.h"
#include "codegen/shared/SharedObject.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <mutex>

using namespace llvm;
using namespace attnc;
using image::KernelImage;
using image::Result;

static constexpr StringLiteral imports[] = {"attnc_linked_launch", "attnc_linked_get_kernel", "attnc_linked_call",
                                            "attnc_linked_unload"};

ArrayRef<StringLiteral> shared::listImports() { return imports; }

std::vector<std::string> shared::listExports(const KernelImage &image) {
  return {image.name + "_launch", image.name + "_get_kernel", image.name + "_image", image.name + "_image_bytes",
          "__tvm_ffi_" + image.name};
}

namespace {

/// Builds the module of one kernel.
class GlueBuilder {
public:
  GlueBuilder(Module &module, const shared::SharedObject &object)
      : module(module), object(object), context(module.getContext()), pointer(PointerType::getUnqual(context)),
        word(Type::getInt64Ty(context)), number(Type::getInt32Ty(context)) {}

  void build();

private:
  /// A constant of this module's own.
  Constant *addConstant(Constant *value, const Twine &name, GlobalValue::LinkageTypes linkage) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true, linkage, value, name);
  }

  Constant *addText(StringRef text) {
    return addConstant(ConstantDataArray::getString(context, text), "", GlobalValue::PrivateLinkage);
  }

  /// The addresses of the kernel's functions, which are in an object of their own.
  Constant *addEntries();

  /// The structure that the library gets: attnc_linked_kernel.
  void addKernel();

  /// A function `name` of `parameters` that gives what the library's `callee` gives for the kernel and its own
  /// arguments from `first` on.
  Function *addFunction(const Twine &name, GlobalValue::LinkageTypes linkage, Type *result, ArrayRef<Type *> parameters,
                        StringRef callee, size_t first = 0);

  Module &module;
  const shared::SharedObject &object;
  LLVMContext &context;
  Type *pointer, *word, *number;
  GlobalVariable *kernel = nullptr;
};

} // namespace

Constant *GlueBuilder::addEntries() {
  SmallVector<Constant *> addresses;
  for (const image::KernelEntry &entry : object.image.entries) {
    Constant *address = module.getOrInsertGlobal(entry.symbol, Type::getInt8Ty(context));
    cast<GlobalVariable>(address)->setVisibility(GlobalValue::HiddenVisibility);
    addresses.push_back(address);
  }
  ArrayType *type = ArrayType::get(pointer, addresses.size());
  return addConstant(ConstantArray::get(type, addresses), "", GlobalValue::PrivateLinkage);
}

void GlueBuilder::addKernel() {
  const std::vector<uint8_t> bytes = image::serialize(object.image);
  auto *image = cast<GlobalVariable>(
      addConstant(ConstantDataArray::get(context, bytes), object.image.name + "_image", GlobalValue::ExternalLinkage));
  image->setAlignment(Align(16));
  Constant *size = ConstantInt::get(word, bytes.size());
  addConstant(size, object.image.name + "_image_bytes", GlobalValue::ExternalLinkage);

  const bool isCpu = object.features.has_value();
  Constant *null = ConstantPointerNull::get(PointerType::getUnqual(context));
  Constant *members[] = {ConstantInt::get(word, sizeof(attnc_linked_kernel)),
                         image,
                         size,
                         isCpu ? addEntries() : null,
                         ConstantInt::get(word, isCpu ? object.image.entries.size() : 0),
                         isCpu ? addText(*object.features) : null,
                         null};
  static_assert(offsetof(attnc_linked_kernel, image) == 8 && offsetof(attnc_linked_kernel, image_bytes) == 16 &&
                offsetof(attnc_linked_kernel, entries) == 24 && offsetof(attnc_linked_kernel, num_entries) == 32 &&
                offsetof(attnc_linked_kernel, features) == 40 && offsetof(attnc_linked_kernel, state) == 48 &&
                sizeof(attnc_linked_kernel) == 56);
  Constant *value = ConstantStruct::getAnon(members);
  kernel =
      new GlobalVariable(module, value->getType(), /*isConstant=*/false, GlobalValue::InternalLinkage, value, "kernel");
}

Function *GlueBuilder::addFunction(const Twine &name, GlobalValue::LinkageTypes linkage, Type *result,
                                   ArrayRef<Type *> parameters, StringRef callee, size_t first) {
  auto *function = Function::Create(FunctionType::get(result, parameters, /*isVarArg=*/false), linkage, name, module);
  SmallVector<Type *> types = {pointer};
  SmallVector<Value *> values = {kernel};
  for (Argument &argument : drop_begin(function->args(), first)) {
    types.push_back(argument.getType());
    values.push_back(&argument);
  }
  FunctionCallee target = module.getOrInsertFunction(callee, FunctionType::get(result, types, /*isVarArg=*/false));
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  CallInst *call = builder.CreateCall(target, values);
  call->setTailCall();
  if (result->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
  return function;
}

void GlueBuilder::build() {
  addKernel();
  const std::string &name = object.image.name;
  const auto exported = GlobalValue::ExternalLinkage;
  addFunction(name + "_launch", exported, pointer, {pointer}, "attnc_linked_launch");
  addFunction(name + "_get_kernel", exported, pointer, {number, pointer}, "attnc_linked_get_kernel");
  // TVM FFI hands a function its own handle first, which is null for those of a module.
  addFunction("__tvm_ffi_" + name, exported, number, {pointer, pointer, number, pointer}, "attnc_linked_call",
              /*first=*/1);
  Function *unload =
      addFunction("unload", GlobalValue::InternalLinkage, Type::getVoidTy(context), {}, "attnc_linked_unload");
  constexpr int lastPriority = 65535;
  appendToGlobalDtors(module, unload, lastPriority);
}

Result<SmallVector<char, 0>> shared::writeGlue(const SharedObject &object) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  // Whatever CPU the kernel is for: the library is what finds out that it is another.
  std::unique_ptr<TargetMachine> machine = codegen::createMachine(
      Triple(sys::getProcessTriple()), /*processor=*/"", /*features=*/"", CodeGenOptLevel::Default, Reloc::PIC_);
  if (!machine)
    return image::Error{"LLVM has no code generator for this machine"};
  // The loader of today's systems knows no .dtors.
  machine->Options.UseInitArray = true;
  codegen::LlvmModule glue(std::move(machine));
  glue.module = std::make_unique<Module>("attnc", glue.context);
  glue.module->setTargetTriple(glue.machine->getTargetTriple());
  glue.module->setDataLayout(glue.machine->createDataLayout());
  GlueBuilder(*glue.module, object).build();
  auto code = codegen::writeCode(glue, CodeGenFileType::ObjectFile);
  if (failed(code))
    return image::Error{glue.error};
  return std::move(*code);
}
