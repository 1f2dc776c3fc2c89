//===- Work.cpp - Operations and bytes that a kernel needs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/Work.h"
#include "codegen/describe/Types.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/RegionOps.h"
#include "passes/attn/ElementRegisters.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace attnc;
using namespace attnc::explain;

/// Functions in regions of `kernel`, each about as much work as an exponential, that are computed for every pair. A
/// derivative writes those down again that the score has: of each kind, the region with more of them counts.
static int64_t countFunctions(attn::KernelOpInterface kernel) {
  llvm::SmallDenseMap<mlir::OperationName, int64_t> most;
  for (mlir::Region *region : {&kernel.getScore(), kernel.getDerivativeOrNull()}) {
    if (!region)
      continue;
    llvm::SmallDenseMap<mlir::OperationName, int64_t> counts;
    for (mlir::Operation *op : attn::getOperationsOfPairs(*region))
      if (attn::getFunctionFacts(op).work >= 1)
        ++counts[op->getName()];
    for (auto [name, count] : counts)
      most[name] = std::max(most[name], count);
  }
  return llvm::sum_of(llvm::make_second_range(most), int64_t(0));
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
    work.exponentials += static_cast<double>(1 + countFunctions(interface)) * mask.keptPairs;
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
