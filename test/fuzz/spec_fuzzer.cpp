//===- spec_fuzzer.cpp - Fuzzes the way from text to tile program *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The input is a spec. It may be refused, with a diagnostic, at any step; it must not crash one. What is accepted must
// print and parse again.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn/KernelFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"

using namespace mlir;
using namespace attnc;

/// Longer inputs teach nothing new.
static constexpr size_t maxInputBytes = 8192;

/// Stops the fuzzer when `condition` does not hold, also without assertions.
static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A context with the dialects of a spec, which throws diagnostics away but counts errors.
namespace {
class FuzzContext {
public:
  FuzzContext()
      : context(MLIRContext::Threading::DISABLED), handler(&context, [this](Diagnostic &diagnostic) {
          errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
          return success();
        }) {
    context.loadDialect<attn::AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  }

  MLIRContext context;
  unsigned errors = 0;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// What is printed must be a spec again.
static void requireRoundTrip(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  FuzzContext other;
  require(static_cast<bool>(parseSourceString<ModuleOp>(text, &other.context)));
}

/// Runs a pipeline; a failure must have said why.
static bool run(ModuleOp module, FuzzContext &fuzz, void (*build)(OpPassManager &)) {
  PassManager pm(module.getContext());
  build(pm);
  fuzz.errors = 0;
  bool passed = succeeded(pm.run(module));
  require(passed || fuzz.errors > 0);
  return passed;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > maxInputBytes)
    return -1;
  FuzzContext fuzz;
  StringRef text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &fuzz.context);
  if (!module) {
    require(fuzz.errors > 0);
    return 0;
  }
  requireRoundTrip(*module);
  FailureOr<func::FuncOp> function = attn::findKernelFunction(*module, "");
  if (failed(function) || failed(attn::KernelFunction::get(*function)))
    return 0;
  (*module)->setAttr(attn::targetAttrName,
                     attn::CpuTargetAttr::get(&fuzz.context, "generic", "", /*vector_bits=*/256, 16, 32768, 524288,
                                              /*bf16_tiles=*/false, /*bf16_dots=*/false));
  if (run(*module, fuzz, buildAttnPipeline))
    run(*module, fuzz, buildTilePipeline);
  return 0;
}
