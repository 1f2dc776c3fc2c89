//===- RowTerms.cpp - What elements of a row share --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/RowTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

RowTerms::RowTerms(Operation *op) : body(&op->getRegion(0).front()) {
  // Arguments are elements of tiles, numbers of rows, numbers of columns, the query's position and the key's.
  auto map = dyn_cast<MapOp>(op);
  auto mask = dyn_cast<MaskOp>(op);
  size_t tiles = map ? map.getTiles().size() : mask.getTiles().size();
  size_t rows = map ? map.getRows().size() : mask.getRows().size();
  for (Value row : body->getArguments().slice(tiles, rows))
    terms[row] = {};
  terms[body->getArguments().drop_back().back()] = {};
  terms[body->getArguments().back()] = {/*step=*/1};
}

std::optional<RowTerm> RowTerms::find(Value value) const {
  if (auto it = terms.find(value); it != terms.end())
    return it->second;
  if (value.getParentBlock() == body)
    return std::nullopt;
  return RowTerm();
}

bool RowTerms::isLinearProduct(Operation &op) const {
  if (!isa<arith::MulFOp>(op) || !op.getResult(0).getType().isF32())
    return false;
  std::optional<RowTerm> a = find(op.getOperand(0)), b = find(op.getOperand(1));
  if (!a || !b || a->isUniform() == b->isUniform())
    return false;
  return !(a->isUniform() ? b : a)->magnitude;
}

std::optional<std::pair<RowRule, RowTerm>> RowTerms::classify(Operation &op) const {
  if (op.getNumResults() == 1 && op.getNumOperands() > 0 && !isa<memref::MemRefDialect>(op.getDialect())) {
    std::optional<RowTerm> a = find(op.getOperand(0));
    std::optional<RowTerm> b = op.getNumOperands() == 2 ? find(op.getOperand(1)) : std::nullopt;
    Type type = op.getResult(0).getType();
    if (op.hasAttr(anchorAttrName) && isLinearProduct(op)) {
      RowTerm term = a->isUniform() ? *b : *a;
      term.distributed = true;
      return std::pair(RowRule::Product, term);
    }
    if (isa<arith::AddIOp, arith::SubIOp>(op) && type.isIndex() && a && b && !a->magnitude && !b->magnitude)
      return std::pair(RowRule::Sum, RowTerm{isa<arith::AddIOp>(op) ? a->step + b->step : a->step - b->step});
    if (a && !a->isUniform() && op.getNumOperands() == 1) {
      if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && type.isInteger(32))
        return std::pair(RowRule::Same, *a);
      if (isa<math::AbsIOp>(op))
        return std::pair(RowRule::Magnitude, RowTerm{a->step, /*magnitude=*/true});
      if (isa<arith::SIToFPOp>(op) && type.isF32())
        return std::pair(RowRule::ToFloat, *a);
    }
  }
  if (op.getNumRegions() != 0 || !(isMemoryEffectFree(&op) || isa<memref::LoadOp>(op)))
    return std::nullopt;
  for (Value operand : op.getOperands())
    if (std::optional<RowTerm> term = find(operand);
        !isa<MemRefType>(operand.getType()) && (!term || !term->isUniform()))
      return std::nullopt;
  return std::pair(RowRule::Uniform, RowTerm());
}

std::optional<RowRule> RowTerms::add(Operation &op) {
  auto found = classify(op);
  if (!found)
    return std::nullopt;
  for (Value result : op.getResults())
    terms[result] = found->second;
  return found->first;
}
