//===- NvptxCodegen.h - Tile programs to PTX --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tile programs become kernels for an NVIDIA GPU: `tile-to-nvvm` writes them in the LLVM and NVVM dialects, LLVM's
// NVPTX back end turns them into PTX, and `Assembler.h` into machine code.
//
// The form of a kernel. It is called `describe::getEntryName(program)`, has the attributes `nvvm.kernel`,
// `nvvm.reqntid` and, where blocks share registers unevenly or products are of f32, `nvvm.minctasm`, and takes
//
//   (a) the argument block of runtime/Arguments.h, by value: a pointer with `llvm.byval = !llvm.array<N x i64>` and
//       `nvvm.grid_constant`; addresses in it are those of device memory;
//   (b) one tensor map for each entry of `tensor_maps`, in its order: a pointer with
//       `llvm.byval = !llvm.array<128 x i8>`, `llvm.align = 64` and `nvvm.grid_constant`;
//   (c) the number of tiles, an i64;
//   (d) with `counter`, the address of an i32 in global memory, which is 0 when the kernel starts and again when it
//   ends;
//   (e) for programs with workspaces, address, rows and columns of each: three i64 by value, as (a).
//
// Its attribute `tile.launch` is a `#tile.launch` (docs/dialects/tile.md), which names `tensor_maps` and `counter`.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_NVPTXCODEGEN_H
#define ATTNC_CODEGEN_NVPTX_NVPTXCODEGEN_H

#include "codegen/image/KernelImage.h"
#include "codegen/nvptx/Assembler.h"
#include "dialect/attn/AttnAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace attnc::nvptx {

/// Tile programs to the LLVM and NVVM dialects. The module carries `attn.target = #attn.gpu<...>`.
void buildNvptxPipeline(mlir::OpPassManager &pm);

/// The part of it after `tile-to-nvvm`: what that leaves of arith, math, scf, index and vector to the LLVM dialect.
void buildNvvmToLlvmPipeline(mlir::OpPassManager &pm);

/// Registers the passes, and the pipelines `attnc-nvptx` and `attnc-nvvm-to-llvm` by name.
void registerNvptxPasses();

/// Enters in an image how its entries are launched, as `tile.launch` says; `llvmModule` has gone through
/// `buildNvptxPipeline`. A kernel without the attribute is an error.
mlir::LogicalResult setLaunchFacts(image::KernelImage &image, mlir::ModuleOp llvmModule);

/// Enters in an image what the assembler says of its entries.
void setAssemblerFacts(image::KernelImage &image, const AssemblerReport &report);

/// Translates and optimises a module of the LLVM and NVVM dialects to LLVM IR text.
mlir::FailureOr<std::string> emitLlvmText(mlir::ModuleOp llvmModule, attn::GpuTargetAttr target);

/// The same, to PTX.
mlir::FailureOr<PtxModule> emitPtx(mlir::ModuleOp llvmModule, attn::GpuTargetAttr target);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_NVPTXCODEGEN_H
