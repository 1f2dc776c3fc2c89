//===- PanelElementwise.cpp - Maps and masks of a panel ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/RegionEmitter.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

std::vector<ColumnBlock> PanelEmitter::evaluateElementwise(Operation *op, Value column) {
  auto map = dyn_cast<tile::MapOp>(op);
  auto mask = dyn_cast<tile::MaskOp>(op);
  ValueRange tiles = map ? ValueRange(map.getTiles()) : ValueRange(mask.getTiles());
  ValueRange rowOperands = map ? ValueRange(map.getRows()) : ValueRange(mask.getRows());
  ValueRange colOperands = map ? ValueRange(map.getCols()) : ValueRange(mask.getCols());
  auto group = static_cast<int64_t>(map ? map.getGroup() : mask.getGroup());
  Value i0 = values.scalar(map ? map.getI() : mask.getI()), j0 = values.scalar(map ? map.getJ() : mask.getJ());
  OpBuilder &b = context.builder;
  Location loc = context.loc;

  std::vector<ColumnBlock> inputs;
  for (Value tile : tiles)
    inputs.push_back(evaluate(tile, column));
  SmallVector<Lanes> rowInputs;
  for (Value vector : rowOperands)
    rowInputs.push_back(rowVector(vector));

  // Positions of the rows, as 32-bit lanes. Panels begin with whole groups of rows that share one.
  Block &body = op->getRegion(0).front();
  BlockArgument iArgument = body.getArgument(body.getNumArguments() - 2);
  Lanes positions;
  if (!iArgument.use_empty()) {
    Value first = context.add(i0, context.mul(panel, context.index(context.panelRows() / group)));
    Value first32 = arith::IndexCastOp::create(b, loc, b.getI32Type(), first);
    for (int64_t number = 0; number < context.vectors; ++number) {
      SmallVector<int32_t> steps;
      for (int64_t lane = 0; lane < context.lanes; ++lane)
        steps.push_back(static_cast<int32_t>((number * context.lanes + lane) / group));
      Value offsets = arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(context.vectorType(b.getI32Type()), ArrayRef(steps)));
      positions.push_back(arith::AddIOp::create(b, loc, context.splat(first32), offsets));
    }
  }

  RegionEmitter region(context, body, values.scalars);
  auto code = values.functions.find(op);
  bool isFunction = RegionFunction::isWorthwhile(context, body, width * context.vectors);
  std::vector<ColumnBlock> results(op->getNumResults());
  for (int64_t offset = 0; offset < width; ++offset) {
    Value at = context.add(column, context.index(offset));
    Value j = context.add(j0, at);
    SmallVector<Value> colElements;
    for (Value vector : colOperands)
      colElements.push_back(columnElement(context, values, vector, at));
    for (ColumnBlock &block : results)
      block.emplace_back();
    for (int64_t number = 0; number < numVectors; ++number) {
      SmallVector<Value> arguments;
      for (const ColumnBlock &block : inputs)
        arguments.push_back(block[offset][number]);
      for (const Lanes &lanes : rowInputs) {
        Value rows = lanes[firstVector + number];
        // In a region, an index has 32 bits.
        if (cast<VectorType>(rows.getType()).getElementType().isIndex())
          rows = arith::IndexCastOp::create(b, loc, context.vectorType(b.getI32Type()), rows);
        arguments.push_back(rows);
      }
      arguments.append(colElements);
      // A position that is not used needs no value.
      arguments.push_back(positions.empty() ? context.index(0) : positions[firstVector + number]);
      arguments.push_back(j);
      if (isFunction && code == values.functions.end())
        code = values.functions.try_emplace(op, context, body, values.scalars, arguments).first;
      Lanes yielded = isFunction ? code->second.call(context, values.scalars, arguments) : region.emit(arguments);
      if (mask) {
        Value dropped = context.splat(context.constant(b.getF32Type(), -std::numeric_limits<double>::infinity()));
        yielded = {arith::SelectOp::create(b, loc, yielded.front(), inputs.front()[offset][number], dropped)};
      }
      for (auto [block, value] : llvm::zip_equal(results, yielded))
        block.back().push_back(value);
    }
  }
  return results;
}
