//===- HostCost.h - What a launch costs the host ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_HOSTCOST_H
#define ATTNC_TOOLS_ATTNC_HOSTCOST_H

#include "runtime/Arguments.h"

namespace attnc::cli {

/// Seconds of the host for one launch of `image`, a GPU's, by the C API (attnc.h) on the same buffers again and again:
/// the median of short series, with the GPU idle before each. `values` are host tensors, the inputs and then the
/// results. Of a kernel that runs for long, `secondsOfRun`, there are fewer.
image::Result<double> measureHostCost(const image::KernelImage &image, image::Span<const runtime::ArgValue> values,
                                      double secondsOfRun);

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_HOSTCOST_H
