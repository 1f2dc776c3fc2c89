//===- GpuScheduleParts.cpp - What schedules of GPUs share ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/tile/SharedLayout.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;
using namespace attnc::gpu;

static int64_t getElementBits(KernelOpInterface kernel) {
  return cast<RankedTensorType>(kernel.getQuery().getType()).getElementTypeBitWidth();
}

bool attnc::gpu::usesWarpgroups(KernelOpInterface kernel, GpuTargetAttr target) {
  if (kernel.isPaged() && kernel.getPageRows() % tile::SharedLayout::rowsTogether != 0)
    return false;
  return target.getWarpgroupMma() && target.getTensorCopies() && getElementBits(kernel) == 16;
}

bool attnc::gpu::mayHavePanel(PipelineAttr pipeline, int64_t rows) {
  return rows == warpgroupRows || (pipeline.getStaging() == Staging::CpAsync && rows == wideRows);
}

int64_t attnc::gpu::getL2BytesOfSection(GpuTargetAttr target) { return target.getL2Bytes() / 5 * 3; }

int64_t attnc::gpu::getSectionBytes(KernelOpInterface kernel, GpuTargetAttr target) {
  return kernel.getMask().empty() ? 0 : getL2BytesOfSection(target);
}

int64_t attnc::gpu::getSharedRowBytes(KernelOpInterface kernel, int64_t dims) {
  return tile::SharedLayout::countRowBytes(dims, getElementBits(kernel));
}

int64_t attnc::gpu::getSharedRowBytesOfParts(int64_t dims) {
  constexpr int64_t partBits = 16;
  return tile::floatParts * tile::SharedLayout::countRowBytes(dims, partBits);
}

bool attnc::gpu::multipliesParts(KernelOpInterface kernel) {
  return getElementBits(kernel) == 32 && !kernel.mayRoundToTf32();
}

bool attnc::gpu::sharesAsBefore(GpuTargetAttr target, int64_t before, int64_t after) {
  auto count = [&](int64_t bytes) { return std::min<int64_t>(2, target.getSharedBytes() / (bytes + barrierBytes)); };
  return count(after) > 0 && count(after) == count(before);
}

/// Registers that each thread of a block starts with where so many warpgroups share those of a multiprocessor: whole
/// eights. Roles exchange what is theirs then (PTX ISA 9.7.19.5, setmaxnreg), and wait for ever for what nobody had.
int64_t attnc::gpu::getRegistersAtStart(GpuTargetAttr target, int64_t warpgroups) {
  constexpr int64_t unit = 8;
  return target.getRegisters() / (warpgroups * warpgroupThreads) / unit * unit;
}

LogicalResult attnc::gpu::checkRegistersOfRoles(KernelOpInterface kernel, PipelineAttr pipeline, GpuTargetAttr target) {
  int64_t consumers = pipeline.getConsumers(), warpgroups = pipeline.countWarpgroups();
  int64_t threads = warpgroups * warpgroupThreads, has = threads * getRegistersAtStart(target, warpgroups);
  int64_t needs = warpgroupThreads * (pipeline.getProducerRegisters() + consumers * pipeline.getConsumerRegisters() +
                                      pipeline.getReducerRegisters());
  if (needs <= has)
    return success();
  std::string reducer =
      pipeline.getReducerRegisters() ? " + " + std::to_string(pipeline.getReducerRegisters()) : std::string();
  return kernel.emitError() << "the schedule needs " << needs << " registers (" << warpgroupThreads << " * ("
                            << pipeline.getProducerRegisters() << " + " << consumers << " * "
                            << pipeline.getConsumerRegisters() << reducer << ")), but " << target.getArch() << " has "
                            << has << " for " << threads << " threads";
}
