//===- CudaTools.h - Programs and libraries of the CUDA toolkit -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Nothing of CUDA is needed to build or to start the compiler; what is there when it runs is used.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_CUDATOOLS_H
#define ATTNC_CODEGEN_NVPTX_CUDATOOLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace attnc::nvptx {

/// The path of a program of the toolkit ("ptxas"), or "" where there is none. Looked for in the PATH, in $CUDA_HOME and
/// $CUDA_PATH, in /usr/local/cuda, and among the packages that PyPI has of the toolkit's parts.
std::string findCudaProgram(llvm::StringRef name);

/// Where a library of the toolkit ("libnvJitLink.so.13") may be, likeliest first; the bare name, which asks the loader,
/// is the first.
std::vector<std::string> findCudaLibrary(llvm::StringRef name);

/// Opens the library of the toolkit whose name, but for its major version, is `stem` ("libnvJitLink.so."): the first
/// for which `bind` finds all that it wants, given the library, its path and that version. It stays loaded. Returns
/// whether there is one.
bool openCudaLibrary(llvm::StringRef stem,
                     llvm::function_ref<bool(void *library, llvm::StringRef path, llvm::StringRef major)> bind);

/// A log that a library of the toolkit hands out by two functions, its size and its text; empty where they fail.
template <typename Handle>
std::string readCudaLog(Handle handle, int (*getSize)(Handle, size_t *), int (*getText)(Handle, char *)) {
  size_t size = 0;
  if (getSize(handle, &size) != 0 || size == 0)
    return "";
  std::string text(size, '\0');
  if (getText(handle, text.data()) != 0)
    return "";
  return text.substr(0, text.find('\0'));
}

/// What tells the tool in `file` from another version: its path, size and time. The path alone where it cannot be
/// looked at.
std::string describeTool(llvm::StringRef file);

/// Where tools and libraries are looked for, after the PATH or the loader's path.
inline constexpr llvm::StringLiteral cudaPlaces =
    "$CUDA_HOME, $CUDA_PATH, /usr/local/cuda or the Python packages of NVIDIA and Triton";

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_CUDATOOLS_H
