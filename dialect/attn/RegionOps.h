//===- RegionOps.h - What score and mask regions may hold -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One table of the operations of arith and math that regions may hold. What it admits, every target carries out within
// the error that it states; the verifier refuses the rest (S2). docs/spec.md prints it for users, and
// test/unit/jit/RegionOpsTest.cpp holds every row, in every type, against the reference on every target.
//
// Its rows are also where the rest of the compiler looks up what it must know of a function: the range of scores, row
// maxima that are taken before it, schedules and explanations by its work, approximations, and what results may be off
// by. test/unit/passes/FunctionFactsTest.cpp holds them against the function itself.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_REGIONOPS_H
#define ATTNC_DIALECT_ATTN_REGIONOPS_H

#include "mlir/IR/Operation.h"
#include <limits>

namespace attnc::attn {

/// Element types as a set of bits.
enum RegionType : unsigned {
  I1 = 1 << 0,
  I8 = 1 << 1,
  I16 = 1 << 2,
  I32 = 1 << 3,
  I64 = 1 << 4,
  Index = 1 << 5,
  F16 = 1 << 6,
  BF16 = 1 << 7,
  F32 = 1 << 8,
  F64 = 1 << 9,
  Integers = I1 | I8 | I16 | I32 | I64 | Index, ///< signless; `index` is 64 bits of two's complement (S17)
  FixedIntegers = Integers & ~Index,
  Words = I32 | I64,
  Singles = F16 | BF16 | F32, ///< floats that functions take
  Floats = Singles | F64,
  Scalars = Integers | Floats,
};

/// The bit of a type; 0 for one that no region holds.
unsigned getRegionType(mlir::Type type);
/// "i32, i64 or index".
std::string describeRegionTypes(unsigned types);

/// How the result of an operation of one operand goes as that rises, over all numbers.
enum class Trend : uint8_t {
  Open,    ///< now up, now down, or NaN for some numbers
  Rising,  ///< never down
  Falling, ///< never up
};

/// How coarse the instruction of a GPU is that computes a function approximately.
enum class Approximation : uint8_t {
  None,   ///< there is none
  Fine,   ///< results of 16 bits do not show its error, and neither do LSEs
  Coarse, ///< LSEs show it
};

/// What the compiler knows of a function of floats, whoever asks.
struct FunctionFacts {
  /// What an element costs, in exponentials; 0 for a few instructions of the units that add and multiply.
  float work = 0;
  Trend trend = Trend::Open;
  /// No result is below or above, whatever the operands are; NaN aside.
  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  Approximation approximation = Approximation::None;
  /// Multiple of the plain formulas' greatest error that results may be off by where scores have the function
  /// (docs/spec.md, "When is an answer right").
  float tolerance = 2;

  /// Whether it takes more than the exponential that every weight is.
  constexpr bool isSlow() const { return work > 1; }
};

/// A row of the table.
struct RegionOp {
  llvm::StringLiteral name;
  unsigned operands; ///< types of operands, but for the condition of a choice
  unsigned results;  ///< types of the result
  /// Error in units in the last place of the result's type, of f32 at least, where queries are f32; 0 is exact, or
  /// rounded once. Where queries are of 16 bits, a GPU computes exp, exp2, log, log2 and tanh to some 2^-11.
  float ulps;
  FunctionFacts facts = {};
};

/// All rows.
llvm::ArrayRef<RegionOp> getRegionOps();
/// The row of an operation, or null.
const RegionOp *findRegionOp(llvm::StringRef name);
/// The facts of an operation; those of one that has no row are the defaults.
const FunctionFacts &getFunctionFacts(mlir::Operation *op);

/// Checks an operation of arith or math in the region `region` ("score", "mask").
mlir::LogicalResult verifyRegionOp(mlir::Operation *op, llvm::StringRef region);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_REGIONOPS_H
