//===- Require.h - What must hold for any input -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_FUZZ_REQUIRE_H
#define ATTNC_TEST_FUZZ_REQUIRE_H

#include <cstdlib>

namespace attnc::test {

/// Stops the fuzzer when `condition` does not hold, also without assertions.
inline void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace attnc::test

#endif // ATTNC_TEST_FUZZ_REQUIRE_H
