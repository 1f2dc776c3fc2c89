//===- PeakRates.h - What this CPU can do at most ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_PEAKRATES_H
#define ATTNC_RUNTIME_EXPLAIN_PEAKRATES_H

namespace attnc::explain {

/// What a machine does in a second at most, where it does nothing else.
struct PeakRates {
  double flops = 0;        ///< f32 multiply-adds, two a piece
  double exponentials = 0; ///< of f32 numbers
  double bytes = 0;        ///< read from memory
};

/// FLOP/s of f32 multiply-adds on all cores at once, measured for about 50 ms with the widest registers there are.
double measureFlopRate();

/// All rates of this CPU, on all cores, measured for about a quarter of a second. Exponentials are those of generated
/// code: a polynomial on the same units as the multiply-adds.
PeakRates measurePeakRates();

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_PEAKRATES_H
