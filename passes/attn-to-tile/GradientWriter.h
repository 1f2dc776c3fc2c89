//===- GradientWriter.h - The steps of programs of gradients ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_GRADIENTWRITER_H
#define ATTNC_PASSES_ATTN_TO_TILE_GRADIENTWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/attn-to-tile/TileBuilder.h"

namespace attnc::attn {

/// Writes one of the programs of a backward.
class GradientWriter {
public:
  /// Writes into the program that `b` has started for `op`.
  GradientWriter(TileBuilder &b, BackwardOp op);

  // The bodies of programs (see BackwardPrograms.h).
  void writeQueryGradient();
  void writeStatistics();
  void writeKeyGradients(bool ofKeys, bool ofValues, bool ofQueries);
  void writeConvertedSums();
  void writeSinkGradients();
  /// A tensor that heads or batch entries share: for each of its tiles the gradients of all that keep something of it.
  void writeSharedTiles(const CapturedGradient &one);
  /// What rows of queries read of a table, by the value of its computed index: sums for several of them.
  void writeBuckets(const CapturedGradient &one);
  /// What elements read anywhere: each adds to a sum in memory, which `writeClearing` clears before.
  void writeScattered();
  void writeClearing();
  /// What other programs have left for each query or key of each head, added up over all that share an element.
  void writeSums(const CapturedGradient &one);

private:
  /// What a step knows of its rows, or of its columns: the other is null.
  struct Statistics {
    mlir::Value offset, delta;
    bool ofRows;
    llvm::SmallVector<mlir::Value> rows(llvm::ArrayRef<mlir::Value> values) const {
      return ofRows ? llvm::to_vector(values) : llvm::SmallVector<mlir::Value>();
    }
    llvm::SmallVector<mlir::Value> columns(llvm::ArrayRef<mlir::Value> values) const {
      return ofRows ? llvm::SmallVector<mlir::Value>() : llvm::to_vector(values);
    }
  };

  /// What a tile of keys accumulates: both gradients, or one of them, and sums of captured tensors for the head at
  /// hand.
  struct KeySums {
    mlir::Value key, value;
    llvm::SmallVector<mlir::Value> captured = {};
    mlir::Value previous = {}; ///< the first query of the step whose gradients were shared last, or null
    mlir::Value after = {};    ///< the place in the order that these are added after, or null
    bool hasReducer = false;   ///< whether a warpgroup of its own adds up what is shared, in its own step
    bool ofReducer = false;    ///< whether that of keys is what it adds up
    llvm::SmallVector<mlir::Value> values() const {
      llvm::SmallVector<mlir::Value> values = gradients();
      if (previous)
        values.push_back(previous);
      if (after)
        values.push_back(after);
      llvm::append_range(values, captured);
      return values;
    }
    /// Those of keys and values, which all heads of a group have in common.
    llvm::SmallVector<mlir::Value> gradients() const {
      return llvm::to_vector(
          llvm::make_filter_range(llvm::ArrayRef{key, value}, [](mlir::Value sum) { return !!sum; }));
    }
    /// The sums of the form of these that hold `values`.
    KeySums with(mlir::ValueRange values) const {
      size_t number = 0;
      KeySums sums = *this;
      if (key)
        sums.key = values[number++];
      if (value)
        sums.value = values[number++];
      sums.previous = previous ? values[number++] : mlir::Value();
      sums.after = after ? values[number++] : mlir::Value();
      sums.captured.assign(values.begin() + number, values.end());
      return sums;
    }
  };

  /// The gradients of the logits of a step, of the type that products take, and of what its elements read of the
  /// captured tensors that are wanted, f32 each.
  struct LogitGradients {
    mlir::Value logits;
    llvm::SmallVector<mlir::Value> captured;
  };

  /// What a step knows of its logits: raw products, scores, and where there is one the slope, else null.
  struct Logits {
    mlir::Value products, scores, slope;
  };

  /// The weights of a step, and what differences of their gradients and delta are multiplied by: the same, times the
  /// slope where there is one. The logits are not wanted then any longer. Dropout is told by numbers, or, once they are
  /// marked, by the signs of the weights of gradients.
  struct Weights {
    mlir::Value all, ofGradients;
    mlir::Value numbers;
    bool areMarked = false;
    bool areHandedOver = false; ///< by another warpgroup: see `handOver`
  };

  /// What weights that are handed over in f16 are multiplied by: the largest is within it, and small ones keep their
  /// bits.
  static constexpr float handedOverFactor = 0x1p15F;

  // Products and sums.
  /// a * b^T, of a tile of rows and columns that lie in rows.
  mlir::Value product(mlir::Value a, mlir::Value transposedB);
  /// Whether products run asynchronously.
  bool overlapsProducts() const;
  /// The same for the products that only the gradients of logits need, or null. Where products run asynchronously, they
  /// start before the exponentials, which then run while they do; elsewhere they would only hold registers.
  mlir::Value productAhead(mlir::Value a, mlir::Value transposedB);
  /// Gives a tile of this step, of 16 bits, to all warps; and the oldest of them that has not been taken.
  void share(mlir::Value tile);
  mlir::Value takeShared();
  /// Gives a warpgroup of its own what it needs of weights, and gives them as they are there, in the type of products:
  /// in f16 times `handedOverFactor`, since they are 1 at most. `kept` are those of `weights` that dropout keeps, in
  /// that type.
  Weights handOver(const Weights &weights, mlir::Value kept);
  /// Of gradients of logits that were shared, what queries get from a tile of keys: gradients^T * key.
  mlir::Value queryGradients(mlir::Value gradients, mlir::Value key);
  /// sum + a * columns.
  mlir::Value accumulate(mlir::Value a, mlir::Value columns, mlir::Value sum) {
    return b.product(a, columns, sum, /*transposed=*/false);
  }
  /// `sum` of each row, with its columns. They are added up apart first: rounding errors grow with the length of a
  /// chain of additions.
  mlir::Value addColumns(mlir::Value tile, mlir::Value sum) {
    mlir::Value none = b.splat(b.rowType(builder.getF32Type()), 0);
    mlir::Value part = tile::ReduceOp::create(builder, loc, tile::ReduceKind::Add, tile, none, /*partial=*/false);
    return mlir::arith::AddFOp::create(builder, loc, sum, part);
  }
  /// A tile of f32 of 0.
  mlir::Value zeros(int64_t columns) { return b.splat(b.tileType(columns, builder.getF32Type()), 0); }
  /// The head dim of queries, keys or values.
  static int64_t dimOf(mlir::Value tensor) {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape().back();
  }

  // Elements.
  /// Of each row of queries what is added to its logits, its negated LSE, and delta. For a row that keeps nothing, or
  /// that holds no query, that is -inf: its probabilities then are 0, and no difference of infinities arises.
  std::pair<mlir::Value, mlir::Value> buildStatistics(mlir::Value outGradient);
  /// What the score and its slope, where there is one that is wanted, have in common is computed once, and the products
  /// are not kept.
  Logits buildLogits(mlir::Value products, mlir::Value first, bool wantsSlope);
  /// exp(score - lse), 0 where the mask drops.
  Weights probabilities(const Logits &logits, const ColumnStep &step, const Statistics &statistics);
  /// Marks weights that both gradients of keys and of values are made of, where there is dropout and no slope, whose
  /// signs are its own: their numbers would be held from one to the other.
  Weights mark(const Weights &weights);
  /// Those that dropout keeps, and 0, in the type of products.
  mlir::Value keptWeights(const Weights &weights);
  /// Whether dropout keeps the element of a marked weight.
  mlir::Value isKept(mlir::Value weight);
  /// `product`, of `factor` with what may be no number, or 0 where that is 0.
  mlir::Value unlessZero(mlir::Value factor, mlir::Value product);
  /// Score's derivatives of weight * (dropout * product of d_out and the value - delta): by the logit where
  /// `wantsLogits`, and by what is read of some captured tensors, with two results for a table (see
  /// `CapturedGradient::yielded`).
  LogitGradients logitGradients(const Weights &weights, const Logits &logits, mlir::Value weightProducts,
                                mlir::Value first, const Statistics &statistics, bool wantsLogits,
                                llvm::ArrayRef<CapturedGradient> wanted);
  /// Adds `tile` to the gradients of queries of the step from `first` on, or to those of the step before.
  void addOfStep(mlir::Value tile, mlir::Value first);
  void addOfStepBefore(mlir::Value tile, const KeySums &sums);
  /// A gradient of logits taken to one of queries or keys, in their type. Rows that hold none may be anything but
  /// stored.
  mlir::Value scaled(mlir::Value tile, mlir::Value scale);

  // Captured tensors.
  /// What programs that compute nothing but gradients of captured tensors read of a tile's queries.
  struct QueryRows {
    mlir::Value query, outGradient;
    Statistics statistics;
  };
  QueryRows loadQueryRows();
  /// The products of a tile's queries and the keys of a step, from `first` on.
  mlir::Value logitProducts(const QueryRows &rows, mlir::Value first);
  /// What the elements of a step, which has these products, read of captured tensors: of each of `wanted` what the
  /// derivative region yields for it. `startNext` writes what is to start before the elements.
  llvm::SmallVector<mlir::Value> capturedGradients(
      const QueryRows &rows, const ColumnStep &step, llvm::ArrayRef<CapturedGradient> wanted, mlir::Value products,
      llvm::function_ref<void()> startNext = [] {});
  /// Those of some forms, in order.
  llvm::SmallVector<CapturedGradient> capturedOf(llvm::ArrayRef<CapturedForm> forms) {
    return getCapturedGradients(op, forms);
  }
  /// Sums of captured tensors, of nothing yet: one for each row.
  llvm::SmallVector<mlir::Value> emptySums(llvm::ArrayRef<CapturedGradient> list);
  /// Leaves the sums of rows, for the head at hand, to the program that adds them up.
  void storeSums(llvm::ArrayRef<CapturedGradient> list, mlir::ValueRange sums);
  /// `tile`, 0 in rows that hold no query: those may be of anything. And the same where rows past the last are not left
  /// out anyway, as they are where they are stored or added up by rows.
  mlir::Value existing(mlir::Value tile);
  mlir::Value ofExistingRows(mlir::Value tile);
  /// What one head of one batch entry makes of a sum that it shares with others, by a step that has these products.
  mlir::Value addShared(const CapturedGradient &one, const QueryRows &rows, const ColumnStep &step,
                        mlir::Value products, mlir::Value sum, llvm::function_ref<void()> startNext);
  /// The same of the sums of steps from these keys on. Products of queries and keys of each start before the elements
  /// of the one before.
  llvm::SmallVector<mlir::Value> addSharedSteps(const CapturedGradient &one, llvm::ArrayRef<mlir::Value> steps,
                                                const ColumnBounds &bounds, bool masked, mlir::ValueRange sums);
  /// The same where data decides about steps, which are looked at one by one.
  llvm::SmallVector<mlir::Value> addSharedAsDecided(const CapturedGradient &one, llvm::ArrayRef<mlir::Value> steps,
                                                    const ColumnBounds &bounds, mlir::ValueRange sums);
  /// Stores gradients of 0 where the mask drops whole tiles, in tensors that have a number for each query and key.
  void storeUnvisited(const ColumnBounds &bounds);

  // Steps.
  /// Stores what the programs whose tiles are of keys read of the tile's rows of queries.
  Statistics storeStatistics(mlir::Value outGradient);
  /// What a step of keys makes of the sums of a tile of queries.
  llvm::SmallVector<mlir::Value> queryStep(mlir::Value query, mlir::Value outGradient, const ColumnStep &step,
                                           const Statistics &statistics, mlir::ValueRange state);
  /// What a step of queries makes of the sums of a tile of keys.
  llvm::SmallVector<mlir::Value> keyStep(mlir::Value key, mlir::Value value, const ColumnStep &step, KeySums sums);

  TileBuilder &b;
  BackwardOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// In which tiles of keys add to gradients of queries, for the head at hand.
  std::optional<TileBounds::AddingOrder> order;
  mlir::Type element; ///< of queries, keys and values, and of what products take
  ExponentUnit unit;  ///< of probabilities
  /// Whether raw products serve as scores: no score region, and a positive scale that the unit's factor takes in.
  bool rawLogits;
  float lseFactor; ///< what natural LSEs are multiplied by
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_GRADIENTWRITER_H
