//===- RowCopyParameters.h - What the kernel that copies takes --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the host and the device: it includes nothing that only a host has.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_ROWCOPYPARAMETERS_H
#define ATTNC_RUNTIME_CUDA_ROWCOPYPARAMETERS_H

#include <stdint.h> // NOLINT(modernize-deprecated-headers): the C++ library has no <cstdint> for devices

namespace attnc::cuda {

/// Rows of two tensors. Dimensions are outermost first, strides in bytes; 1 and 0
/// stand where there are fewer.
struct RowCopyParameters {
  /// The last dimension is a row, of whole units of this many bytes.
  static constexpr int64_t unitBytes = 2;
  /// The dimensions before it.
  static constexpr int maxDims = 4;
  /// Threads of a block, and the rows that they copy at a time: one a warp.
  static constexpr int blockThreads = 256, warpThreads = 32, blockRows = blockThreads / warpThreads;

  int64_t from = 0, to = 0; ///< addresses of the first rows
  int64_t rows = 0;
  int64_t units = 0; ///< of a row
  int64_t sizes[maxDims] = {1, 1, 1, 1};
  int64_t fromStrides[maxDims] = {}, toStrides[maxDims] = {};
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_ROWCOPYPARAMETERS_H
