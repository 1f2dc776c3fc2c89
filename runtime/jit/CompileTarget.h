//===- CompileTarget.h - What kernels are compiled for ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_COMPILETARGET_H
#define ATTNC_RUNTIME_JIT_COMPILETARGET_H

#include "mlir/IR/Attributes.h"
#include "runtime/Error.h"
#include "llvm/ADT/StringRef.h"

namespace attnc::jit {

/// The machine that `name` means, as the attribute that passes read: "cpu" and "auto" are this CPU (`#attn.cpu`);
/// "nvptx:sm_90a" is a GPU of that architecture (`#attn.gpu`), which need not be here, and "nvptx" the one that is
/// compiled for by default. An error names what there is.
runtime::Result<mlir::Attribute> parseTargetAttr(mlir::MLIRContext *context, llvm::StringRef name);

/// The name of a machine in kernel images: "cpu:znver3", "nvptx:sm_90a".
std::string getTargetName(mlir::Attribute target);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_COMPILETARGET_H
