//===- GpuKernelTraits.cpp - What kernels ask of a GPU ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/attn/RegionOps.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

int64_t attnc::gpu::getDims(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); }

Type attnc::gpu::getOperandType(KernelOpInterface kernel) {
  return cast<RankedTensorType>(kernel.getQuery().getType()).getElementType();
}

void SharedUse::add(StringRef what, int64_t count, int64_t rows, int64_t dims) {
  int64_t size = rows * getSharedRowBytes(kernel, dims);
  bytes += count * size;
  sum += (sum.empty() ? "" : " + ") + std::to_string(count) + " * " + std::to_string(size) + " (" + what.str() + ")";
}

void SharedUse::addParts(StringRef what, int64_t rows, int64_t dims) {
  int64_t size = rows * getSharedRowBytesOfParts(dims);
  bytes += size;
  sum += " + " + std::to_string(size) + " (parts of " + what.str() + ")";
}

void SharedUse::addRows(int64_t parts, int64_t rows) {
  constexpr int64_t bits = 32;
  int64_t size = parts * attnc::tile::SharedLayout::countRowBytes(rows, bits);
  bytes += size;
  sum += " + " + std::to_string(size) + " (rows)";
}

SharedUse attnc::gpu::getSharedUse(KernelOpInterface kernel, ScheduleAttr schedule) {
  SharedUse use{kernel, 0, {}};
  PipelineAttr pipeline = schedule.getPipeline();
  int64_t dims = kernel.getHeadDim();
  Value value = kernel.getValueOrNull();
  use.add("queries", pipeline.getQueryStages(), schedule.getQueryTile(), dims);
  use.add("keys", pipeline.countLogitStages(), schedule.getKeyTile(), dims);
  if (value)
    use.add("values", pipeline.getStages(), schedule.getKeyTile(), getDims(value));
  if (pipeline.getSplitFloats()) {
    use.addParts("keys", schedule.getKeyTile(), dims);
    if (value)
      use.addParts("values", schedule.getKeyTile(), getDims(value));
  }
  if (int64_t parts = schedule.countPartsOfRows(); parts > 1) {
    use.add("weights", pipeline.getWeightsAhead() ? 2 : 1, schedule.getRows(), schedule.getKeyTile());
    use.addRows(parts, schedule.getRows());
  }
  if (int64_t stages = pipeline.getCaptureStages())
    use.add("captured tiles", stages * countCapturedTiles(kernel), schedule.getQueryTile(), schedule.getKeyTile());
  if (value && pipeline.getEpilogue() != Epilogue::Direct)
    use.add("output", 1, schedule.getQueryTile(),
            pipeline.getEpilogue() == Epilogue::Slabs ? std::min<int64_t>(64, getDims(value)) : getDims(value));
  return use;
}

int64_t attnc::gpu::countCapturedTiles(KernelOpInterface kernel) {
  constexpr unsigned bits = 16;
  int64_t count = 0;
  auto add = [&](LoadOp load) {
    int64_t last = load.getTensor().getType().getRank() - 1;
    auto lies = [&](int64_t dim, Coordinate axis) { return getIndexCoordinate(load, dim) == axis; };
    // Copies begin with whole units along the last dimension, and packed sequences with any element.
    auto liesLast = [&](Coordinate axis) {
      return lies(last, axis) && !(axis == Coordinate::Key ? kernel.areKeysPacked() : kernel.isPacked());
    };
    auto liesBefore = [&](Coordinate axis) {
      return llvm::any_of(llvm::seq<int64_t>(0, last), [&](int64_t dim) { return lies(dim, axis); });
    };
    count += last > 0 && load.getResult().getType().getIntOrFloatBitWidth() == bits &&
             ((liesLast(Coordinate::Key) && liesBefore(Coordinate::Query)) ||
              (liesLast(Coordinate::Query) && liesBefore(Coordinate::Key)));
  };
  kernel.getScore().walk(add);
  if (Region *derivative = kernel.getDerivativeOrNull())
    derivative->walk(add);
  return count;
}

bool attnc::gpu::mayShareCapturesOverBatch(KernelOpInterface kernel) {
  auto isShared = [](LoadOp load) {
    llvm::SmallDenseSet<Coordinate> axes; // along which there is more than one element, as far as the type says
    for (int64_t dim = 0; dim < load.getTensor().getType().getRank(); ++dim) {
      std::optional<Coordinate> axis = getIndexCoordinate(load, dim);
      int64_t size = load.getTensor().getType().getDimSize(dim);
      if (axis && size != 1 && (axis != Coordinate::Batch || !ShapedType::isDynamic(size)))
        axes.insert(*axis);
    }
    return !axes.contains(Coordinate::Batch) && axes.size() == 3;
  };
  return kernel.getScore()
      .walk([&](LoadOp load) { return isShared(load) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

bool attnc::gpu::fitsShared(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target, int64_t blocks) {
  return blocks * (getSharedUse(kernel, schedule).bytes + barrierBytes) <= target.getSharedBytes();
}

int64_t attnc::gpu::getLargestDims(KernelOpInterface kernel) {
  Value value = kernel.getValueOrNull();
  return std::max<int64_t>(kernel.getHeadDim(), value ? getDims(value) : 0);
}

/// Bytes that a block mask holds for a step: of each range of a tensor that differs from step to step, or that other
/// ranges place, the least and the greatest element.
static int64_t blockMaskBytesOfStep(KernelOpInterface kernel, Coordinate columns) {
  constexpr unsigned wordBits = 32;
  Block &block = kernel.getBlocks().front();
  llvm::DenseSet<Value> varying;
  for (Value argument : block.getArguments())
    if (getCoordinate(argument) == columns)
      varying.insert(argument);
  int64_t bytes = 0;
  for (Operation &op : block) {
    bool varies = llvm::any_of(op.getOperands(), [&](Value value) { return varying.contains(value); });
    auto range = dyn_cast<LoadRangeOp>(op);
    if (range && varies) {
      auto element = cast<RankedTensorType>(range.getTensor().getType()).getElementType();
      bytes += 2 * std::max(wordBits, element.getIntOrFloatBitWidth()) / 8;
    }
    if (range || varies)
      varying.insert(op.getResults().begin(), op.getResults().end());
  }
  return bytes;
}

bool attnc::gpu::needsBlockMask(KernelOpInterface kernel, Coordinate columns) {
  return !kernel.getBlocks().empty() &&
         blockMaskBytesOfStep(kernel, columns) * attnc::tile::lanesOfWarp <= attnc::tile::blockMaskMinMaxBytes;
}

bool attnc::gpu::startsEarly(KernelOpInterface kernel, GpuTargetAttr target) {
  return needsBlockMask(kernel) && target.getEarlyStart();
}

bool attnc::gpu::isBoundByFunctions(KernelOpInterface kernel) {
  bool found = false;
  kernel.getScore().walk([&](Operation *op) { found |= getFunctionFacts(op).isSlow(); });
  return found;
}

/// The first key that a tile of queries can see; null where all keys are kept.
static Value getFirstKey(KernelOpInterface kernel) {
  return kernel.getBounds().empty() ? Value() : kernel.getBounds().front().getTerminator()->getOperand(0);
}

bool attnc::gpu::hasWindow(KernelOpInterface kernel) {
  Value first = getFirstKey(kernel);
  return first && !matchPattern(first, m_Zero());
}

bool attnc::gpu::hasChunks(KernelOpInterface kernel) {
  if (!hasWindow(kernel))
    return false;
  SetVector<Operation *> slice;
  BackwardSliceOptions inRegion;
  inRegion.omitBlockArguments = true;
  if (failed(getBackwardSlice(getFirstKey(kernel), &slice, inRegion)))
    return false;
  return llvm::any_of(slice,
                      [](Operation *op) { return isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(op); });
}
