//===- NvptxBackend.h - Code for NVIDIA's GPUs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_NVPTXBACKEND_H
#define ATTNC_CODEGEN_NVPTX_NVPTXBACKEND_H

#include "codegen/nvptx/AssemblerReport.h"
#include "codegen/target/Backend.h"

namespace attnc::nvptx {

/// "nvptx:sm_90a" is a GPU of that architecture (`#attn.gpu`), which need not be here, and "nvptx" the one that is
/// compiled for by default. Stages: nvvm, llvm, ptx, cubin, sass.
///
/// An image holds machine code where something here assembles it, else PTX, which ends with a zero and which the driver
/// assembles. Machine code runs on devices of one major version alone: where the target names the GPU at hand
/// (`machine`), it is for that one. What costs time by the assembler's word is a warning. PTX that an assembler refuses
/// is left in a file where the environment has `ATTNC_KEEP_PTX`.
const target::Backend &getBackend();

/// Enters what an assembler says of `kernel` in its image, and warns of what costs time, in the name of `by`.
void takeReport(target::LoweredKernel &kernel, const AssemblerReport &report, llvm::StringRef by);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_NVPTXBACKEND_H
