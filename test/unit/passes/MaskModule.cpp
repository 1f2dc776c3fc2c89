//===- MaskModule.cpp - A mask in a kernel, with its bounds -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "MaskModule.h"
#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/attn/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attnc;
using namespace attnc::test;

StringRef attnc::test::captureName(unsigned number) {
  static constexpr StringLiteral names[] = {"q", "k", "v", "qs", "ks", "bits", "table", "len", "w"};
  return names[number];
}

SmallVector<int64_t> attnc::test::captureShape(StringRef name, const Problem &problem) {
  if (name == "qs")
    return {Problem::batch, problem.queries};
  if (name == "ks")
    return {Problem::batch, problem.keys};
  if (name == "bits")
    return {Problem::batch, 1, problem.queries, problem.keys};
  return {name == "table" ? Problem::tableSize : Problem::batch};
}

/// A function of one kernel whose mask is `maskText`. What it captures has the same numbers among the arguments in both
/// directions, and %w comes last.
static std::string writeKernel(const std::string &maskText, Direction direction) {
  const std::string rows = "tensor<?x?x4x8xf32>", lse = "tensor<?x4x?xf32>", inputs = rows + ", " + rows + ", " + rows;
  const bool isBackward = direction == Direction::Backward;
  const std::string results = isBackward ? "(" + inputs + ")" : rows;
  std::string text = "func.func @kernel(%q: " + rows + ", %k: " + rows + ", %v: " + rows +
                     ", %qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>, %bits: tensor<?x1x?x?xi1>, "
                     "%table: tensor<24xi32>, %len: tensor<?xi32>, ";
  if (isBackward)
    text += "%o: " + rows + ", %lse: " + lse + ", %do: " + rows + ", ";
  text += "%w: index) -> " + results + " {\n";
  text += isBackward ? "%r:3 = attn.backward %q, %k, %v, %o, %lse, %do" : "%r = attn.forward %q, %k, %v";
  text += " mask (%b, %h, %i, %j) {\n" + maskText + "attn.yield %keep : i1\n}\n: (" + inputs;
  if (isBackward)
    text += ", " + rows + ", " + lse + ", " + rows;
  text += ") -> " + results + "\n";
  text += (isBackward ? "return %r#0, %r#1, %r#2 : " + inputs : "return %r : " + rows) + "\n}\n";
  return text;
}

MaskModule::MaskModule(const std::string &maskText, Passes passes, Direction direction) {
  context.loadDialect<attn::AttnDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  const std::string text = writeKernel(maskText, direction);
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "cannot read\n" << text;
    return;
  }
  PassManager pm(&context);
  bool simplified = passes != Passes::Bare;
  if (simplified)
    pm.addPass(createCanonicalizerPass());
  pm.addPass(attn::createAttnExpand());
  if (simplified) {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  }
  pm.addPass(attn::createAttnInferBounds());
  if (passes == Passes::Legalized) {
    pm.addPass(attn::createAttnNarrowDivisions());
    pm.addPass(attn::createAttnLegalizeIndex());
  }
  if (simplified) {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  }
  if (failed(pm.run(*module))) {
    ADD_FAILURE() << "the passes failed on\n" << text;
    return;
  }
  module->walk([this](attn::KernelOpInterface op) { kernel = op; });
}
