//===- ReferenceRow.h - The softmax of one query row ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Rules S1 to S9 for one query row: what forward and backward share.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_REFERENCE_REFERENCEROW_H
#define ATTNC_DIALECT_REFERENCE_REFERENCEROW_H

#include "dialect/reference/ReferenceProblem.h"

namespace attnc::attn::reference {

/// The number of rule S9 that decides whether element (i, j) is dropped, of 16 bits: a part of Philox4x32-7 (Salmon et
/// al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Two by two elements, and those eight rows and eight
/// columns on, share a call.
uint32_t dropoutNumber(uint64_t seed, uint32_t b, uint32_t h, uint32_t i, uint32_t j);

/// The rows of one query head of one sequence, evaluated one after the other. `Real` is double for Precision::Exact and
/// float for Precision::Baseline. Vectors have one element a key of the sequence.
template <typename Real>
class HeadRows {
public:
  HeadRows(const Problem &problem, const Sequence &sequence, int64_t head);

  /// Evaluates query row `row` of the sequence, which must exist, into the members below.
  void evaluate(int64_t row);

  /// Computes probabilities and weights of the evaluated row again, from a saved LSE: the same numbers, but for the
  /// rounding of that. None is above 1.
  void recomputeFrom(Real savedLse);

  /// out = sum over keys of weights[j] * value row j, of size valueDim.
  void accumulateValues(std::vector<Real> &out) const;
  /// out = sum over keys of factors[j] * key row j, of size headDim.
  void accumulateKeys(const std::vector<Real> &factors, std::vector<Real> &out) const;
  /// product[j] = dot(vector, key row j) or dot(vector, value row j) in [first, last); untouched elsewhere.
  void dotKeys(const std::vector<Real> &vector, std::vector<Real> &product) const;
  void dotValues(const std::vector<Real> &vector, std::vector<Real> &product) const;

  /// Reverse mode through the score region of key `j` of the evaluated row: from the gradient of its score to that of
  /// its logit. `onLoad` gets the load and the slots that its indices are in.
  Real differentiateScore(int64_t j, Real gradient,
                          llvm::function_ref<void(const CapturedLoad &, llvm::ArrayRef<Slot>, double)> onLoad);

  const Problem &problem;
  const Sequence &sequence;
  const int64_t head, keyHead;

  int64_t first = 0, last = 0;         ///< keys outside [first, last) are dropped; inside, some may be
  std::vector<Real> query;             ///< the row's query
  std::vector<char> keep;              ///< of the mask (S3)
  std::vector<Real> logits;            ///< before the score region; only in [first, last)
  std::vector<Real> probabilities;     ///< before dropout (S7)
  std::vector<Real> dropoutFactors;    ///< 0 or 1 / (1 - p) (S9)
  std::vector<Real> weights;           ///< after dropout, in the input dtype where that is the precision
  std::vector<Real> sinkProbabilities; ///< one a sink (S6)
  Real lse;                            ///< -inf for a row with nothing in it (S8)

private:
  void setCoordinates(std::vector<Slot> &slots, int64_t row) const;
  void evaluateMask(int64_t row);
  void evaluateScores(int64_t row);
  void evaluateSoftmax();
  void evaluateDropout(int64_t row);

  /// Keys are transposed, [D][keys], and values are not, [keys][Dv]: so the inner loops of the forward hold no
  /// reduction and become SIMD code.
  std::vector<Real> keys, values;
  std::vector<Real> scores, sinks;
  std::vector<Slot> maskSlots, scoreSlots;
  std::vector<double> adjoints;
};

} // namespace attnc::attn::reference

#endif // ATTNC_DIALECT_REFERENCE_REFERENCEROW_H
