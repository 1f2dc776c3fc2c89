//===- ScratchSizes.cpp - Scratch memory of kernels -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attnc;

void cpu::setScratchSizes(image::KernelImage &image, ModuleOp llvmModule) {
  for (image::KernelEntry &entry : image.entries)
    if (auto function = llvmModule.lookupSymbol<LLVM::LLVMFuncOp>(entry.symbol))
      if (auto bytes = function->getAttrOfType<IntegerAttr>(scratchBytesAttrName))
        entry.scratchBytes = bytes.getInt();
}
