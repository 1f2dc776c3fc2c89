//===- BitMasks.h - Bits that a condition keeps or drops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_BITMASKS_H
#define ATTNC_CODEGEN_NVPTX_BITMASKS_H

#include "llvm/IR/Module.h"

namespace attnc::nvptx {

/// Makes a mask of each condition that keeps or drops bits of words in several blocks, or within a loop, where the
/// condition is known, and `and` of the selections. ptxas (13.0 to 13.5) makes such masks by itself where an `and`
/// reads a selection, in the first of two loops that use one, and reads the register in the second also where the first
/// had no step; an unrolled loop is two. Runs after all passes, which would make selections again.
/// test/codegen/nvptx/stale_masks.py finds such faults in machine code.
void defineBitMasks(llvm::Module &module);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_BITMASKS_H
