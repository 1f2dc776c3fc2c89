//===- TrailingZeros.h - Counts of trailing zeros ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_TRAILINGZEROS_H
#define ATTNC_CODEGEN_NVPTX_TRAILINGZEROS_H

#include "llvm/IR/Module.h"

namespace attnc::nvptx {

/// Writes counts of trailing zeros of 64-bit words as `ctpop((x - 1) & ~x)`, which is 64 for 0 without a selection.
/// LLVM 22 does the same after it has given `popc.b64` the 32 bits of its result, and crashes where the count is then
/// compared with 1 or 2: `ctpop(x) > 1` becomes `(x & (x - 1)) != 0`, of two widths. Runs after all passes, which would
/// make `cttz` of it again.
void defineTrailingZeros(llvm::Module &module);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_TRAILINGZEROS_H
