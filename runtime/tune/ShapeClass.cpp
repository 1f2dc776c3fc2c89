//===- ShapeClass.cpp - Sizes that one record stands for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/ShapeClass.h"
#include "llvm/Support/MathExtras.h"

using namespace attnc;
using namespace attnc::tune;

SizeRange SizeRange::around(int64_t size) {
  if (size <= 1)
    return {0, 1};
  constexpr int64_t largest = int64_t(1) << 62;
  int64_t most = size > largest ? std::numeric_limits<int64_t>::max()
                                : static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(size)));
  return {most / 2 + 1, most};
}

ShapeClass ShapeClass::of(const attn::KernelFunction &kernel, const jit::Shapes &shapes) {
  attn::SizesAttr sizes = shapes.launchSizes(kernel, kernel.kernels.front());
  auto around = [&](attn::Size size) { return SizeRange::around(sizes.getRange(size).min); };
  return {around(attn::Size::Queries), around(attn::Size::Keys), around(attn::Size::AllHeads)};
}

attn::SizesAttr ShapeClass::toSizes(mlir::MLIRContext *context) const {
  return attn::SizesAttr::get(context, {{attn::Size::Queries, queries.min, queries.max},
                                        {attn::Size::Keys, keys.min, keys.max},
                                        {attn::Size::AllHeads, heads.min, heads.max}});
}

static std::string describe(const SizeRange &range, const char *what) {
  return std::to_string(range.min) + " to " + std::to_string(range.max) + " " + what;
}

std::string ShapeClass::toString() const {
  return describe(queries, "queries") + ", " + describe(keys, "keys") + ", " + describe(heads, "heads");
}
