//===- LaunchFacts.cpp - How kernels are launched ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/NvptxCodegen.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attnc;

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

LogicalResult nvptx::setLaunchFacts(image::KernelImage &image, ModuleOp llvmModule) {
  for (image::KernelEntry &entry : image.entries) {
    auto function = llvmModule.lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol);
    if (!function)
      return llvmModule.emitError() << "has no kernel '" << entry.symbol << "'";
    auto facts = function->getAttrOfType<tile::LaunchAttr>(tile::launchAttrName);
    if (!facts)
      return function.emitOpError() << "needs '" << tile::launchAttrName << "'";
    if (int64_t bytes = countParameterBytes(function); bytes > maxParameterBytes)
      return emitError(function.getLoc())
             << "expected arguments that fit " << maxParameterBytes << " bytes of a GPU kernel's parameters, got "
             << bytes << ": a tensor of rank r takes 8 + 16 r, a scalar 8";
    entry.threads = static_cast<int>(facts.getThreads());
    entry.sharedBytes = facts.getSharedBytes();
    entry.persistent = facts.getPersistent();
    entry.blocksPerMultiprocessor = static_cast<int>(facts.getBlocksPerMultiprocessor());
    entry.takesCounter = facts.getCounter();
    entry.early = facts.getEarly();
    entry.tensorMaps.clear();
    if (ArrayAttr maps = facts.getTensorMaps())
      for (auto map : maps.getAsRange<tile::TensorMapAttr>()) {
        image::TensorMapSpec &spec = entry.tensorMaps.emplace_back();
        spec.arg = static_cast<int>(map.getArg());
        spec.box.assign(map.getBox().asArrayRef().begin(), map.getBox().asArrayRef().end());
        spec.swizzleBytes = static_cast<int>(map.getSwizzle());
        if (DenseI64ArrayAttr order = map.getOrder())
          spec.order.assign(order.asArrayRef().begin(), order.asArrayRef().end());
      }
    if (entry.tensorMaps.size() > image::maxEntryTensorMaps)
      return emitError(function.getLoc())
             << "expected at most " << image::maxEntryTensorMaps << " tensors for the copy unit in one kernel, got "
             << entry.tensorMaps.size();
  }
  return success();
}

void nvptx::setAssemblerFacts(image::KernelImage &image, const AssemblerReport &report) {
  for (image::KernelEntry &entry : image.entries)
    if (const EntryReport *facts = report.find(entry.symbol)) {
      entry.registers = facts->registers;
      entry.spillBytes = static_cast<int>(std::max(facts->spillStoreBytes, facts->spillLoadBytes));
    }
}
