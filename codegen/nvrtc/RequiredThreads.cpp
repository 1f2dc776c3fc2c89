//===- RequiredThreads.cpp - How many threads blocks have -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/RequiredThreads.h"

using namespace attnc;

void nvrtc::requireThreads(std::string &ptx, llvm::ArrayRef<image::KernelEntry> entries) {
  const std::string bound = ".maxntid ";
  for (const image::KernelEntry &entry : entries) {
    size_t start = ptx.find(".entry " + entry.symbol + "(");
    if (start == std::string::npos)
      continue;
    // Directives stand between the parameters and the body.
    size_t body = ptx.find('{', start), place = ptx.find(bound, start);
    const std::string exact = bound + std::to_string(entry.threads) + ", 1, 1";
    if (place < body && ptx.compare(place, exact.size(), exact) == 0)
      ptx.replace(place, bound.size(), ".reqntid ");
  }
}
