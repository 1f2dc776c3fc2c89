//===- PanelEmitter.h - Tile operations on one panel of rows ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Writes a run of tile operations for one panel. A tile of the panel is a buffer [columns][rows]. A tile that is used
// once is not stored but computed where it is used, a block of columns at a time; reductions of a tile are computed in
// the loop that computes it.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_PANELEMITTER_H
#define ATTNC_CODEGEN_CPU_PANELEMITTER_H

#include "codegen/cpu/RegionFunction.h"
#include "dialect/tile/TileOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include <vector>

namespace attnc::cpu {

/// Values that live longer than a run of operations: where they are kept, for all panels.
struct ProgramValues {
  mlir::IRMapping scalars; ///< index, element and view values of the program
  /// Key and value tiles, which all panels share, by how they are packed: `n` columns of a product side by side, for
  /// each step of its sum.
  llvm::DenseMap<mlir::Value, mlir::Value> packedRows, packedColumns;
  /// The same for products of pairs: rows of bf16, or columns as rows.
  llvm::DenseMap<mlir::Value, mlir::Value> pairedRows, pairedColumns;
  /// Loaded rows for them: [panels][columns / 2][2 * rows] or, of one panel, [columns / 2][2 * rows].
  llvm::DenseMap<mlir::Value, mlir::Value> pairs;
  llvm::DenseMap<mlir::Value, mlir::Value> columns;      ///< column vectors: [columns]
  llvm::DenseMap<mlir::Value, mlir::Value> states;       ///< tiles [panels][columns][rows], row vectors [panels][rows]
  llvm::DenseMap<mlir::Value, mlir::Value> whole;        ///< tiles that are read across rows: [rows][columns]
  llvm::DenseMap<mlir::Operation *, mlir::Value> shared; ///< where `tile.share` writes, in the same form
  /// The regions that are functions, by their operations.
  llvm::DenseMap<mlir::Operation *, RegionFunction> functions;

  mlir::Value &packed(mlir::Value tile, bool byRows) { return (byRows ? packedRows : packedColumns)[tile]; }
  mlir::Value &forPairs(mlir::Value tile, bool byRows) { return (byRows ? pairedRows : pairedColumns)[tile]; }

  /// The emitted scalar or view of a value of the program.
  mlir::Value scalar(mlir::Value value) const { return scalars.lookup(value); }
};

/// Whether a product is one of pairs of bf16, by tile registers or two products at a time, where there are such, and
/// from operands that are laid out for that.
bool usesPairs(const EmitContext &context, tile::MmaOp op);

/// Whether a tile of bf16 is kept as pairs of columns, [columns / 2][2 * rows], since nothing but products of pairs
/// reads it.
bool isPaired(const EmitContext &context, mlir::Value tile);

/// Writes a run of operations on rows.
class PanelEmitter {
public:
  /// `targets`: buffers in `values.states` form that results are to end in, by value.
  PanelEmitter(EmitContext &context, ProgramValues &values, llvm::ArrayRef<mlir::Operation *> run,
               const llvm::DenseMap<mlir::Value, mlir::Value> &targets);

  /// Writes the run for panel number `panel`; the insertion point is inside the loop over panels.
  void emit(mlir::Value panel);
  /// Copies a value that was computed before into a buffer of the form of `values.states`.
  void copy(mlir::Value panel, mlir::Value value, mlir::Value target);
  /// Whether a condition that was computed before holds in any row of the panel.
  mlir::Value any(mlir::Value panel, mlir::Value conditions);
  /// Copies the panel's rows of a tile that was computed before to the tile `whole`, [rows][columns].
  void copyWhole(mlir::Value panel, mlir::Value tile, mlir::Value whole);

  /// Whether an operation works on rows, and so belongs into a run.
  static bool isRowOp(mlir::Operation &op);
  /// Whether a value has an element for each row of the tile.
  static bool isRowValue(mlir::Value value);

private:
  // Which values are stored, and where.
  bool usedOutside(mlir::Value value) const;
  bool isDeferred(mlir::Value value) const;
  /// A tile and the buffer that it ends in.
  using StoredTile = std::pair<mlir::Value, mlir::Value>;
  mlir::Value bufferFor(mlir::Value tile, mlir::Operation *writer, llvm::ArrayRef<StoredTile> taken);
  mlir::Value reusableBuffer(mlir::Operation *writer, llvm::ArrayRef<StoredTile> taken);
  llvm::SmallVector<tile::ReduceOp> fusedReductions(mlir::Value tile);

  // Tiles.
  /// The buffer that holds a tile, or null: a panel's own, or a state.
  mlir::Value findStored(mlir::Value tile) const;
  mlir::Value stored(mlir::Value tile);
  mlir::Value asStored(mlir::Value lanes);
  bool multiplies(mlir::Operation *op) const;
  void materialize(mlir::Operation *op);
  void materializeVectors(mlir::Operation *op, llvm::ArrayRef<StoredTile> stores,
                          llvm::ArrayRef<tile::ReduceOp> reductions);
  ColumnBlock evaluate(mlir::Value tile, mlir::Value column);
  std::vector<ColumnBlock> evaluateOp(mlir::Operation *op, mlir::Value column);
  ColumnBlock sumSteps(mlir::Value low, mlir::Value high,
                       llvm::function_ref<void(mlir::Value, llvm::MutableArrayRef<mlir::Value>)> step);
  ColumnBlock sumProducts(tile::MmaOp op, mlir::Value column, mlir::Value low, mlir::Value high);
  ColumnBlock sumPairs(tile::MmaOp op, mlir::Value column);
  void prefetchNext(tile::MmaOp op, mlir::Value block, int64_t blocks);
  ColumnBlock evaluateMma(tile::MmaOp op, mlir::Value column);
  std::vector<ColumnBlock> evaluateElementwise(mlir::Operation *op, mlir::Value column);
  llvm::SmallVector<mlir::Value> bufferIndices(mlir::Value buffer, mlir::Value column);
  void storeBlock(const ColumnBlock &block, mlir::Value buffer, mlir::Value column);
  Lanes combine(tile::ReduceKind kind, const Lanes &acc, const ColumnBlock &block);

  // Products of pairs, and those by tile registers.
  void emitTileProduct(tile::MmaOp op);
  mlir::Value pairsOf(mlir::Value tile) const;
  void storePairs(const ColumnBlock &block, mlir::Value buffer, mlir::Value column);
  void fillWith(mlir::Value tile, mlir::Value buffer);

  // Row vectors.
  void bringRows(mlir::Operation *op);
  Lanes rowVector(mlir::Value value);
  void storeRowVector(const Lanes &lanes, mlir::Value target);
  void emitRowVectorOp(mlir::Operation *op);
  void emitReduce(tile::ReduceOp op);

  // Memory.
  mlir::Value placeFor(mlir::Value value);
  mlir::Value bufferOf(mlir::Value tile);
  void emitLoad(tile::LoadOp op);
  void loadPairs(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  void emitScatter(tile::ScatterOp op);
  /// Where a load or store meets the view: the panel's first element there, and how much of the panel lies below the
  /// limits.
  struct PanelAccess {
    mlir::Value view;
    llvm::SmallVector<mlir::Value> base;
    int64_t rowAxis, columnAxis; ///< columnAxis is -1 for a row vector
    tile::RowGroup group;
    int64_t columns;
    mlir::Value liveRows, liveColumns;
    mlir::Value pages; ///< null where rows are in none
    bool blocked;      ///< the view has the order of `tile::BlockedRows`
  };
  /// How a store adds to what is there: not, while other threads may add to the same, or in its turn.
  enum class Addition { None, Atomic, Plain };
  template <typename Op>
  PanelAccess accessOf(Op op, mlir::VectorType type);
  llvm::SmallVector<mlir::Value> viewIndices(const PanelAccess &access, mlir::Value row, mlir::Value column);
  void moveToBlocked(const PanelAccess &access, llvm::MutableArrayRef<mlir::Value> indices);
  llvm::SmallVector<mlir::Value> elementIndices(const PanelAccess &access, mlir::Value buffer, mlir::Value row,
                                                mlir::Value column);
  void forElements(const PanelAccess &access, int64_t columnsOfSquare, int64_t columnsOfSingle,
                   llvm::function_ref<void(mlir::Value, mlir::Value)> square,
                   llvm::function_ref<void(mlir::Value, mlir::Value)> single);
  void copyIn(const PanelAccess &access, mlir::Value buffer);
  void copyOut(const PanelAccess &access, mlir::Value buffer, mlir::Type element, Addition addition);

  // Tiles that are read as a whole.
  PanelAccess accessOfWhole(mlir::Value whole, bool isTurned);
  void copyToWhole(mlir::Value tile, mlir::Value whole);
  void emitRead(tile::ReadOp op);
  void bringLeft(mlir::Value tile);
  void finish();

  EmitContext &context;
  ProgramValues &values;
  llvm::ArrayRef<mlir::Operation *> run;
  const llvm::DenseMap<mlir::Value, mlir::Value> &targets;
  llvm::DenseSet<mlir::Operation *> inRun;
  mlir::Value panel;                                ///< number of the panel
  int64_t width;                                    ///< columns computed together now
  int64_t firstVector = 0;                          ///< SIMD vectors of a column that are computed now: the first,
  int64_t numVectors;                               ///< and how many
  llvm::DenseMap<mlir::Value, mlir::Value> buffers; ///< stored tiles: a panel's own, or a state
  llvm::DenseMap<mlir::Value, Lanes> rows;          ///< row vectors
  llvm::DenseSet<mlir::Operation *> done;           ///< reductions that were fused
};

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_PANELEMITTER_H
