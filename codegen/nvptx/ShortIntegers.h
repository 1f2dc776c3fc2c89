//===- ShortIntegers.h - Integers of 16 bits and less on GPUs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_SHORTINTEGERS_H
#define ATTNC_CODEGEN_NVPTX_SHORTINTEGERS_H

#include "llvm/IR/Module.h"

namespace attnc::nvptx {

/// Computes in 32 bits what ptxas 13.0 gets wrong in 16: it makes one instruction of a minimum or maximum and its
/// comparison with an operand, and reads the wrong half of the answer; and it takes neg.s16 and abs.s16 of -32768 for
/// 32768, where others follow that compare the result or extend it. Runs after all passes, which would narrow them
/// again.
void widenShortIntegers(llvm::Module &module);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_SHORTINTEGERS_H
