//===- Work.cpp - Operations and bytes that a kernel needs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/Work.h"
#include "codegen/describe/Types.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/RegionOps.h"
#include "passes/attn/ElementRegisters.h"
#include "llvm/Support/Format.h"

using namespace attnc;
using namespace attnc::explain;

/// Functions of the score region, each about as much work as an exponential, that are computed for every pair.
static int64_t countFunctions(mlir::Region &score) {
  return llvm::count_if(attn::getOperationsOfPairs(score),
                        [](mlir::Operation *op) { return attn::getFunctionFacts(op).work >= 1; });
}

Work explain::countWork(const attn::KernelFunction &kernel, const jit::Shapes &shapes, llvm::ArrayRef<MaskWork> masks) {
  Work work;
  for (auto [op, mask] : llvm::zip_equal(kernel.kernels, masks)) {
    attn::KernelOpInterface interface = op;
    mlir::Value value = interface.getValueOrNull();
    int64_t valueDim = value ? mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().back() : 0;
    auto headDim = static_cast<double>(interface.getHeadDim()), dims = headDim + static_cast<double>(valueDim);
    // Gradients take logits, those of weights, dV, dQ and dK: forward's two products, twice, and one.
    if (mlir::isa<attn::BackwardOp>(interface.getOperation()))
      dims += dims + headDim;
    work.flops += 2 * dims * mask.keptPairs;
    work.exponentials += static_cast<double>(1 + countFunctions(interface.getScore())) * mask.keptPairs;
  }
  for (const auto *list : {&kernel.inputs, &kernel.outputs})
    for (const attn::KernelArgument &argument : *list) {
      double bytes = static_cast<double>(image::byteSize(describe::elementDType(argument)));
      for (int64_t size : shapes.shapeOf(argument))
        bytes *= static_cast<double>(size);
      work.bytes += bytes;
    }
  return work;
}

std::string explain::printScaled(double value) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < std::size(prefixes); ++prefix)
    value /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g ", value) << prefixes[prefix];
  return text;
}
