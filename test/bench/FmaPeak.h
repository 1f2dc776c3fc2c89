//===- FmaPeak.h - What the cores can multiply and add ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_FMAPEAK_H
#define ATTNC_TEST_BENCH_FMAPEAK_H

namespace attnc::bench {

/// Measures the most f32 operations a second that all cores together reach with fused multiply-adds on registers; a
/// multiply-add is two.
double measureFmaPeak();

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_FMAPEAK_H
