//===- ScatterEmitter.h - Adding elements to sums in memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Additions to one address go one after the other, so that what a warp has for the same place is added up first.
// Whether places are the same is found while the kernel runs; which elements are compared follows how indices are
// computed: along rows, where several keys share an element, and where an index may be a distance, along diagonals.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_SCATTEREMITTER_H
#define ATTNC_CODEGEN_NVPTX_SCATTEREMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits `tile.scatter`.
class ScatterEmitter {
public:
  ScatterEmitter(EmitContext &context, tile::ScatterOp op);

  void emit();

private:
  /// A number of the thread, and where it goes along each axis.
  struct Element {
    mlir::Value number;
    llvm::SmallVector<mlir::Value, 2> places;
  };

  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value isNot(mlir::Value a);
  Element &at(int64_t group, int64_t threadRow, int64_t parity);
  mlir::Value isSame(mlir::ValueRange a, mlir::ValueRange b);
  mlir::Value addIf(mlir::Value condition, mlir::Value sum, mlir::Value number);
  Element select(mlir::Value condition, const Element &a, const Element &b);
  mlir::Value numberFrom(const Element &element, mlir::Value lane);
  llvm::SmallVector<mlir::Value, 2> placesFrom(const Element &element, mlir::Value lane);
  void mergeNeighbours(int64_t group, int64_t threadRow);
  void mergeFurther(int64_t group, int64_t threadRow, int64_t rows);
  void mergeDiagonals();
  void add(mlir::Value condition, const Element &element);
  void addRest(Element rest);

  EmitContext &context;
  Ptx &ptx;
  tile::ScatterOp op;
  llvm::SmallVector<Element> elements;
  int64_t groups;                     ///< of eight columns
  mlir::Value lane, rowOfBlock, pair; ///< in the warp; of the lane, in a block of eight rows; in its row
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_SCATTEREMITTER_H
