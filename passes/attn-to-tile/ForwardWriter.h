//===- ForwardWriter.h - The steps of programs of forward -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Online softmax over tiles of keys: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao,
// Fu, Ermon, Rudra and Re, "FlashAttention" (2022), section 3.1.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_FORWARDWRITER_H
#define ATTNC_PASSES_ATTN_TO_TILE_FORWARDWRITER_H

#include "passes/attn-to-tile/TileBuilder.h"

namespace attnc::attn {

/// Writes a program of one kernel, of forward or of weights, by one of its schedules.
class ForwardWriter {
public:
  /// Starts the program `name` at the end of `module`.
  ForwardWriter(mlir::ModuleOp module, const KernelFunction &function, KernelOpInterface kernel, ScheduleAttr schedule,
                llvm::StringRef name);

  /// The program whose tiles go over keys. Where these are split, it leaves the state of its part.
  void write();
  /// The program that combines what parts have left (S16).
  void writeCombining();

private:
  /// Carried from tile to tile of keys: accumulated output (absent where none is returned), row maxima (absent where
  /// weights are taken relative to one number), row sums.
  struct State {
    mlir::Value out, max, sum;
    llvm::SmallVector<mlir::Value> values() const;
    /// The state of the form of this one that holds `values`.
    State with(mlir::ValueRange values) const;
  };

  /// What a part of the keys has left: whether there is one, and its rows' maxima, sums and output.
  struct Part {
    mlir::Value exists, max, sum, out;
  };

  void chooseUnit();
  void chooseReference();
  State initialState();
  std::pair<mlir::Value, mlir::Value> sinkState();
  mlir::Value logits(mlir::Value query, mlir::Value j, const ColumnBounds &bounds, bool masked);
  bool rescalesOnGrowth() { return b.getPipeline() && b.getPipeline().getRescaling() == Rescaling::OnGrowth; }
  State step(mlir::Value query, mlir::Value j, State state, const ColumnBounds &bounds, bool masked);
  void writeForward(ForwardOp op, State state);
  void writeWeights(WeightsOp op, mlir::Value query, State state);
  void writePart(ForwardOp op, State state);
  void combineParts(ForwardOp op);
  Part loadPart(mlir::Value number, mlir::Value parts);
  mlir::Value factorBetween(mlir::Value max, mlir::Value finite);
  mlir::Value weightsOfPart(const Part &part, mlir::Value finite);
  State addPart(const Part &part, mlir::Value finite, State state);
  State addParts(llvm::ArrayRef<Part> parts, State state);
  tile::SoftmaxEndOp finish(State state);
  mlir::Value outputFactors(tile::SoftmaxEndOp end);
  mlir::Value divideRows(mlir::Value tile, mlir::Value factors, mlir::Type element);
  void storeOutput(ForwardOp op, State state, tile::SoftmaxEndOp end);
  void storeResults(ForwardOp op, State state, tile::SoftmaxEndOp end);

  /// The values, where what comes of them is wanted.
  mlir::Value valueOrNull() {
    auto forward = mlir::dyn_cast<ForwardOp>(kernel.getOperation());
    return forward && b.isReturned(forward.getOut()) ? forward.getValue() : mlir::Value();
  }
  /// Of queries, keys and values.
  mlir::Type elementType() { return mlir::cast<mlir::RankedTensorType>(kernel.getQuery().getType()).getElementType(); }
  mlir::Value constant(float value) { return b.splat(b.rowType(builder.getF32Type()), value); }
  mlir::Value equals(mlir::Value x, float value);
  /// Row maxima, and 0 for rows without one: what is subtracted from -inf leaves -inf.
  mlir::Value finiteMax(mlir::Value max);

  TileBuilder b;
  KernelOpInterface kernel;
  ScheduleAttr schedule;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ExponentUnit unit;
  /// Whether raw products serve as logits: no score region, and a positive scale that `factor` takes in.
  bool rawLogits = false;
  /// What all weights are taken relative to, in place of row maxima, where scores have limits that allow it.
  std::optional<float> reference;
  Part lateSinks;           ///< maxima and weights of sinks that are added to sums at their end
  mlir::Value greatestSink; ///< of each row, where it may be beyond f32 in the unit of logits
  bool listed;              ///< whether a block mask lists the steps
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_FORWARDWRITER_H
