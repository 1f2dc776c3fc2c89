//===- CudaControlFlow.cpp - Loops and branches -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What control flow carries is a variable: declared before, assigned at the end of each body.
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaWriter.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

/// The operations of `block`, and what its end hands to `targets`.
LogicalResult CudaWriter::writeBody(Block &block, ValueRange targets) {
  ++depth;
  if (failed(writeBlock(block)))
    return failure();
  assign(targets, block.getTerminator()->getOperands());
  --depth;
  return success();
}

LogicalResult CudaWriter::writeFor(scf::ForOp loop) {
  Value counter = loop.getInductionVar();
  declareCarried(loop.getResults(), ValueRange(loop.getRegionIterArgs()));
  assign(loop.getResults(), loop.getInitArgs());
  std::string type = getTypeName(counter.getType()), name = nameFor(counter, "i");
  exprs[counter] = {name};
  // The counter wraps around as all numbers do; a comparison may read signs.
  auto compared = [&](const std::string &x) {
    return loop.getUnsignedCmp() ? x : "i" + type.substr(1) + "(" + x + ")";
  };
  // Loops stay as they are written: what is worth to be unrolled has been.
  line("#pragma unroll 1");
  line("for (" + type + " " + name + " = " + use(loop.getLowerBound()).text + "; " + compared(name) + " < " +
       compared(use(loop.getUpperBound()).text) + "; " + name + " += " + use(loop.getStep()).text + ") {");
  if (failed(writeBody(*loop.getBody(), loop.getResults())))
    return failure();
  line("}");
  return success();
}

LogicalResult CudaWriter::writeIf(scf::IfOp branch) {
  declareCarried(branch.getResults(), {});
  line("if (" + use(branch.getCondition()).text + ") {");
  if (failed(writeBody(*branch.thenBlock(), branch.getResults())))
    return failure();
  if (Block *otherwise = branch.elseBlock();
      otherwise && (!otherwise->without_terminator().empty() || branch->getNumResults())) {
    line("} else {");
    if (failed(writeBody(*otherwise, branch.getResults())))
      return failure();
  }
  line("}");
  return success();
}

LogicalResult CudaWriter::writeWhile(scf::WhileOp loop) {
  // Two sets of variables: those that a round begins with, and those that its condition hands on.
  declareCarried(loop.getBeforeArguments(), {});
  declareCarried(loop.getResults(), ValueRange(loop.getAfterArguments()));
  assign(loop.getBeforeArguments(), loop.getInits());
  line("#pragma unroll 1");
  line("while (true) {");
  ++depth;
  if (failed(writeBlock(*loop.getBeforeBody())))
    return failure();
  assign(loop.getResults(), loop.getConditionOp().getArgs());
  line("if (!" + use(loop.getConditionOp().getCondition(), Binding::Unary) + ")");
  line("  break;");
  --depth;
  if (failed(writeBody(*loop.getAfterBody(), loop.getBeforeArguments())))
    return failure();
  line("}");
  return success();
}
