//===- NvJitLink.h - The toolkit's assembler as a library -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_NVJITLINK_H
#define ATTNC_CODEGEN_NVPTX_NVJITLINK_H

#include "codegen/nvptx/Assembler.h"

namespace attnc::nvptx {

/// Whether a library is there that this can use.
bool hasNvJitLink();

/// The file of that library; empty where there is none.
std::string getNvJitLinkPath();

/// Assembles `ptx` in this process, at a level of optimization; only where `hasNvJitLink()`. An empty result where the
/// library does not know `arch`.
image::Result<AssembledKernel> assembleByNvJitLink(llvm::StringRef ptx, llvm::StringRef arch, int level);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_NVJITLINK_H
