//===- LayoutTest.cpp - Tensors of other layouts ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;

/// A tensor holds the same bits in every layout; 2^62 + 1 is an i64, and no double.
TEST(Layouts, KeepEveryBit) {
  constexpr int64_t large = (int64_t(1) << 62) + 1;
  for (Layout layout : {Layout::HeadsFirst, Layout::Odd}) {
    auto tensor = runtime::Tensor::allocate(image::DType::I64, {2, 3, 2, 2});
    ASSERT_TRUE(tensor);
    tensor->forEach([](int64_t n, void *element) { *static_cast<int64_t *>(element) = large + n; });
    auto status = relayout(*tensor, layout, /*unit=*/true, /*isInput=*/true);
    ASSERT_TRUE(status);
    EXPECT_FALSE(tensor->isContiguous());
    tensor->forEach([](int64_t n, void *element) { EXPECT_EQ(*static_cast<int64_t *>(element), large + n); });
  }
}
