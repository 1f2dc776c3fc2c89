//===- LaunchFacts.cpp - How kernels are launched ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxCodegen.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attnc;

/// The integer called `name`, or `otherwise`.
static int64_t getInteger(DictionaryAttr facts, StringRef name, int64_t otherwise) {
  auto value = facts.getAs<IntegerAttr>(name);
  return value ? value.getInt() : otherwise;
}

/// One entry of `tensor_maps`.
static FailureOr<runtime::TensorMapSpec> readTensorMap(Attribute attribute) {
  auto facts = dyn_cast<DictionaryAttr>(attribute);
  auto box = facts ? facts.getAs<DenseI64ArrayAttr>("box") : DenseI64ArrayAttr();
  if (!box || !facts.getAs<IntegerAttr>("arg"))
    return failure();
  runtime::TensorMapSpec map;
  map.arg = static_cast<int>(getInteger(facts, "arg", 0));
  map.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
  map.swizzleBytes = static_cast<int>(getInteger(facts, "swizzle", 0));
  return map;
}

/// Bytes of parameters that a kernel can take, from PTX 8.1 on.
static constexpr int64_t maxParameterBytes = 32764;

/// The bytes that the parameters of `function` take, each where its alignment allows.
static int64_t countParameterBytes(LLVM::LLVMFuncOp function) {
  constexpr int64_t wordBytes = 8;
  int64_t bytes = 0;
  for (unsigned number = 0; number < function.getNumArguments(); ++number) {
    auto held = function.getArgAttrOfType<TypeAttr>(number, LLVM::LLVMDialect::getByValAttrName());
    auto alignment = function.getArgAttrOfType<IntegerAttr>(number, LLVM::LLVMDialect::getAlignAttrName());
    auto array = held ? dyn_cast<LLVM::LLVMArrayType>(held.getValue()) : LLVM::LLVMArrayType();
    bytes = llvm::alignTo(bytes, alignment ? alignment.getInt() : wordBytes);
    bytes += array ? static_cast<int64_t>(array.getNumElements()) * array.getElementType().getIntOrFloatBitWidth() / 8
                   : wordBytes;
  }
  return bytes;
}

LogicalResult nvptx::setLaunchFacts(runtime::KernelImage &image, ModuleOp llvmModule) {
  for (runtime::KernelEntry &entry : image.entries) {
    auto function = llvmModule.lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol);
    if (!function)
      return llvmModule.emitError() << "has no kernel '" << entry.symbol << "'";
    auto facts = function->getAttrOfType<DictionaryAttr>(launchAttrName);
    if (!facts || !facts.getAs<IntegerAttr>("threads"))
      return function.emitOpError() << "needs '" << launchAttrName << "' with the number of its threads";
    if (int64_t bytes = countParameterBytes(function); bytes > maxParameterBytes)
      return emitError(function.getLoc())
             << "expected arguments that fit " << maxParameterBytes << " bytes of a GPU kernel's parameters, got "
             << bytes << ": a tensor of rank r takes 8 + 16 r, a scalar 8";
    entry.threads = static_cast<int>(getInteger(facts, "threads", 0));
    entry.sharedBytes = getInteger(facts, "shared_bytes", 0);
    entry.persistent = facts.contains("persistent");
    entry.blocksPerMultiprocessor = static_cast<int>(getInteger(facts, "blocks_per_multiprocessor", 1));
    entry.takesCounter = facts.contains("counter");
    entry.early = facts.contains("early");
    entry.tensorMaps.clear();
    if (auto maps = facts.getAs<ArrayAttr>("tensor_maps"))
      for (Attribute attribute : maps) {
        FailureOr<runtime::TensorMapSpec> map = readTensorMap(attribute);
        if (failed(map))
          return function.emitOpError() << "has a tensor map without 'arg' or 'box': " << attribute;
        entry.tensorMaps.push_back(std::move(*map));
      }
    if (entry.tensorMaps.size() > runtime::maxEntryTensorMaps)
      return emitError(function.getLoc())
             << "expected at most " << runtime::maxEntryTensorMaps << " tensors for the copy unit in one kernel, got "
             << entry.tensorMaps.size();
  }
  return success();
}

void nvptx::setAssemblerFacts(runtime::KernelImage &image, const AssemblerReport &report) {
  for (runtime::KernelEntry &entry : image.entries)
    if (const EntryReport *facts = report.find(entry.symbol)) {
      entry.registers = facts->registers;
      entry.spillBytes = static_cast<int>(std::max(facts->spillStoreBytes, facts->spillLoadBytes));
    }
}
