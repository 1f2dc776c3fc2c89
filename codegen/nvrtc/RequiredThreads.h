//===- RequiredThreads.h - How many threads blocks have ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_REQUIREDTHREADS_H
#define ATTNC_CODEGEN_NVRTC_REQUIREDTHREADS_H

#include "codegen/image/KernelImage.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace attnc::nvrtc {

/// Says in `ptx`, NVRTC's, that blocks of `entries` have exactly as many threads as launches give them (`.reqntid`),
/// where it says that they have no more (`.maxntid`). CUDA C++ has no words for the first: `__launch_bounds__` bounds,
/// and `__block_size__` makes blocks clusters as well. Not knowing it, the assembler puts what one elected thread does
/// into loops over threads that differ, and spills registers of producers. Entries whose source bounds them otherwise
/// stay as they are.
void requireThreads(std::string &ptx, llvm::ArrayRef<image::KernelEntry> entries);

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_REQUIREDTHREADS_H
