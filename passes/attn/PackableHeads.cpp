//===- PackableHeads.cpp - Heads that a tile holds together -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/PackableHeads.h"
#include "dialect/attn/Coordinates.h"

using namespace attnc::attn;

int64_t attnc::attn::countPackableHeads(KernelOpInterface kernel, int64_t most) {
  if (kernel.hasDropout() || readsCoordinate(kernel, Coordinate::Head))
    return 1;
  int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads();
  return std::min(group & -group, most);
}
