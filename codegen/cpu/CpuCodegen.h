//===- CpuCodegen.h - Tile programs to machine code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_CPUCODEGEN_H
#define ATTNC_CODEGEN_CPU_CPUCODEGEN_H

#include "codegen/image/KernelImage.h"
#include "dialect/attn/AttnAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace attnc::cpu {

/// Tile programs to the LLVM dialect. The module carries `attn.target = #attn.cpu<...>`.
void buildCpuPipeline(mlir::OpPassManager &pm);

/// Columns of a tile that generated code computes together. Times the registers of a panel's rows, they are the sums of
/// products that stay in registers.
int64_t columnsTogether(attn::CpuTargetAttr target);

/// Enters in an image how much scratch memory its entries need; `llvmModule` has gone through `buildCpuPipeline`.
void setScratchSizes(image::KernelImage &image, mlir::ModuleOp llvmModule);

/// Registers the passes and the pipeline `attnc-cpu` by name.
void registerCpuPasses();

/// Optimises and translates a module of the LLVM dialect to LLVM IR text.
mlir::FailureOr<std::string> emitLlvmText(mlir::ModuleOp llvmModule, attn::CpuTargetAttr target);

/// The same, to assembly.
mlir::FailureOr<std::string> emitAssembly(mlir::ModuleOp llvmModule, attn::CpuTargetAttr target);

/// The same, to a relocatable object for ORC.
mlir::FailureOr<std::vector<uint8_t>> emitObject(mlir::ModuleOp llvmModule, attn::CpuTargetAttr target);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_CPUCODEGEN_H
