//===- RowCopy.cpp - Tensors that the copy unit cannot take ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/RowCopy.h"

#include <algorithm>
#include <cstring>

using attnc::runtime::ArgSpec;
using attnc::runtime::Result;
using attnc::runtime::Status;

namespace attnc::cuda {
namespace {

constexpr int blockThreads = 256, warpThreads = 32, blockRows = blockThreads / warpThreads;

/// Blocks of a multiprocessor: as many as keep memory busy.
constexpr int64_t blocksPerMultiprocessor = 16;

/// A warp copies a row, and goes on to another as many rows on as there are warps. The parameter is
/// `RowCopy::Parameters`.
constexpr const char *ptx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry attnc_copy_rows(.param .align 8 .b8 rows[128]) {
  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<8>;
  .reg .b64 %from, %to, %count, %units, %row, %step, %rest, %at, %lane, %unit, %bytes, %source, %target;
  .reg .b64 %size<4>, %in<4>, %out<4>;
  ld.param.u64 %from, [rows];
  ld.param.u64 %to, [rows+8];
  ld.param.u64 %count, [rows+16];
  ld.param.u64 %units, [rows+24];
  ld.param.u64 %size1, [rows+40];
  ld.param.u64 %size2, [rows+48];
  ld.param.u64 %size3, [rows+56];
  ld.param.u64 %in0, [rows+64];
  ld.param.u64 %in1, [rows+72];
  ld.param.u64 %in2, [rows+80];
  ld.param.u64 %in3, [rows+88];
  ld.param.u64 %out0, [rows+96];
  ld.param.u64 %out1, [rows+104];
  ld.param.u64 %out2, [rows+112];
  ld.param.u64 %out3, [rows+120];
  cvta.to.global.u64 %from, %from;
  cvta.to.global.u64 %to, %to;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  shr.u32 %r4, %r1, 5;
  and.b32 %r5, %r1, 31;
  cvt.u64.u32 %lane, %r5;
  mul.wide.u32 %row, %r2, 8;
  cvt.u64.u32 %at, %r4;
  add.u64 %row, %row, %at;
  mul.wide.u32 %step, %r3, 8;
ROW:
  setp.ge.u64 %p1, %row, %count;
  @%p1 bra DONE;
  mov.u64 %source, %from;
  mov.u64 %target, %to;
  rem.u64 %at, %row, %size3;
  div.u64 %rest, %row, %size3;
  mad.lo.u64 %source, %at, %in3, %source;
  mad.lo.u64 %target, %at, %out3, %target;
  rem.u64 %at, %rest, %size2;
  div.u64 %rest, %rest, %size2;
  mad.lo.u64 %source, %at, %in2, %source;
  mad.lo.u64 %target, %at, %out2, %target;
  rem.u64 %at, %rest, %size1;
  div.u64 %rest, %rest, %size1;
  mad.lo.u64 %source, %at, %in1, %source;
  mad.lo.u64 %target, %at, %out1, %target;
  mad.lo.u64 %source, %rest, %in0, %source;
  mad.lo.u64 %target, %rest, %out0, %target;
  mov.u64 %unit, %lane;
UNIT:
  setp.ge.u64 %p2, %unit, %units;
  @%p2 bra NEXT;
  shl.b64 %bytes, %unit, 1;
  add.u64 %at, %source, %bytes;
  ld.global.u16 %h1, [%at];
  add.u64 %at, %target, %bytes;
  st.global.u16 [%at], %h1;
  add.u64 %unit, %unit, 32;
  bra UNIT;
NEXT:
  add.u64 %row, %row, %step;
  bra ROW;
DONE:
  ret;
}
)";
static_assert(sizeof(RowCopy::Parameters) == 128 && blockRows == 8 && RowCopy::unitBytes == 2,
              "the kernel is written for these");

/// The bytes of whole units of the copy unit that hold `bytes`.
int64_t roundToUnits(int64_t bytes) {
  constexpr int64_t alignment = runtime::tensorMapUnitBytes;
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

bool RowCopy::serves(const ArgSpec &arg, const int64_t *slots) {
  const auto rank = static_cast<int>(arg.dims.size());
  const int64_t *sizes = slots + 1, *strides = sizes + rank;
  if (rank < 1 || rank > maxDims + 1 || byteSize(arg.dtype) % unitBytes != 0 ||
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
  rows.units = sizes[rank - 1] * elementBytes / unitBytes;
  rows.rows = 1;
  // Rows follow each other, each from a multiple of what the copy unit wants on.
  int64_t span = roundToUnits(sizes[rank - 1] * elementBytes);
  slots[0] = offset;
  strides[rank - 1] = 1;
  for (int d = rank - 2, place = maxDims - 1; d >= 0; --d, --place) {
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
      Module::load(device, {reinterpret_cast<const uint8_t *>(ptx), std::strlen(ptx)}, "copy_rows");
  if (!code)
    return code.takeError();
  Result<Function> prepared = (*code)->prepare("attnc_copy_rows", blockThreads, /*sharedBytes=*/0);
  if (!prepared)
    return prepared.takeError();
  function = *prepared;
  module = std::move(*code);
  return {};
}

DriverResult RowCopier::launch(const Device &device, const RowCopy::Parameters &rows, StreamHandle stream) const {
  LaunchConfig config = {};
  const int64_t most = int64_t{device.facts().multiprocessors} * blocksPerMultiprocessor;
  config.gridX = static_cast<unsigned>(std::min((rows.rows + blockRows - 1) / blockRows, most));
  config.gridY = config.gridZ = config.blockY = config.blockZ = 1;
  config.blockX = blockThreads;
  config.stream = stream;
  void *parameters[] = {const_cast<RowCopy::Parameters *>(&rows)};
  return launchFunction(device, function, config, parameters);
}

} // namespace attnc::cuda
