//===- Magnitudes.h - Magnitudes of the least integers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_MAGNITUDES_H
#define ATTNC_CODEGEN_NVPTX_MAGNITUDES_H

#include "llvm/IR/Module.h"

namespace attnc::nvptx {

/// Finds magnitudes of 32 and 64 bits as the greater of a number and its negative where that of the least number may be
/// compared with 0: it is itself, which ptxas 13.0 does not think of when it drops such a comparison of an abs.s32 or
/// abs.s64. Those that become floats, or are compared with something else, stay: they are one instruction. Runs after
/// all passes, which would make magnitudes of them again.
void defineMagnitudes(llvm::Module &module);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_MAGNITUDES_H
