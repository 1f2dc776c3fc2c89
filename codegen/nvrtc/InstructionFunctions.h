//===- InstructionFunctions.h - Assembly as device functions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_INSTRUCTIONFUNCTIONS_H
#define ATTNC_CODEGEN_NVRTC_INSTRUCTIONFUNCTIONS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"

namespace attnc::nvrtc {

/// What a piece of assembly is as a device function.
struct InstructionCall {
  std::string function;  ///< its name, with the template argument that it may have
  int64_t results = 0;   ///< elements of the array that it writes; 0: it returns what it gives, if anything
  size_t firstInput = 0; ///< operands before it are what the array holds when it is called
};

/// Writes a device function for each piece of assembly that differs from all others in more than a number.
class InstructionFunctions {
public:
  /// The function for `op`; new ones are written.
  InstructionCall get(mlir::LLVM::InlineAsmOp op);

  /// All functions, in the order in which they were first used.
  std::string take() { return std::move(text); }

private:
  std::string text;
  /// The names of functions, by all but their names.
  llvm::StringMap<std::string> written;
  llvm::StringMap<int64_t> names;
  int64_t pieces = 0; ///< that have a number of their own
};

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_INSTRUCTIONFUNCTIONS_H
