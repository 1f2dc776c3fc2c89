//===- ScheduleTableFile.h - Tables of schedules from a file ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SCHEDULETABLEFILE_H
#define ATTNC_RUNTIME_JIT_SCHEDULETABLEFILE_H

#include "codegen/image/Error.h"
#include "dialect/attn/KernelFunction.h"

namespace attnc::jit {

/// Reads the tables of schedules in the file at `path`, "-" for standard input: a module of `attn.schedule_table`. A
/// file that cannot be read is an error with a message; a fault in it is shown on `os`, with file, line and column, and
/// is `reported()`.
image::Result<llvm::SmallVector<mlir::Attribute>> readScheduleTables(llvm::StringRef path, llvm::raw_ostream &os,
                                                                     mlir::MLIRContext *context);

/// Has the kernels of `function` ask `tables` before those of their target, after those that it brings along already.
void addScheduleTables(attn::KernelFunction &function, llvm::ArrayRef<mlir::Attribute> tables);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SCHEDULETABLEFILE_H
