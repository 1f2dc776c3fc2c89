//===- Nvrtc.h - CUDA C++ to machine code -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_NVRTC_H
#define ATTNC_CODEGEN_NVRTC_NVRTC_H

#include "codegen/image/Error.h"
#include "codegen/nvptx/AssemblerReport.h"
#include "llvm/ADT/StringRef.h"

namespace attnc::nvrtc {

/// CUDA C++ to be compiled.
struct CudaSource {
  std::string text;
  std::string name = "kernel.cu"; ///< what errors call it
};

/// What NVRTC makes of it.
struct CompiledCuda {
  std::vector<uint8_t> code; ///< machine code; PTX, which ends with a zero, where that was asked for
  nvptx::AssemblerReport report;
};

/// Compiles `source` for `arch` ("sm_90a"), to PTX where `toPtx`. The library is the file that ATTNC_NVRTC names, or
/// else is looked for where the loader does, in CUDA_HOME, CUDA_PATH and /usr/local/cuda, and among the packages that
/// PyPI has of the toolkit's parts (`nvidia-cuda-nvrtc`). Errors are those of the compiler, with the lines of the
/// source; where there is no library, the error says where it was looked for.
///
/// Products and sums are not fused unless the source says so: what the kernels of attnc compute does not depend on what
/// compiles them.
image::Result<CompiledCuda> compileCuda(const CudaSource &source, llvm::StringRef arch, bool toPtx);

/// Which library that is, and what tells it from another version; empty where there is none.
std::string describeNvrtc();

/// That there is no library, and where it was looked for.
std::string explainMissing();

/// The text of `attnc_device.cuh`, which sources include.
llvm::StringRef getDeviceHeader();

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_NVRTC_H
