//===- ReferenceRow.cpp - The softmax of one query row ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceRow.h"
#include <cmath>
#include <limits>

using namespace attnc::attn;
using namespace attnc::attn::reference;

uint32_t attnc::attn::reference::dropoutNumber(uint64_t seed, uint32_t b, uint32_t h, uint32_t i, uint32_t j) {
  uint32_t counter[4] = {b, h, i / 16 * 8 + i % 8, j / 16 * 4 + j % 8 / 2};
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 7; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53} * counter[0], product1 = uint64_t{0xCD9E8D57} * counter[2];
    uint32_t next[4] = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
                        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    std::copy(std::begin(next), std::end(next), counter);
    key0 += 0x9E3779B9; // golden ratio
    key1 += 0xBB67AE85; // sqrt(3) - 1
  }
  uint32_t part = i / 8 % 2 * 4 + j / 8 % 2 * 2 + j % 2;
  return counter[part / 2] >> (16 * (part % 2)) & 0xffff;
}

/// Rows of one key head; row j and element d come to j * rowStride + d * dimStride.
template <typename Real>
static std::vector<Real> copyRows(const Problem &problem, const RowTensor &tensor, const Sequence &sequence,
                                  int64_t head, int64_t dim, int64_t rowStride, int64_t dimStride) {
  std::vector<Real> result(dim * sequence.keyLength);
  for (int64_t j = 0; j < sequence.keyLength; ++j) {
    int64_t base = problem.keyOffset(tensor, sequence, j, head);
    for (int64_t d = 0; d < dim; ++d)
      result[j * rowStride + d * dimStride] =
          static_cast<Real>(problem.roundToOperand(tensor.load(base + d * tensor.elementStride)));
  }
  return result;
}

template <typename Real>
HeadRows<Real>::HeadRows(const Problem &problem, const Sequence &sequence, int64_t head)
    : problem(problem), sequence(sequence), head(head), keyHead(head / (problem.queryHeads / problem.keyHeads)),
      query(problem.headDim), keep(sequence.keyLength), logits(sequence.keyLength), probabilities(sequence.keyLength),
      dropoutFactors(sequence.keyLength), weights(sequence.keyLength), sinkProbabilities(problem.numSinks()),
      keys(copyRows<Real>(problem, problem.key, sequence, keyHead, problem.headDim, 1, sequence.keyLength)),
      scores(sequence.keyLength) {
  if (problem.value)
    values = copyRows<Real>(problem, *problem.value, sequence, keyHead, problem.valueDim, problem.valueDim, 1);
  for (int64_t index = 0; index < problem.numSinks(); ++index)
    sinks.push_back(static_cast<Real>(loadElement(*getElementKind(problem.sinks->elementType), problem.sinks->data,
                                                  problem.sinkOffset(head, index))));
  if (problem.mask)
    maskSlots = problem.mask->makeSlots();
  if (problem.score)
    scoreSlots = problem.score->makeSlots();
}

/// Head dims are multiples of 8 (S14), so four terms at a time leave no rest; it is a matter of speed alone.
template <typename Real>
void HeadRows<Real>::dotKeys(const std::vector<Real> &vector, std::vector<Real> &product) const {
  std::fill(product.begin() + first, product.begin() + last, Real(0));
  int64_t count = sequence.keyLength;
  for (int64_t d = 0; d < problem.headDim; d += 4) {
    const Real *k0 = keys.data() + d * count, *k1 = k0 + count, *k2 = k1 + count, *k3 = k2 + count;
    Real v0 = vector[d], v1 = vector[d + 1], v2 = vector[d + 2], v3 = vector[d + 3];
    Real *out = product.data();
    for (int64_t j = first; j < last; ++j)
      out[j] += v0 * k0[j] + v1 * k1[j] + v2 * k2[j] + v3 * k3[j];
  }
}

template <typename Real>
void HeadRows<Real>::dotValues(const std::vector<Real> &vector, std::vector<Real> &product) const {
  for (int64_t j = first; j < last; ++j) {
    product[j] = 0;
    for (int64_t d = 0; d < problem.valueDim; ++d)
      product[j] += vector[d] * values[j * problem.valueDim + d];
  }
}

/// A key without weight takes no part, even where its value is no number.
template <typename Real>
void HeadRows<Real>::accumulateValues(std::vector<Real> &out) const {
  std::fill(out.begin(), out.end(), Real(0));
  for (int64_t j = first; j < last; ++j) {
    if (weights[j] == 0)
      continue;
    const Real *value = values.data() + j * problem.valueDim;
    for (int64_t d = 0; d < problem.valueDim; ++d)
      out[d] += weights[j] * value[d];
  }
}

/// A key without gradient takes no part either.
template <typename Real>
void HeadRows<Real>::accumulateKeys(const std::vector<Real> &factors, std::vector<Real> &out) const {
  std::vector<int64_t> used;
  for (int64_t j = first; j < last; ++j)
    if (factors[j] != 0)
      used.push_back(j);
  for (int64_t d = 0; d < problem.headDim; ++d) {
    out[d] = 0;
    for (int64_t j : used)
      out[d] += factors[j] * keys[d * sequence.keyLength + j];
  }
}

template <typename Real>
void HeadRows<Real>::setCoordinates(std::vector<Slot> &slots, int64_t row) const {
  slots[SlotB].i = sequence.batch;
  slots[SlotH].i = head;
  slots[SlotI].i = row + sequence.positionOffset;
  slots[SlotRow].i = sequence.queryStart + row;
}

template <typename Real>
void HeadRows<Real>::evaluate(int64_t row) {
  int64_t base = problem.query.offset(sequence.batch, sequence.queryStart + row, head);
  for (int64_t d = 0; d < problem.headDim; ++d)
    query[d] = static_cast<Real>(problem.roundToOperand(problem.query.load(base + d * problem.query.elementStride)));
  evaluateMask(row);
  evaluateScores(row);
  evaluateSoftmax();
  evaluateDropout(row);
}

template <typename Real>
void HeadRows<Real>::recomputeFrom(Real savedLse) {
  if (savedLse == -std::numeric_limits<Real>::infinity())
    return;
  auto probabilityOf = [&](Real score) { return std::exp(std::min(score - savedLse, Real(0))); };
  for (int64_t j = first; j < last; ++j) {
    probabilities[j] = probabilityOf(scores[j]);
    weights[j] = static_cast<Real>(problem.roundToOperand(probabilities[j] * dropoutFactors[j]));
  }
  for (auto [probability, sink] : llvm::zip_equal(sinkProbabilities, sinks))
    probability = probabilityOf(sink);
}

/// S3.
template <typename Real>
void HeadRows<Real>::evaluateMask(int64_t row) {
  first = 0;
  last = sequence.keyLength;
  std::fill(keep.begin(), keep.end(), true);
  if (!problem.mask)
    return;
  setCoordinates(maskSlots, row);
  first = sequence.keyLength;
  last = 0;
  for (int64_t j = 0; j < sequence.keyLength; ++j) {
    maskSlots[SlotJ].i = j;
    maskSlots[SlotColumn].i = sequence.keyStart + j;
    keep[j] = problem.mask->run(maskSlots).i != 0;
    if (keep[j]) {
      first = std::min(first, j);
      last = j + 1;
    }
  }
  first = std::min(first, last);
}

/// S1 and S2. A dropped key has no score: no region can bring it back.
template <typename Real>
void HeadRows<Real>::evaluateScores(int64_t row) {
  dotKeys(query, logits);
  auto scale = static_cast<Real>(problem.scale);
  for (int64_t j = first; j < last; ++j)
    logits[j] *= scale;
  if (problem.score)
    setCoordinates(scoreSlots, row);
  for (int64_t j = first; j < last; ++j) {
    scores[j] = logits[j];
    if (!keep[j]) {
      scores[j] = -std::numeric_limits<Real>::infinity();
    } else if (problem.score) {
      scoreSlots[SlotJ].i = j;
      scoreSlots[SlotColumn].i = sequence.keyStart + j;
      scoreSlots[SlotLogit].f = logits[j];
      scores[j] = static_cast<Real>(problem.score->run(scoreSlots).f);
    }
  }
}

/// S6, S7 and S8. A row without any score above -inf is empty: probabilities 0, lse -inf.
template <typename Real>
void HeadRows<Real>::evaluateSoftmax() {
  constexpr Real negativeInfinity = -std::numeric_limits<Real>::infinity();
  std::fill(probabilities.begin(), probabilities.end(), Real(0));
  std::fill(sinkProbabilities.begin(), sinkProbabilities.end(), Real(0));
  Real maximum = negativeInfinity;
  bool isEmpty = true;
  auto join = [&](Real score) {
    // A NaN is no -inf: it must come out at the other end.
    isEmpty &= score == negativeInfinity;
    maximum = score > maximum ? score : maximum;
  };
  std::for_each(scores.begin() + first, scores.begin() + last, join);
  std::for_each(sinks.begin(), sinks.end(), join);
  lse = negativeInfinity;
  if (isEmpty)
    return;
  Real sum = 0;
  for (int64_t j = first; j < last; ++j)
    sum += probabilities[j] = std::exp(scores[j] - maximum);
  for (size_t index = 0; index < sinks.size(); ++index)
    sum += sinkProbabilities[index] = std::exp(sinks[index] - maximum);
  for (int64_t j = first; j < last; ++j)
    probabilities[j] /= sum;
  for (Real &probability : sinkProbabilities)
    probability /= sum;
  lse = maximum + std::log(sum);
}

/// S9. Without dropout all factors are 1.
template <typename Real>
void HeadRows<Real>::evaluateDropout(int64_t row) {
  // Of the 65536 numbers, so many drop: the nearest to the probability, and of two the even one.
  double dropped = std::nearbyint(65536.0 * problem.dropout);
  auto kept = static_cast<Real>(65536 / (65536 - dropped));
  const auto b = static_cast<uint32_t>(problem.firstBatch + sequence.batch),
             h = static_cast<uint32_t>(problem.firstHead + head);
  std::fill(weights.begin(), weights.end(), Real(0));
  for (int64_t j = first; j < last; ++j) {
    bool drops = problem.hasDropout && dropoutNumber(problem.seed, b, h, row, j) < dropped;
    dropoutFactors[j] = drops ? Real(0) : kept;
    weights[j] = drops ? Real(0) : static_cast<Real>(problem.roundToOperand(probabilities[j] * kept));
  }
}

template <typename Real>
Real HeadRows<Real>::differentiateScore(
    int64_t j, Real gradient, llvm::function_ref<void(const CapturedLoad &, llvm::ArrayRef<Slot>, double)> onLoad) {
  if (!problem.score)
    return gradient;
  scoreSlots[SlotJ].i = j;
  scoreSlots[SlotColumn].i = sequence.keyStart + j;
  scoreSlots[SlotLogit].f = logits[j];
  problem.score->run(scoreSlots);
  return static_cast<Real>(
      problem.score->differentiate(scoreSlots, gradient, adjoints,
                                   [&](const CapturedLoad &load, double amount) { onLoad(load, scoreSlots, amount); }));
}

template class attnc::attn::reference::HeadRows<double>;
template class attnc::attn::reference::HeadRows<float>;
