//===- HighWords.h - Upper words of products on GPUs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_HIGHWORDS_H
#define ATTNC_CODEGEN_NVPTX_HIGHWORDS_H

#include "llvm/IR/Module.h"

namespace attnc::nvptx {

/// Computes the upper word of a 64-bit product, of which nothing else is wanted, in words (`mul.hi.u32`) where the back
/// end would multiply in 64 bits and take it apart. ptxas 13.0 makes one multiply-add of words of such a product by a
/// constant, its upper word and what that is multiplied by and added to, from -O2 on: a quotient by a constant, and
/// with it the remainder, is then the low word of something else. Runs after all passes, which would make 64-bit
/// products of indices that have 64 bits again.
void defineHighWords(llvm::Module &module);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_HIGHWORDS_H
