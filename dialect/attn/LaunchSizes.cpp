//===- LaunchSizes.cpp - The sizes of a kernel's launches -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/LaunchSizes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <map>

using namespace mlir;
using namespace attnc::attn;

SmallVector<AffineExpr> attnc::attn::getLaunchSizes(KernelOpInterface kernel, DimExpr dimOf) {
  MLIRContext *context = kernel.getContext();
  bool isPacked = kernel.isPacked();
  AffineExpr batch = isPacked ? dimOf(kernel.getQueryOffsets(), 0) - 1 : dimOf(kernel.getQuery(), 0);
  // Of packed rows, those of a sequence; where there is none, a division by 1 is as good as any.
  auto getMean = [&](AffineExpr rows) {
    return rows.ceilDiv(batch + getAffineConstantExpr(1, context).floorDiv(batch + 1));
  };
  auto get = [&](Size size) -> AffineExpr {
    switch (size) {
    case Size::Queries:
      return isPacked ? getMean(dimOf(kernel.getQuery(), 0)) : dimOf(kernel.getQuery(), 1);
    case Size::Keys:
      if (kernel.isPaged())
        return dimOf(kernel.getPageTable(), 1) * kernel.getPageRows();
      return kernel.areKeysPacked() ? getMean(dimOf(kernel.getKey(), 0)) : dimOf(kernel.getKey(), 1);
    case Size::Batch:
      return batch;
    case Size::QueryHeads:
      return getAffineConstantExpr(kernel.getQueryHeads(), context);
    case Size::AllHeads:
      return batch * kernel.getQueryHeads();
    }
    llvm_unreachable("all sizes are listed");
  };
  SmallVector<AffineExpr> sizes;
  for (uint32_t size = 0; size <= getMaxEnumValForSize(); ++size)
    sizes.push_back(get(static_cast<Size>(size)));
  return sizes;
}

SizesAttr attnc::attn::getKnownSizes(KernelOpInterface kernel, DimExpr dimOf) {
  SmallVector<SizeRange> known;
  for (auto [size, expr] : llvm::enumerate(getLaunchSizes(kernel, dimOf)))
    if (auto number = dyn_cast<AffineConstantExpr>(expr); number && number.getValue() >= 0)
      known.push_back({static_cast<Size>(size), number.getValue(), number.getValue()});
  return SizesAttr::get(kernel.getContext(), known);
}

SizesAttr attnc::attn::getStaticSizes(KernelOpInterface kernel) {
  unsigned symbols = 0;
  return getKnownSizes(kernel, [&](Value tensor, int64_t dim) {
    int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    return ShapedType::isDynamic(size) ? getAffineSymbolExpr(symbols++, kernel.getContext())
                                       : getAffineConstantExpr(size, kernel.getContext());
  });
}

bool OpenSizes::take(SizesAttr when) {
  bool takes = false;
  SmallVector<SizesAttr> rest;
  for (SizesAttr piece : pieces) {
    takes |= static_cast<bool>(piece.intersect(when));
    piece.subtract(when, rest);
  }
  pieces = std::move(rest);
  return takes;
}

SmallVector<ScheduleAttr> attnc::attn::keepServing(ArrayRef<ScheduleAttr> schedules, SizesAttr known) {
  SmallVector<ScheduleAttr> kept;
  std::map<Program, OpenSizes> open;
  for (ScheduleAttr schedule : schedules) {
    if (!schedule.getWhen().intersect(known))
      continue;
    SizesAttr when = schedule.getWhen().without(known);
    if (open.try_emplace(schedule.getProgram(), schedule.getContext()).first->second.take(when))
      kept.push_back(schedule.forSizes(when));
  }
  return kept;
}

ScheduleAttr attnc::attn::uniteAlike(ScheduleAttr first, ScheduleAttr second) {
  if (first.forAllSizes() != second.forAllSizes())
    return {};
  SizesAttr both = first.getWhen().unite(second.getWhen());
  return both ? second.forSizes(both) : ScheduleAttr();
}

SmallVector<ScheduleAttr> attnc::attn::joinAlike(ArrayRef<ScheduleAttr> schedules) {
  SmallVector<ScheduleAttr> joined;
  for (ScheduleAttr schedule : schedules) {
    if (ScheduleAttr both = joined.empty() ? ScheduleAttr() : uniteAlike(joined.back(), schedule))
      joined.back() = both;
    else
      joined.push_back(schedule);
  }
  return joined;
}
