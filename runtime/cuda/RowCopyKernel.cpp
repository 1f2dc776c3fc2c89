//===- RowCopyKernel.cpp - Copies rows between tensors ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// For the device: the build compiles this file to PTX, which the runtime holds and a driver assembles when it is
// needed.
//===----------------------------------------------------------------------===//

#include "runtime/cuda/RowCopyParameters.h"

using attnc::cuda::RowCopyParameters;

/// Global memory.
using Unit = __attribute__((address_space(1))) uint16_t;

/// A warp copies a row, and goes on to another as many rows on as there are warps.
extern "C" [[clang::device_kernel]] void attnc_copy_rows(RowCopyParameters copy) {
  const uint32_t thread = __nvvm_read_ptx_sreg_tid_x(), lane = thread % RowCopyParameters::warpThreads;
  const uint64_t step = static_cast<uint64_t>(__nvvm_read_ptx_sreg_nctaid_x()) * RowCopyParameters::blockRows;
  uint64_t row = static_cast<uint64_t>(__nvvm_read_ptx_sreg_ctaid_x()) * RowCopyParameters::blockRows +
                 thread / RowCopyParameters::warpThreads;
  for (; row < static_cast<uint64_t>(copy.rows); row += step) {
    uint64_t rest = row;
    int64_t from = copy.from, to = copy.to;
    for (int d = RowCopyParameters::maxDims - 1; d > 0; --d) {
      const auto size = static_cast<uint64_t>(copy.sizes[d]);
      const auto at = static_cast<int64_t>(rest % size);
      rest /= size;
      from += at * copy.fromStrides[d];
      to += at * copy.toStrides[d];
    }
    from += static_cast<int64_t>(rest) * copy.fromStrides[0];
    to += static_cast<int64_t>(rest) * copy.toStrides[0];
    auto *source = reinterpret_cast<const Unit *>(from);
    auto *target = reinterpret_cast<Unit *>(to);
    for (int64_t unit = lane; unit < copy.units; unit += RowCopyParameters::warpThreads)
      target[unit] = source[unit];
  }
}
