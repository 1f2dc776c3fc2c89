//===- CpuFeatures.cpp - Whether this CPU runs some code --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/CpuFeatures.h"
#include "codegen/image/MatrixTiles.h"

using namespace attnc;

#if defined(__x86_64__)
/// Whether this CPU has the feature that LLVM calls `name`; features that are not listed count as there.
static bool hasFeature(std::string_view name) {
  __builtin_cpu_init();
  // The builtin takes nothing but a literal.
#define ATTNC_FEATURE(feature)                                                                                         \
  if (name == (feature))                                                                                               \
  return __builtin_cpu_supports(feature)
  ATTNC_FEATURE("sse3");
  ATTNC_FEATURE("ssse3");
  ATTNC_FEATURE("sse4.1");
  ATTNC_FEATURE("sse4.2");
  ATTNC_FEATURE("popcnt");
  ATTNC_FEATURE("lzcnt");
  ATTNC_FEATURE("movbe");
  ATTNC_FEATURE("bmi");
  ATTNC_FEATURE("bmi2");
  ATTNC_FEATURE("f16c");
  ATTNC_FEATURE("fma");
  ATTNC_FEATURE("avx");
  ATTNC_FEATURE("avx2");
  ATTNC_FEATURE("avx512f");
  ATTNC_FEATURE("avx512bw");
  ATTNC_FEATURE("avx512cd");
  ATTNC_FEATURE("avx512dq");
  ATTNC_FEATURE("avx512vl");
  ATTNC_FEATURE("avx512ifma");
  ATTNC_FEATURE("avx512vbmi");
  ATTNC_FEATURE("avx512vbmi2");
  ATTNC_FEATURE("avx512vnni");
  ATTNC_FEATURE("avx512bitalg");
  ATTNC_FEATURE("avx512vpopcntdq");
  ATTNC_FEATURE("avx512bf16");
  ATTNC_FEATURE("avx512fp16");
  ATTNC_FEATURE("gfni");
#undef ATTNC_FEATURE
  // Tile registers are there where the system lets us have them.
  if (name == "amx-tile" || name == "amx-bf16")
    return image::permitMatrixTiles() && __builtin_cpu_supports("amx-bf16");
  return true;
}
#else
static bool hasFeature(std::string_view) { return true; }
#endif

std::string capi::findMissingFeature(std::string_view features) {
  while (!features.empty()) {
    const size_t comma = features.find(',');
    const std::string_view feature = features.substr(0, comma);
    if (feature.size() > 1 && feature.front() == '+' && !hasFeature(feature.substr(1)))
      return std::string(feature.substr(1));
    features.remove_prefix(comma == std::string_view::npos ? features.size() : comma + 1);
  }
  return "";
}
