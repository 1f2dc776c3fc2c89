//===- CpuFeatures.h - Whether this CPU runs some code ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_CPUFEATURES_H
#define ATTNC_RUNTIME_CAPI_CPUFEATURES_H

#include <string>
#include <string_view>

namespace attnc::capi {

/// The first of `features`, "+avx2,+fma,-sse4a" as LLVM writes them, that code may use and this CPU lacks; empty where
/// it has all. Features that are no instructions for arithmetic are passed over.
std::string findMissingFeature(std::string_view features);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_CPUFEATURES_H
