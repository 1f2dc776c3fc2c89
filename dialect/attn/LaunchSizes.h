//===- LaunchSizes.h - The sizes of a kernel's launches ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What each size of `#attn.sizes` is, and which of several schedules launches have by them.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_LAUNCHSIZES_H
#define ATTNC_DIALECT_ATTN_LAUNCHSIZES_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/AffineExpr.h"

namespace attnc::attn {

/// The size of a dimension of a tensor, as whoever asks has it: a symbol, or the number.
using DimExpr = llvm::function_ref<mlir::AffineExpr(mlir::Value tensor, int64_t dim)>;

/// The sizes of launches of `kernel`, in the order of `Size`. This is where a size gets its meaning.
llvm::SmallVector<mlir::AffineExpr> getLaunchSizes(KernelOpInterface kernel, DimExpr dimOf);

/// Those of them that come out as numbers.
SizesAttr getKnownSizes(KernelOpInterface kernel, DimExpr dimOf);

/// Those that the types of `kernel` fix.
SizesAttr getStaticSizes(KernelOpInterface kernel);

/// Launches that no schedule is for yet.
class OpenSizes {
public:
  explicit OpenSizes(mlir::MLIRContext *context) : pieces{SizesAttr::get(context)} {}

  /// Takes out the launches that `when` holds for. False where there were none of them.
  bool take(SizesAttr when);
  /// Whether all are taken.
  bool empty() const { return pieces.empty(); }
  /// Conditions that one holds of for each launch that is left.
  llvm::ArrayRef<SizesAttr> getPieces() const { return pieces; }

private:
  llvm::SmallVector<SizesAttr> pieces;
};

/// `schedules`, of any programs, where the sizes of launches are among `known`: without those that no launch is left
/// for, and without asking for what is known.
llvm::SmallVector<ScheduleAttr> keepServing(llvm::ArrayRef<ScheduleAttr> schedules, SizesAttr known);

/// The schedule that two which are alike but for their sizes are together; null where they are not, or where no one
/// condition says for which launches.
ScheduleAttr uniteAlike(ScheduleAttr first, ScheduleAttr second);

/// `schedules` of one program, of which neighbours that are alike are one where one condition says for which launches.
llvm::SmallVector<ScheduleAttr> joinAlike(llvm::ArrayRef<ScheduleAttr> schedules);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_LAUNCHSIZES_H
