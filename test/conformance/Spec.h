//===- Spec.h - Specs from small data ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_CONFORMANCE_SPEC_H
#define ATTNC_TEST_CONFORMANCE_SPEC_H

#include <cstdint>
#include <string>
#include <vector>

namespace attnc::conformance {

/// One variant of attention, as a spec is written from it.
///
/// In every text, `$T` stands for the element type of the inputs and `$H` for the number of query heads.
struct Spec {
  int64_t queryHeads = 2;
  int64_t keyHeads = 2;
  int64_t headDim = 64;
  int64_t valueDim = 0; ///< 0: that of queries and keys
  int64_t keys = 0;     ///< a sequence's, where the types say it; 0 where they do not
  bool packed = false;  ///< [T, H, D], with the offsets %qo and %ko
  int64_t pageRows = 0; ///< rows of the pages that keys lie in, with the table %table; 0 where they lie in none
  bool lse = true;
  bool weights = false; ///< `attn.weights` instead of `attn.forward`
  /// Captured arguments: "bias: tensor<1x1x?x?x$T>".
  std::vector<std::string> arguments;
  bool learned = false;       ///< captured tensors have gradients
  bool deterministic = false; ///< gradients have the same bits in every run
  bool tf32 = false;          ///< products of f32 may round to TF32
  /// "scale(0.5) align(top_left)".
  std::string clauses;
  /// Operations of the score region, which leave the logit %s as %x; empty for no region.
  std::string score;
  /// Operations of the mask region, which leave %keep; empty for no region.
  std::string mask;

  /// The spec in `dtype`, "bf16".
  std::string toString(const std::string &dtype) const;
};

} // namespace attnc::conformance

#endif // ATTNC_TEST_CONFORMANCE_SPEC_H
