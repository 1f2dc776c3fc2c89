//===- EntryAbi.h - How the runtime calls a kernel --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_ENTRYABI_H
#define ATTNC_CODEGEN_CPU_ENTRYABI_H

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attnc::cpu {

/// Adds the function `void name(const int64_t *arguments, int64_t tile, void *scratch)` of a program and leaves the
/// builder in its entry block.
mlir::LLVM::LLVMFuncOp createEntry(mlir::OpBuilder &builder, tile::ProgramOp program);

/// Reads the argument block (runtime/Arguments.h): the program's arguments but the number of the tile, views as
/// memrefs.
llvm::SmallVector<mlir::Value> readArguments(mlir::OpBuilder &builder, tile::ProgramOp program, mlir::Value block);

/// What an entry works on: the program's arguments, the last of which is the number of the tile as an index, then the
/// scratch memory as memref<?xi8>.
llvm::SmallVector<mlir::Value> buildArguments(mlir::OpBuilder &builder, tile::ProgramOp program,
                                              mlir::LLVM::LLVMFuncOp function);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_ENTRYABI_H
