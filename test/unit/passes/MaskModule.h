//===- MaskModule.h - A mask in a kernel, with its bounds -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_PASSES_MASKMODULE_H
#define ATTNC_TEST_UNIT_PASSES_MASKMODULE_H

#include "MaskCases.h"
#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attnc::test {

/// Which passes run around attn-infer-bounds.
enum class Passes {
  Bare,
  Simplified,
  Legalized ///< simplified, and attn-legalize-index
};

/// Which operation has the mask: `attn.backward` has bounds of queries as well.
enum class Direction { Forward, Backward };

/// A kernel with a mask, after attn-infer-bounds.
class MaskModule {
public:
  /// `maskText` is what stands in the mask's region and defines %keep. A text that is refused fails the test.
  MaskModule(const std::string &maskText, Passes passes, Direction direction = Direction::Forward);

  /// Null where the text is not a kernel; then the test has failed.
  attn::KernelOpInterface getKernel() const { return kernel; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  attn::KernelOpInterface kernel;
};

/// Name of the captured tensor that is argument `number` of the kernel function.
llvm::StringRef captureName(unsigned number);
/// Its sizes.
llvm::SmallVector<int64_t> captureShape(llvm::StringRef name, const Problem &problem);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_PASSES_MASKMODULE_H
