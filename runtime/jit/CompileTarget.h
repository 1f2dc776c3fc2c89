//===- CompileTarget.h - What kernels are compiled for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_COMPILETARGET_H
#define ATTNC_RUNTIME_JIT_COMPILETARGET_H

#include "codegen/target/Backend.h"

namespace attnc::jit {

/// attnc's own backends, and those that `target::registerBackend` has added.
llvm::ArrayRef<const target::Backend *> getBackends();

/// The backend that serves `target`, the attribute of a machine; there must be one.
const target::Backend &getBackend(mlir::Attribute target);

/// Enters in `registry` what a context must know of the machines of all backends, so that they can be read, and asked
/// for schedules. Sessions have it.
void registerMachines(mlir::DialectRegistry &registry);

/// The name that leaves the choice to the compiler.
inline constexpr llvm::StringLiteral anyTarget = "auto";

/// The name of the machine that the compiler runs on: a backend has it.
llvm::StringRef getHostName();

/// How to write the names of all machines, for messages.
std::string describeMachines();

/// The machine that `name` means, as the attribute that passes read: `getHostName` and `anyTarget` are this CPU
/// (`#attn.cpu`); "nvptx:sm_90a" is a GPU of that architecture (`#attn.gpu`), which need not be here, and "nvptx" the
/// one that is compiled for by default. An error names what there is.
image::Result<mlir::Attribute> parseTargetAttr(mlir::MLIRContext *context, llvm::StringRef name);

/// `target`, or the machine that the compiler runs on where that is null.
mlir::Attribute targetOrHost(mlir::MLIRContext *context, mlir::Attribute target);

/// The name of a machine in kernel images: "cpu:znver3", "nvptx:sm_90a".
std::string getTargetName(mlir::Attribute target);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_COMPILETARGET_H
