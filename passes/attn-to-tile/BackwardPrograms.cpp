//===- BackwardPrograms.cpp - Tile programs of gradients --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Dao, Fu, Ermon, Rudra and Re, "FlashAttention" (2022), algorithm 4, as two loops: probabilities are computed again
// from the saved LSE. What follows from the LSE and the output of a row is computed once, by the first program.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/BackwardPrograms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/attn/ElementRegisters.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Writes one of the two programs.
class GradientWriter {
public:
  GradientWriter(TileBuilder &b, BackwardOp op) : b(b), op(op), builder(b.builder), loc(b.loc) {
    element = cast<RankedTensorType>(op.getQuery().getType()).getElementType();
    // f32 is exact first, as in forward.
    unit.octaves = !element.isF32();
    float scale = KernelOpInterface(op).getLiteralScale();
    // Sinks are natural, and may be as large as f32 holds.
    rawLogits = op.getScore().empty() && !op.getScale() && scale > 1e-20f && !op.getSinks();
    unit.factor = rawLogits ? scale * unit.perNatural() : unit.perNatural();
    lseFactor = rawLogits ? unit.perNatural() : 1;
  }

  void writeQueryGradient();
  void writeKeyGradients(bool ofKeys, bool ofValues);
  void writeSinkGradients();

private:
  /// What a step knows of its rows, or of its columns: the other is null.
  struct Statistics {
    Value lse, delta;
    bool ofRows;
    SmallVector<Value> rows(ArrayRef<Value> values) const {
      return ofRows ? llvm::to_vector(values) : SmallVector<Value>();
    }
    SmallVector<Value> columns(ArrayRef<Value> values) const {
      return ofRows ? SmallVector<Value>() : llvm::to_vector(values);
    }
  };

  /// What a tile of keys accumulates: both gradients, or one of them.
  struct KeySums {
    Value key, value;
    SmallVector<Value> values() const {
      return llvm::to_vector(llvm::make_filter_range(ArrayRef{key, value}, [](Value sum) { return !!sum; }));
    }
    /// The sums of the form of these that hold `values`.
    KeySums with(ValueRange values) const { return {key ? values.front() : Value(), value ? values.back() : Value()}; }
  };

  Value product(Value a, Value transposedB);
  Value productAhead(Value a, Value transposedB);
  Value accumulate(Value a, Value columns, Value sum) {
    return tile::MmaOp::create(builder, loc, a, columns, sum, /*transposed=*/false);
  }
  Value zeros(int64_t columns) { return b.splat(b.tileType(columns, builder.getF32Type()), 0); }
  static int64_t dimOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); }

  std::pair<Value, Value> buildStatistics(Value outGradient);
  /// What a step knows of its logits: raw products, scores, and where functions make them the slope, else null.
  struct Logits {
    Value products, scores, slope;
  };
  Logits buildLogits(Value products, Value first, bool wantsSlope);
  Value probabilities(const Logits &logits, Value first, const Statistics &statistics, const ColumnBounds &bounds,
                      bool masked);
  Value logitGradients(Value weights, const Logits &logits, Value weightProducts, Value first,
                       const Statistics &statistics);
  SmallVector<Value> queryStep(Value query, Value outGradient, Value first, const Statistics &statistics,
                               const ColumnBounds &bounds, ValueRange state, bool masked);
  SmallVector<Value> keyStep(Value key, Value value, Value first, const ColumnBounds &bounds, KeySums sums,
                             bool masked);
  SmallVector<Value> overColumns(ValueRange initial, const ColumnBounds &bounds,
                                 function_ref<SmallVector<Value>(Value first, ValueRange state, bool masked)> step);
  Value scaled(Value tile, Value scale);

  TileBuilder &b;
  BackwardOp op;
  OpBuilder &builder;
  Location loc;
  Type element;      ///< of queries, keys and values, and of what products take
  ExponentUnit unit; ///< of probabilities
  /// Whether raw products serve as scores: no score region, and a positive scale that the unit's factor takes in.
  bool rawLogits;
  float lseFactor; ///< what natural LSEs are multiplied by
};

} // namespace

/// a * b^T, of a tile of rows and columns that lie in rows.
Value GradientWriter::product(Value a, Value transposedB) {
  return tile::MmaOp::create(builder, loc, a, transposedB, zeros(b.getColumns()), /*transposed=*/true);
}

/// The same for the products that only the gradients of logits need, or null. Where products run asynchronously, they
/// start before the exponentials, which then run while they do; elsewhere they would only hold registers.
Value GradientWriter::productAhead(Value a, Value transposedB) {
  PipelineAttr pipeline = b.getPipeline();
  return pipeline && pipeline.getStaging() == Staging::Tma ? product(a, transposedB) : Value();
}

/// The LSE and delta of each row of queries. The LSE of a row that keeps nothing, or that
/// holds no query, is +inf: its probabilities then are 0, and no difference of infinities arises.
std::pair<Value, Value> GradientWriter::buildStatistics(Value outGradient) {
  Value out = b.loadRows(op.getOut());
  auto wide = [&](Value x) -> Value {
    return x.getType().isF32() ? x : arith::ExtFOp::create(builder, loc, builder.getF32Type(), x).getResult();
  };
  Value products = b.buildMap({out, outGradient}, {}, {}, builder.getF32Type(), [&](ValueRange x) -> Value {
    return arith::MulFOp::create(builder, loc, wide(x[0]), wide(x[1]));
  });
  VectorType rows = b.rowType(builder.getF32Type());
  Value delta =
      tile::ReduceOp::create(builder, loc, tile::ReduceKind::Add, products, b.splat(rows, 0), /*partial=*/false);
  if (op.getDLse())
    delta = arith::SubFOp::create(builder, loc, delta, b.loadRowVector(op.getDLse()));

  Value lse = b.loadRowVector(op.getLse()), none = b.splat(rows, infinity);
  Value isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, lse, b.splat(rows, -infinity));
  if (lseFactor != 1)
    lse = arith::MulFOp::create(builder, loc, lse, b.splat(rows, lseFactor));
  lse = arith::SelectOp::create(builder, loc, isEmpty, none, lse);
  if (op.getQueryLengths())
    lse = arith::SelectOp::create(builder, loc, b.buildRowExists(), lse, none);
  return {lse, delta};
}

/// Functions are dear: what the score and its slope, where that is wanted, have in common is computed once, and the
/// slope kept in place of the products.
GradientWriter::Logits GradientWriter::buildLogits(Value products, Value first, bool wantsSlope) {
  if (rawLogits)
    return {products, products, {}};
  if (!wantsSlope || !hasFunctions(op.getDerivative()))
    return {products, b.buildNaturalScore(products, first), {}};
  auto [scores, slope] = b.buildScoreAndSlope(products, first);
  return {products, scores, slope};
}

/// exp(score - lse), 0 where the mask drops.
Value GradientWriter::probabilities(const Logits &logits, Value first, const Statistics &statistics,
                                    const ColumnBounds &bounds, bool masked) {
  Value scores = logits.scores;
  if (masked)
    scores = b.buildMask(scores, first, bounds);
  return b.buildMap(scores, statistics.rows({statistics.lse}), statistics.columns({statistics.lse}),
                    builder.getF32Type(), [&](ValueRange x) {
                      auto inUnit = [&](Value value) -> Value {
                        return unit.factor == 1 ? value
                                                : arith::MulFOp::create(builder, loc, value, b.f32(unit.factor));
                      };
                      // Scores may be as large as f32 holds, and have no number in octaves then.
                      Value distance = rawLogits ? arith::SubFOp::create(builder, loc, inUnit(x[0]), x[1])
                                                 : inUnit(arith::SubFOp::create(builder, loc, x[0], x[1]));
                      // Huge scores are above their LSE by its rounding, which may be more than any exponent.
                      distance = arith::MinimumFOp::create(builder, loc, distance, b.f32(0));
                      return unit.power(builder, loc, distance);
                    });
}

/// The gradients of the logits, of the type that products take: score's derivative of weight * (dropout * product of
/// d_out and the value - delta).
Value GradientWriter::logitGradients(Value weights, const Logits &logits, Value weightProducts, Value first,
                                     const Statistics &statistics) {
  Value dropped = b.buildDropout(weightProducts, first, builder.getF32Type());
  bool isDone = op.getDerivative().empty() || logits.slope;
  auto body = [&](ValueRange x) -> Value {
    Value difference = arith::SubFOp::create(builder, loc, x[1], x.back());
    Value gradient = arith::MulFOp::create(builder, loc, x[0], difference);
    if (logits.slope) {
      // What has no gradient gives none, whatever the slope is there.
      Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, gradient, b.f32(0));
      Value product = arith::MulFOp::create(builder, loc, gradient, x[2]);
      gradient = arith::SelectOp::create(builder, loc, none, b.f32(0), product);
    }
    if (!isDone || element.isF32())
      return gradient;
    return arith::TruncFOp::create(builder, loc, element, gradient);
  };
  SmallVector<Value> tiles{weights, dropped};
  if (logits.slope)
    tiles.push_back(logits.slope);
  Value gradients = b.buildMap(tiles, statistics.rows({statistics.delta}), statistics.columns({statistics.delta}),
                               isDone ? element : builder.getF32Type(), body);
  if (isDone)
    return gradients;
  gradients = b.buildDerivative(gradients, logits.products, first);
  if (element.isF32())
    return gradients;
  return b.buildMap(gradients, {}, {}, element,
                    [&](ValueRange x) -> Value { return arith::TruncFOp::create(builder, loc, element, x[0]); });
}

/// A loop over the columns of `bounds` that carries `initial`.
SmallVector<Value>
GradientWriter::overColumns(ValueRange initial, const ColumnBounds &bounds,
                            function_ref<SmallVector<Value>(Value first, ValueRange state, bool masked)> step) {
  auto loop = scf::ForOp::create(builder, loc, bounds.low, bounds.high, b.buildColumnStep(), initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value first = loop.getInductionVar();
  ValueRange state = loop.getRegionIterArgs();
  scf::YieldOp::create(builder, loc,
                       b.buildStep(first, state, [&](bool masked) { return step(first, state, masked); }));
  return loop.getResults();
}

/// A gradient of logits taken to one of queries or keys, in their type. Rows that hold none may be anything but stored.
Value GradientWriter::scaled(Value tile, Value scale) {
  Value factors = b.broadcast(scale);
  bool hasPadding = static_cast<bool>(b.getRowAxis() == Coordinate::Key ? op.getKeyLengths() : op.getQueryLengths());
  if (hasPadding)
    factors =
        arith::SelectOp::create(builder, loc, b.buildRowExists(), factors, b.splat(b.rowType(builder.getF32Type()), 0));
  return b.scaleRows(tile, factors, element, /*mostlyOne=*/false, /*zeroDrops=*/hasPadding);
}

//===----------------------------------------------------------------------===//
// Tiles of queries
//===----------------------------------------------------------------------===//

SmallVector<Value> GradientWriter::queryStep(Value query, Value outGradient, Value first, const Statistics &statistics,
                                             const ColumnBounds &bounds, ValueRange state, bool masked) {
  Value keys = b.loadColumns(op.getKey(), first, /*masked=*/false);
  Value values = b.loadColumns(op.getValue(), first, /*masked=*/false);
  Value products = product(query, keys), weightProducts = productAhead(outGradient, values);
  Logits logits = buildLogits(products, first, /*wantsSlope=*/true);
  Value weights = probabilities(logits, first, statistics, bounds, masked);
  if (!weightProducts)
    weightProducts = product(outGradient, values);
  Value gradients = logitGradients(weights, logits, weightProducts, first, statistics);
  return {accumulate(gradients, keys, state[0])};
}

void GradientWriter::writeQueryGradient() {
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.buildBounds();
  Value query = b.loadRows(op.getQuery()), outGradient = b.loadRows(op.getDOut());
  auto [lse, delta] = buildStatistics(outGradient);
  b.storeStatistic(TileBuilder::RowStatistic::Lse, lse);
  b.storeStatistic(TileBuilder::RowStatistic::Delta, delta);
  Statistics statistics{lse, delta, /*ofRows=*/true};
  SmallVector<Value> sums =
      overColumns(zeros(dimOf(op.getQuery())), bounds, [&](Value first, ValueRange state, bool masked) {
        return queryStep(query, outGradient, first, statistics, bounds, state, masked);
      });
  b.storeRows(scaled(sums[0], b.buildScale()), op.getDQuery());
}

//===----------------------------------------------------------------------===//
// Tiles of keys
//===----------------------------------------------------------------------===//

SmallVector<Value> GradientWriter::keyStep(Value key, Value value, Value first, const ColumnBounds &bounds,
                                           KeySums sums, bool masked) {
  Value queries = b.loadColumns(op.getQuery(), first, /*masked=*/false);
  Value outGradients = b.loadColumns(op.getDOut(), first, /*masked=*/false);
  auto loadStatistics = [&](TileBuilder::RowStatistic statistic) { return b.loadStatistic(statistic, first); };
  Statistics statistics{loadStatistics(TileBuilder::RowStatistic::Lse),
                        sums.key ? loadStatistics(TileBuilder::RowStatistic::Delta) : Value(), /*ofRows=*/false};
  Value products = product(key, queries);
  Value weightProducts = sums.key ? productAhead(value, outGradients) : Value();
  Logits logits = buildLogits(products, first, /*wantsSlope=*/static_cast<bool>(sums.key));
  Value weights = probabilities(logits, first, statistics, bounds, masked);
  if (sums.value)
    sums.value = accumulate(b.buildDropout(weights, first, element), outGradients, sums.value);
  if (sums.key) {
    if (!weightProducts)
      weightProducts = product(value, outGradients);
    sums.key = accumulate(logitGradients(weights, logits, weightProducts, first, statistics), queries, sums.key);
  }
  return sums.values();
}

void GradientWriter::writeKeyGradients(bool ofKeys, bool ofValues) {
  b.buildGeometry();
  Value key = b.loadRows(op.getKey()), value = ofKeys ? b.loadRows(op.getValue()) : Value();
  KeySums sums{ofKeys ? zeros(dimOf(op.getKey())) : Value(), ofValues ? zeros(dimOf(op.getValue())) : Value()};
  auto ofHead = [&](ValueRange state) {
    b.buildCaptures();
    ColumnBounds bounds = b.buildBounds();
    return overColumns(state, bounds, [&](Value first, ValueRange inner, bool masked) {
      return keyStep(key, value, first, bounds, sums.with(inner), masked);
    });
  };
  KernelOpInterface kernel = op;
  if (int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads(); group == 1) {
    sums = sums.with(ofHead(sums.values()));
  } else {
    auto loop = scf::ForOp::create(builder, loc, b.index(0), b.index(group), b.index(1), sums.values());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    b.setHead(b.add(b.mul(b.getGeometry().keyHead, b.index(group)), loop.getInductionVar()));
    scf::YieldOp::create(builder, loc, ofHead(loop.getRegionIterArgs()));
    sums = sums.with(loop.getResults());
  }
  if (sums.key)
    b.storeRows(scaled(sums.key, b.buildScale()), op.getDKey());
  if (sums.value)
    b.storeRows(scaled(sums.value, b.f32(1)), op.getDValue());
}

//===----------------------------------------------------------------------===//
// Tiles of sinks
//===----------------------------------------------------------------------===//

/// A sink is a key without a value: what it has of each row's probability, times -delta, summed over all rows.
void GradientWriter::writeSinkGradients() {
  b.buildSinkGeometry();
  Value sinks = b.loadSinks(), zero = b.index(0), none = zeros(b.getColumns());
  Type f32 = builder.getF32Type();
  auto ofColumns = [&](Value sum) -> Value {
    auto loop = scf::ForOp::create(builder, loc, zero, b.getGeometry().query.count, b.index(b.getColumns()), sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value first = loop.getInductionVar();
    SmallVector<Value> statistics{b.loadStatistic(TileBuilder::RowStatistic::Lse, first),
                                  b.loadStatistic(TileBuilder::RowStatistic::Delta, first)};
    Value terms = b.buildMap(none, sinks, statistics, f32, [&](ValueRange x) -> Value {
      Value sink = x[1].getType().isF32() ? x[1] : arith::ExtFOp::create(builder, loc, f32, x[1]).getResult();
      Value distance = arith::SubFOp::create(builder, loc, sink, x[2]);
      distance = arith::MinimumFOp::create(builder, loc, distance, b.f32(0));
      distance = arith::MulFOp::create(builder, loc, distance, b.f32(unit.perNatural()));
      Value probability = unit.power(builder, loc, distance);
      return arith::SubFOp::create(builder, loc, x[0], arith::MulFOp::create(builder, loc, probability, x[3]));
    });
    Value next = tile::ReduceOp::create(builder, loc, tile::ReduceKind::Add, terms, loop.getRegionIterArg(0),
                                        /*partial=*/false);
    scf::YieldOp::create(builder, loc, next);
    return loop.getResult(0);
  };
  auto overRange = [&](Value end, Value sum, function_ref<Value(Value, Value)> body) -> Value {
    auto loop = scf::ForOp::create(builder, loc, zero, end, b.index(1), sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, body(loop.getInductionVar(), loop.getRegionIterArg(0)));
    return loop.getResult(0);
  };
  KernelOpInterface kernel = op;
  auto ofHead = [&](Value sum) -> Value {
    if (kernel.isPacked()) {
      b.setBatch({});
      return ofColumns(sum);
    }
    return overRange(b.viewDim(b.lookup(op.getQuery()), 0), sum, [&](Value batch, Value inner) {
      b.setBatch(batch);
      return ofColumns(inner);
    });
  };
  Value sum = b.splat(b.rowType(f32), 0);
  if (cast<RankedTensorType>(op.getSinks().getType()).getRank() == 2)
    sum = ofHead(sum);
  else
    sum = overRange(b.index(kernel.getQueryHeads()), sum, [&](Value head, Value inner) {
      b.setHead(head);
      return ofHead(inner);
    });
  Type type = cast<RankedTensorType>(op.getSinks().getType()).getElementType();
  if (!type.isF32())
    sum = arith::TruncFOp::create(builder, loc, b.rowType(type), sum);
  b.storeSinkGradient(sum, op.getDSinks());
}

void attnc::attn::writeQueryGradient(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeQueryGradient();
  tile::ReturnOp::create(b.builder, b.loc);
}

void attnc::attn::writeKeyGradients(TileBuilder &b, BackwardOp op, bool ofKeys, bool ofValues) {
  GradientWriter(b, op).writeKeyGradients(ofKeys, ofValues);
  tile::ReturnOp::create(b.builder, b.loc);
}

void attnc::attn::writeSinkGradients(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeSinkGradients();
  tile::ReturnOp::create(b.builder, b.loc);
}
