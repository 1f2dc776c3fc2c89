//===- RowCopy.cpp - Tensors that the copy unit cannot take ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/RowCopy.h"
#include "runtime/cuda/RowCopyKernel.ptx.h"

#include <algorithm>
#include <cstring>

using attnc::image::ArgSpec;
using attnc::image::Result;
using attnc::image::Status;

namespace attnc::cuda {
namespace {

/// Blocks of a multiprocessor: as many as keep memory busy.
constexpr int64_t blocksPerMultiprocessor = 16;

/// The bytes of whole units of the copy unit that hold `bytes`.
int64_t roundToUnits(int64_t bytes) {
  constexpr int64_t alignment = image::tensorMapUnitBytes;
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

bool RowCopy::serves(const ArgSpec &arg, const int64_t *slots) {
  const auto rank = static_cast<int>(arg.dims.size());
  const int64_t *sizes = slots + 1, *strides = sizes + rank;
  if (rank < 1 || rank > Parameters::maxDims + 1 || byteSize(arg.dtype) % Parameters::unitBytes != 0 ||
      (sizes[rank - 1] != 1 && strides[rank - 1] != 1))
    return false;
  // Strides of 0 make tensors that no memory holds.
  int64_t bytes = roundToUnits(sizes[rank - 1] * byteSize(arg.dtype));
  for (int d = 0; d < rank - 1; ++d)
    if (__builtin_mul_overflow(bytes, sizes[d], &bytes))
      return false;
  return true;
}

RowCopy::RowCopy(const ArgSpec &arg, size_t number, int64_t *slots, int64_t offset) : number(number), begin(offset) {
  const auto rank = static_cast<int>(arg.dims.size());
  const int64_t elementBytes = byteSize(arg.dtype);
  int64_t *sizes = slots + 1, *strides = sizes + rank;
  rows.from = slots[0];
  rows.units = sizes[rank - 1] * elementBytes / Parameters::unitBytes;
  rows.rows = 1;
  // Rows follow each other, each from a multiple of what the copy unit wants on.
  int64_t span = roundToUnits(sizes[rank - 1] * elementBytes);
  slots[0] = offset;
  strides[rank - 1] = 1;
  for (int d = rank - 2, place = Parameters::maxDims - 1; d >= 0; --d, --place) {
    rows.sizes[place] = sizes[d];
    rows.fromStrides[place] = strides[d] * elementBytes;
    rows.toStrides[place] = span;
    // One position takes no step; where it stands for all, its stride is 0.
    if (sizes[d] > 1)
      strides[d] = span / elementBytes;
    rows.rows *= sizes[d];
    span *= sizes[d];
  }
  bytes = span;
}

RowCopy::Parameters RowCopy::toMemory(DeviceAddress workspace) const {
  Parameters parameters = rows;
  parameters.to = static_cast<int64_t>(workspace) + begin;
  return parameters;
}

RowCopy::Parameters RowCopy::toTensor(DeviceAddress workspace) const {
  Parameters parameters = toMemory(workspace);
  std::swap(parameters.from, parameters.to);
  std::swap(parameters.fromStrides, parameters.toStrides);
  return parameters;
}

Status RowCopier::load(const DeviceRef &device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (module)
    return {};
  Result<std::unique_ptr<Module>> code =
      Module::load(device, {reinterpret_cast<const uint8_t *>(rowCopyKernel), std::strlen(rowCopyKernel)}, "copy_rows");
  if (!code)
    return code.takeError();
  Result<Function> prepared = (*code)->prepare("attnc_copy_rows", RowCopy::Parameters::blockThreads, /*sharedBytes=*/0);
  if (!prepared)
    return prepared.takeError();
  function = *prepared;
  module = std::move(*code);
  return {};
}

DriverResult RowCopier::launch(const Device &device, const RowCopy::Parameters &rows, StreamHandle stream) const {
  LaunchConfig config = {};
  const int64_t most = int64_t{device.facts().multiprocessors} * blocksPerMultiprocessor;
  config.gridX = static_cast<unsigned>(std::min((rows.rows + rows.blockRows - 1) / rows.blockRows, most));
  config.gridY = config.gridZ = config.blockY = config.blockZ = 1;
  config.blockX = rows.blockThreads;
  config.stream = stream;
  void *parameters[] = {const_cast<RowCopy::Parameters *>(&rows)};
  return launchFunction(device, function, config, parameters);
}

} // namespace attnc::cuda
