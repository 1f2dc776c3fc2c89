//===- Sanitizers.h - What a test is built with ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// For tests that a sanitizer cannot follow: threads of a process that has forked.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_RUNTIME_SANITIZERS_H
#define ATTNC_TEST_UNIT_RUNTIME_SANITIZERS_H

namespace attnc::test {

/// Whether ThreadSanitizer watches this build, or AddressSanitizer.
#if defined(__has_feature)
inline constexpr bool isThreadSanitized = __has_feature(thread_sanitizer);
inline constexpr bool isAddressSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool isThreadSanitized = false;
inline constexpr bool isAddressSanitized = false;
#endif

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_RUNTIME_SANITIZERS_H
