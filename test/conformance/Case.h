//===- Case.h - The grid of conformance cases -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A case is a spec and the trials it is put to: sizes, and contents of arguments where they matter. It is named by the
// rule that it shows (docs/spec.md): S5_window_0.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_CONFORMANCE_CASE_H
#define ATTNC_TEST_CONFORMANCE_CASE_H

#include "test/conformance/Spec.h"
#include <map>

namespace attnc::conformance {

/// How much of the grid runs.
enum class Extent {
  Quick, ///< with every other test: each case at a few small sizes
  Full,  ///< all sizes and dtypes
};

/// How queries, keys, values and results lie in memory; where it says so, captured tensors too.
enum class Layout {
  RowMajor,   ///< [B, S, H, D]
  HeadsFirst, ///< [B, H, S, D] in memory, seen through strides
  FarApart,   ///< batch entries 2^31 elements apart (S17)
  Odd,        ///< strides and addresses that are odd, the outermost backwards; captured tensors spread out
  Repeated,   ///< heads of keys and values, and the outermost dimension of captured tensors, by strides of 0
};

/// One run of a kernel.
struct Trial {
  std::string shape;             ///< "B=2,Sq=127,Sk=255"
  std::vector<std::string> dims; ///< "bias.0=1": a dimension that broadcasts
  /// Contents of arguments, by name: one number for a scalar, repeated for a tensor. Others are random.
  std::map<std::string, std::vector<double>> contents;
  double valueScale = 1; ///< multiplies queries, keys and values
  Layout layout = Layout::RowMajor;
  unsigned repeats = 2; ///< runs whose bits must agree
};

/// A spec and its trials.
struct Case {
  std::string name;
  Spec spec;
  std::vector<Trial> trials;
  std::vector<std::string> dtypes = {"f32", "bf16", "f16"};
};

/// The trials of self- and cross-attention at the sizes that are always in the grid.
std::vector<Trial> standardTrials(Extent extent);

/// The same sizes, with `contents` in each.
std::vector<Trial> standardTrials(Extent extent, const std::map<std::string, std::vector<double>> &contents);

/// Trials with as many queries as keys.
std::vector<Trial> squareTrials(Extent extent);

/// Trials of packed sequences.
std::vector<Trial> packedTrials(Extent extent);

/// Cases by what they are about.
void addScoreCases(std::vector<Case> &cases, Extent extent);
void addMaskCases(std::vector<Case> &cases, Extent extent);
void addSequenceCases(std::vector<Case> &cases, Extent extent);
void addShapeCases(std::vector<Case> &cases, Extent extent);
void addGradientCases(std::vector<Case> &cases, Extent extent);
void addTf32Cases(std::vector<Case> &cases, Extent extent);
void addAlikeCases(std::vector<Case> &cases, Extent extent);
void addLargeRowTermCases(std::vector<Case> &cases, Extent extent);

/// The grid. Quick keeps f32 in each case, and one of the 16-bit types in every second; all where values are large.
std::vector<Case> allCases(Extent extent);

} // namespace attnc::conformance

#endif // ATTNC_TEST_CONFORMANCE_CASE_H
