//===- EmitContext.h - What emitters of one role share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A thread's part of a 64-row tile is that of an accumulator of wgmma (PTX ISA 9.7.15.5.1), which per warp is that of
// mma.sync (9.7.14.5.8): two rows eight apart, and in each group of eight columns two that are adjacent. Elements 4g
// and 4g + 1 are the upper row's of group g, 4g + 2 and 4g + 3 the lower row's. Where a warp has 32 rows, a thread has
// four of them, each eight further than the last, and elements 8g to 8g + 7 of group g.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_EMITCONTEXT_H
#define ATTNC_CODEGEN_NVPTX_EMITCONTEXT_H

#include "codegen/nvptx/KernelAbi.h"
#include "codegen/nvptx/Ptx.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <array>

namespace attnc::nvptx {

/// Rows of a thread's part of a band of sixteen rows.
constexpr int64_t rowsOfBand = 2;

/// Where the thread's row of this number lies, from its first on.
inline int64_t rowOf(int64_t threadRow) { return 8 * threadRow; }

/// Whether a thread's part of a tile holds pairs of elements: where they have 16 bits.
inline bool isPacked(mlir::Type tile) { return llvm::cast<mlir::VectorType>(tile).getElementTypeBitWidth() == 16; }

/// A thread's part of a tile.
struct Fragment {
  /// Pairs of 16-bit elements, 2p and 2p + 1, in one i32; else one value an element.
  bool packed = false;
  llvm::SmallVector<mlir::Value> values;
  /// What is to be added to the elements of each of the thread's rows; empty where nothing is.
  llvm::SmallVector<mlir::Value> shifts = {};
};

/// The part of a tile in shared memory that products of one warpgroup read.
enum class TilePart : uint8_t { Whole, OwnRows, OwnColumns };

/// A tile in shared memory: where it starts, as i32, or the low words of descriptors of it, by `TilePart`; those that
/// no product reads are null.
struct SharedTile {
  mlir::Value address;
  std::array<mlir::Value, 3> descriptors;
  mlir::VectorType tile;
  mlir::Value &descriptorOf(TilePart part) { return descriptors[static_cast<size_t>(part)]; }
};

/// How many warpgroups share the work that `op` is part of.
int64_t countWarpgroups(mlir::Operation *op);
/// Whether a tile of all warpgroups, of which `count` share it, is dealt to them by columns: it has rows for one of
/// them.
inline bool isDealtByColumns(mlir::VectorType tile, int64_t count) {
  return count > 1 && tile.getDimSize(0) == tile::warpgroupRows;
}
/// How many columns of `tile` each of the `count` warpgroups that share it has.
inline int64_t countOwnColumns(mlir::VectorType tile, int64_t count) {
  return tile.getDimSize(1) / (isDealtByColumns(tile, count) ? count : 1);
}
/// What `start` reads of its left or right operand.
TilePart getPartOf(tile::StartOp start, bool left);

/// Where the thread stands among the consumers. All are i32 or i1.
struct Place {
  mlir::Value warpgroup;  ///< number among the consumers
  mlir::Value thread;     ///< in its warpgroup
  mlir::Value warp, lane; ///< warp in the warpgroup, lane in the warp
  mlir::Value row;        ///< first row of the tile that the thread has part of
  mlir::Value column;     ///< first column
  mlir::Value isLeader;   ///< one thread of the warpgroup
};

/// The values of a program as one thread sees them, and where code goes.
class EmitContext {
public:
  EmitContext(mlir::OpBuilder &builder, mlir::Location loc, KernelAbi &abi, tile::ProgramOp program)
      : ptx(builder, loc), abi(abi), pipeline(program.getPipelineAttr()),
        programRows(static_cast<int64_t>(program.getRows())), warpgroupRows(static_cast<int64_t>(program.getPanel())),
        rowsOfThread(warpgroupRows * lanesOfRow / warpgroupThreads), partsOfRows(tile::countPartsOfRows(program)) {}

  /// Which of the thread's rows an element is in.
  int64_t threadRowOf(int64_t element) const { return element / 2 % rowsOfThread; }
  /// Which of the thread's columns it is in.
  int64_t threadColumnOf(int64_t element) const { return element / (2 * rowsOfThread) * 2 + element % 2; }
  /// The column of an element, from the thread's first on.
  int64_t columnOf(int64_t element) const { return element / (2 * rowsOfThread) * 8 + element % 2; }
  /// Whether warps have the same rows, since all of them together would have more than a tile; and then the first row
  /// that the thread has.
  bool sharesRows() const { return partsOfRows > 1; }
  mlir::Value findSharedRow();
  /// Which part of the columns of its rows the warp has, where others have the rest.
  mlir::Value findPartOfRows();
  /// In how many parts the columns of a tile, or of a column vector, are dealt to warps that have the same rows: where
  /// a tile has fewer rows than all warps together. Of programs with roles, warpgroups say that (`isDealtByColumns`).
  int64_t countParts(mlir::VectorType type) const;
  /// How many of the columns the warp has.
  int64_t columnsOfWarp(mlir::VectorType type) const { return type.getDimSize(1) / countParts(type); }
  /// How many elements of a column vector the thread has.
  int64_t countColumns(mlir::VectorType vector) const { return columnsOfWarp(vector) / lanesOfRow; }
  /// Elements of a thread's part of a tile.
  int64_t countElements(mlir::VectorType tile) const { return columnsOfWarp(tile) / lanesOfRow * rowsOfThread; }
  /// The first row of a tile that the warp has, and the first of its columns, null where it has all.
  std::pair<mlir::Value, mlir::Value> findPart(mlir::VectorType tile);
  /// `address`, in a row of a tile of 16-bit elements in shared memory, moved on by `column` columns, which may be null
  /// for none: whole panels, or a power of two of pieces.
  mlir::Value moveToColumn(mlir::Value address, const tile::SharedLayout &layout, mlir::Value column);
  /// The first column that the warp has of a tile with the rows of all, or of a column vector; null where it has all.
  mlir::Value findFirstColumn(mlir::VectorType type);
  /// The first that the thread has.
  mlir::Value findColumn(mlir::VectorType type);
  /// Bands of sixteen rows that a warp has.
  int64_t countBands() const { return rowsOfThread / rowsOfBand; }
  /// The thread's rows, by number.
  llvm::SmallVector<int64_t> threadRows() const { return llvm::to_vector(llvm::seq(rowsOfThread)); }

  /// Whether `value`, a scalar, has been computed where the builder stands.
  bool knows(mlir::Value value) const;
  /// The scalar that stands for `value`: i32 for an index.
  mlir::Value scalar(mlir::Value value);
  /// An element of a row vector.
  mlir::Value row(mlir::Value vector, int64_t threadRow);
  /// An element of a column vector, of the thread's column of that number.
  mlir::Value column(mlir::Value vector, int64_t threadColumn);
  /// Element `element` of a tile, in its own type.
  mlir::Value element(mlir::Value tile, int64_t element);
  /// The same without what its row is shifted by.
  mlir::Value unshifted(mlir::Value tile, int64_t element);

  /// `x`, an i32 that is no less than 0, divided by `by`, and what is left.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value x, int64_t by);
  /// What row `row` of a tile adds to an index that `size` rows share.
  mlir::Value stepsOf(mlir::Value row, int64_t size);
  /// Moves `indices` into a view from a tile's first row to row `row`; `axis` is that of rows.
  void moveToRow(llvm::MutableArrayRef<mlir::Value> indices, int64_t axis, tile::RowGroup group, mlir::Value row);

  /// Makes `cast`, other rows of a view, a view of its own.
  void reinterpret(mlir::memref::ReinterpretCastOp cast);

  /// The address of column `column`, where that is not null, of the band that starts in row `row` of `view`, which has
  /// the order of `tile::BlockedRows`.
  mlir::Value findBand(mlir::Value view, mlir::Value row, mlir::Value column);
  /// The addresses of what the warp has of a tile from row `row` of `view` on, in each of its bands; without roles.
  llvm::SmallVector<mlir::Value> findBands(mlir::Value view, mlir::Value row, mlir::VectorType tile);
  /// The words of a warpgroup's tile of 16-bit elements as the thread holds them, two elements each.
  llvm::SmallVector<mlir::Value> packedWords(mlir::Value tile);

  /// Clones an operation on scalars with the values that `lookup` gives; indices become i32.
  llvm::SmallVector<mlir::Value> cloneScalar(mlir::Operation &op, llvm::function_ref<mlir::Value(mlir::Value)> lookup);

  /// Emits `body` for the threads where `condition` holds.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  /// Emits `body` for one thread of those that run the role's code side by side.
  void onOneThread(llvm::function_ref<void()> body);

  /// Writes columns [first, end) of the warpgroup's part of a tile of 16-bit elements to the start of its rows of a
  /// buffer of `layout` at `address`. `packed` has the words of them all.
  void storeFragment(mlir::Value address, const tile::SharedLayout &layout, llvm::ArrayRef<mlir::Value> packed,
                     int64_t first, int64_t end);

  /// The named barrier of the warpgroup: those from `first` on are for the warpgroups of all consumers.
  mlir::Value findBarrier(mlir::Value warpgroup, int64_t first);
  /// Joins the threads of one consumer warpgroup, each on a named barrier of its own: 8, 9, ...
  void syncWarpgroup();

  /// The address of `count` values of type `type` in local memory.
  mlir::Value localArray(mlir::Type type, int64_t count);

  /// The type that stands for one of the program's: i32 for index.
  mlir::Type scalarType(mlir::Type type) const;

  /// Where the warp stands among those that share tiles of `rows` rows, fewer than all warps together would have: which
  /// rows it has, in numbers of its own, and which part of their columns.
  std::pair<mlir::Value, mlir::Value> dealRows(int64_t rows);

  Ptx ptx;
  KernelAbi &abi;
  attn::PipelineAttr pipeline;
  int64_t programRows, warpgroupRows, rowsOfThread; ///< of a tile: all, and that a warpgroup and a thread have part of
  int64_t partsOfRows;                              ///< warps that have some of the columns each of the same rows
  Place place;
  int64_t firstConsumer = 0; ///< warpgroups of consumers whose roles stand before this one
  bool wholeWarp = false;    ///< a warp runs a role's code where one thread would do, to share its loads
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> rows;    ///< those of the thread's rows
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> columns; ///< those of the thread's columns
  llvm::DenseMap<mlir::Value, Fragment> tiles;
  llvm::DenseMap<mlir::Value, SharedTile> sharedTiles;
  /// Of rings, a word that is there when all has been read of what `tile.read` reads; where a loop reads what has been
  /// got before it, the address of a variable of that.
  llvm::DenseMap<mlir::Value, mlir::Value> lastRead, lastReadInLoop;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_EMITCONTEXT_H
