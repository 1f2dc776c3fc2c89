//===- PeakRate.h - What the CPU can do at most -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_PEAKRATE_H
#define ATTNC_TOOLS_ATTNC_PEAKRATE_H

namespace attnc::cli {

/// FLOP/s of f32 multiply-adds on all cores at once, measured for about 50 ms with the widest registers there are.
double measurePeakRate();

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_PEAKRATE_H
