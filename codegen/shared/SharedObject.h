//===- SharedObject.h - A kernel as a shared object -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What `attnc compile --emit shared` writes: a kernel image with functions that launch it, for programs and for hosts
// of TVM FFI (runtime/include/attnc/object.h). docs/rationale/shared-objects.md says how it is made and why.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SHARED_SHAREDOBJECT_H
#define ATTNC_CODEGEN_SHARED_SHAREDOBJECT_H

#include "codegen/image/KernelImage.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace attnc::shared {

/// The shared object of `image`, which is for a GPU or for this kind of CPU.
struct SharedObject {
  const image::KernelImage &image;
  llvm::StringRef fileName;                ///< what programs that are linked with it look for
  std::optional<llvm::StringRef> features; ///< what the code needs of a CPU, "+avx2,+fma"; nothing for GPUs
};

/// Whether functions of C can be named after `image`: an error says what its name should be.
image::Status checkName(const image::KernelImage &image);

/// The bytes of `object`, by the linker that is found in the PATH.
image::Result<std::string> link(const SharedObject &object);

/// The relocatable object with the image and the functions around it; the code of a CPU's kernel is an object of its
/// own.
image::Result<llvm::SmallVector<char, 0>> writeGlue(const SharedObject &object);

/// What the object exports, by the name of its kernel.
std::vector<std::string> listExports(const image::KernelImage &image);

/// What it takes of libattnc-runtime.
llvm::ArrayRef<llvm::StringLiteral> listImports();

} // namespace attnc::shared

#endif // ATTNC_CODEGEN_SHARED_SHAREDOBJECT_H
