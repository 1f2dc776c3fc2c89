//===- SimKernel.h - The simulator of tile programs as a target -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SIMKERNEL_H
#define ATTNC_RUNTIME_JIT_SIMKERNEL_H

#include "codegen/sim/Simulator.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/jit/Executable.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/Target.h"

namespace attnc::jit {

/// Runs the tile programs that a GPU would, on the CPU, under several interleavings of what happens at the same time
/// there (`codegen/sim`). A fault of synchronisation, or results that depend on the interleaving, are errors. Ends
/// before the session that its programs live in.
class SimKernel : public Executable {
public:
  /// Compiles `kernel` to tile programs for `target`, an `#attn.gpu`.
  static image::Result<std::unique_ptr<SimKernel>> create(Session &session, const attn::KernelFunction &kernel,
                                                          mlir::Attribute target);

  image::Status run(image::Span<const runtime::ArgValue> values) override;

private:
  SimKernel(image::KernelImage image, mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<sim::Simulator> programs)
      : Executable(std::move(image)), module(std::move(module)), programs(std::move(programs)) {}

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<sim::Simulator> programs; ///< run one after the other
};

/// The targets that simulate what GPUs would do.
llvm::ArrayRef<Target> getSimTargets();

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SIMKERNEL_H
