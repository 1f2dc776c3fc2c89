//===- CudaFile.h - Kernels that were edited --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_CUDAFILE_H
#define ATTNC_TOOLS_ATTNC_CUDAFILE_H

#include "codegen/target/Backend.h"
#include "tools/attnc/CommandLine.h"

namespace attnc::cli {

/// The file that --cuda names, or nothing without one. It goes with a target whose kernels are CUDA C++.
image::Result<std::optional<target::SourceFile>> readCudaFile(const llvm::opt::InputArgList &args);

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_CUDAFILE_H
