//===- AttnInterfaces.cpp - Interfaces of the attn dialect ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnInterfaces.h"
#include "dialect/attn/AttnAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;
using namespace attnc::attn;

#include "dialect/attn/AttnInterfaces.cpp.inc"

void attnc::attn::expandSugar(Operation *op) {
  op->walk([](SugarOpInterface sugar) {
    OpBuilder builder(sugar);
    Value expanded = sugar.expand(builder);
    sugar->getResult(0).replaceAllUsesWith(expanded);
    sugar->erase();
  });
}

/// Size of a dimension counted from the last one: the same for padded and packed tensors.
static int64_t dimFromEnd(Value tensor, int64_t fromEnd) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getDimSize(type.getRank() - fromEnd);
}

int64_t KernelOpInterface::getQueryHeads() { return dimFromEnd((*this).getQuery(), 2); }
int64_t KernelOpInterface::getKeyHeads() { return dimFromEnd((*this).getKey(), 2); }
float KernelOpInterface::getLiteralScale() {
  if (std::optional<APFloat> literal = (*this).getStaticScale())
    return literal->convertToFloat();
  return static_cast<float>(1 / std::sqrt(static_cast<double>(getHeadDim())));
}

bool KernelOpInterface::mayRoundToTf32() {
  auto function = (*this)->getParentOfType<func::FuncOp>();
  return function && function->hasAttr(tf32AttrName) && getElementTypeOrSelf((*this).getQuery()).isF32();
}

SmallVector<Region *> KernelOpInterface::getElementRegions() {
  SmallVector<Region *> regions{&(*this).getScore(), &(*this).getMask()};
  if (Region *derivative = (*this).getDerivativeOrNull())
    regions.push_back(derivative);
  return regions;
}

int64_t KernelOpInterface::getHeadDim() { return dimFromEnd((*this).getQuery(), 1); }

int64_t KernelOpInterface::getPageRows() { return dimFromEnd((*this).getKey(), 3); }

int64_t KernelOpInterface::getQueryRows() {
  int64_t rows = dimFromEnd((*this).getQuery(), 3);
  if (!isPacked() || ShapedType::isDynamic(rows))
    return rows;
  int64_t offsets = dimFromEnd((*this).getQueryOffsets(), 1);
  return offsets > 1 ? llvm::divideCeil(rows, offsets - 1) : ShapedType::kDynamic;
}

SmallVector<ScheduleAttr> KernelOpInterface::getSchedules() {
  ArrayAttr schedules = (*this).getSchedulesAttr();
  return schedules ? llvm::to_vector(schedules.getAsRange<ScheduleAttr>()) : SmallVector<ScheduleAttr>();
}

ScheduleAttr KernelOpInterface::getScheduleFor(SizesAttr sizes) {
  for (ScheduleAttr schedule : getSchedules())
    if (schedule.getWhen().contains(sizes))
      return schedule;
  return {};
}

void KernelOpInterface::setSchedules(ArrayRef<ScheduleAttr> schedules) {
  SmallVector<Attribute> attributes(schedules.begin(), schedules.end());
  (*this).setSchedulesAttr(ArrayAttr::get((*this)->getContext(), attributes));
}
