//===- TileContext.h - What a tile program is of ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What all parts of the builder know: the kernel, its schedule, the program and its arguments, and where the tile
// stands; and operations on scalars and rows that each of them writes.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILECONTEXT_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILECONTEXT_H

#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/KernelFunction.h"
#include "dialect/tile/TileOps.h"
#include "passes/attn-to-tile/Workspaces.h"

namespace attnc::attn {

/// The queries of a sequence, or its keys and values. Rows count within the sequence.
struct TileSide {
  mlir::Value base;   ///< row of the tensor at which the sequence starts
  mlir::Value stored; ///< rows of the sequence that the tensor stores, padding included
  mlir::Value count;  ///< rows that hold queries or keys (S11)
};

/// Where a tile stands. The rows of a tile are queries, and the columns of its steps keys; or the other way round in
/// programs whose tiles are of keys.
struct TileGeometry {
  mlir::Value batch, keyHead;
  mlir::Value head; ///< the query head, or the first of those that the tile holds
  mlir::Value row0; ///< first row of the tile, of queries or of keys
  TileSide query, key;
  mlir::Value shift; ///< position of query 0 of the sequence; keys stand at their rows (S2)
  mlir::Value holds; ///< whether the tile has rows; null where each has
};

/// What a program of a kernel does: the work that its schedule is of, or the block mask, the list of steps that the
/// mask keeps anything in.
enum class ProgramKind { Kernel, BlockMask };

/// Whether a block mask lists the steps of the kernel's loop over columns: its schedule wants one, and there is
/// something to list.
bool hasBlockMask(KernelOpInterface kernel, ScheduleAttr schedule);

/// What all parts of a builder share.
class TileContext {
public:
  /// The program.
  tile::ProgramOp getProgram() { return program; }
  /// The program's argument for an argument of the spec's function.
  mlir::Value lookup(mlir::Value value) { return arguments.lookup(value); }
  /// Whether the spec's function returns a result of the kernel.
  bool isReturned(mlir::Value result) const { return result && destinations.contains(result); }
  /// True where rows hold queries, or keys in a program whose tiles are of keys: vector<rows x i1>.
  mlir::Value buildRowExists();

  /// Whether results are to be exact to the last bits of f32: that is their type, and products do not round more. CPUs
  /// have none that do.
  bool isExact() {
    bool floats = mlir::cast<mlir::RankedTensorType>(kernel.getQuery().getType()).getElementType().isF32();
    return floats && !(getPipeline() && kernel.mayRoundToTf32());
  }
  /// Whether the unit of logits is an octave: powers of 2 are what GPUs compute, and f32 does not show that log2(e) is
  /// rounded. CPUs have polynomials for either, of which those of e are more exact.
  bool countsOctaves() { return getPipeline() || !isExact(); }
  /// acc + a * b: a product of tiles, of f32 by as many bits as the kernel asks for (see `tile.mma`).
  mlir::Value product(mlir::Value a, mlir::Value b, mlir::Value acc, bool transposed, bool leftTransposed = false);

  /// What `ofHead` makes for each of the tile's heads: a scalar for one, else a row vector.
  mlir::Value gatherHeads(llvm::function_ref<mlir::Value(mlir::Value)> ofHead);

  /// What the program computes.
  Program getProgramKind() const { return schedule.getProgram(); }
  /// Rows of a tile of logits, and its columns, which are those of a step.
  int64_t getRows() const { return schedule.getRows(); }
  int64_t getColumns() const { return schedule.getColumns(); }
  /// Heads that a tile holds for each of its queries.
  int64_t getHeads() const { return schedule.getHeads(); }
  /// Queries, or keys, of a tile or a step.
  int64_t getExtent(Coordinate axis) const {
    return axis == Coordinate::Query ? schedule.getQueries() : schedule.getKeyTile();
  }
  /// What rows and columns are: `Coordinate::Query` or `Coordinate::Key`.
  Coordinate getRowAxis() const { return schedule.tilesKeys() ? Coordinate::Key : Coordinate::Query; }
  Coordinate getColumnAxis() const { return getRowAxis() == Coordinate::Query ? Coordinate::Key : Coordinate::Query; }
  /// Queries or keys of the sequence that the tile is of, and where it stands among them.
  const TileSide &getSide(Coordinate axis) const { return axis == Coordinate::Query ? geometry.query : geometry.key; }
  const TileGeometry &getGeometry() const { return geometry; }
  /// How a GPU overlaps steps; null on a CPU.
  PipelineAttr getPipeline() const { return schedule.getPipeline(); }
  /// Whether warps have some of the columns of a tile each, since all of them together would have more rows.
  bool sharesRows() const { return schedule.countPartsOfRows() > 1; }

  // Small builders.
  /// The size of a dimension of a view.
  mlir::Value viewDim(mlir::Value view, int64_t dim);
  /// Types of a row vector, a column vector and a tile of that many columns.
  mlir::VectorType rowType(mlir::Type element) const { return mlir::VectorType::get({getRows()}, element); }
  mlir::VectorType columnType(mlir::Type element) const { return tile::getColumnVectorType(getColumns(), element); }
  mlir::VectorType tileType(int64_t cols, mlir::Type element) const {
    return mlir::VectorType::get({getRows(), cols}, element);
  }
  /// Constants: an index, and a number.
  mlir::Value index(int64_t value);
  mlir::Value f32(float value);
  /// A constant tile or row vector.
  mlir::Value splat(mlir::VectorType type, float value);
  /// A scalar in every element.
  mlir::Value broadcast(mlir::Value scalar);
  /// A row vector of one number or the other.
  mlir::Value choose(mlir::Value condition, float yes, float no);
  /// Sums, differences, products, minima and maxima of indices with a sign.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);

  /// Where the program is written, and what its operations are told to come from.
  mlir::OpBuilder builder;
  mlir::Location loc;

protected:
  /// Of a program that is yet to be created (see `TileBuilder`), which goes where `context` is.
  TileContext(mlir::MLIRContext *context, const KernelFunction &function, KernelOpInterface kernel,
              ScheduleAttr schedule, ProgramKind kind, std::optional<CapturedGradient> captured)
      : builder(context), loc(kernel.getLoc()), function(function), kernel(kernel), schedule(schedule), kind(kind),
        captured(std::move(captured)) {}

  /// Query heads that have tiles of their own, or key heads where tiles are of keys.
  int64_t countHeadTiles();
  /// The tensor whose rows are rows of tiles: the queries, or the keys.
  mlir::Value rowTensor() { return getRowAxis() == Coordinate::Query ? kernel.getQuery() : kernel.getKey(); }
  /// The `group` of an access to a view whose heads lie along `headDimension`, or that has none.
  llvm::SmallVector<int64_t> rowGroup(std::optional<int64_t> headDimension) const;
  /// A workspace of the program, as the kernel's others call it.
  struct Workspace {
    std::string name;
    mlir::Type element;
    int64_t knownColumns = mlir::ShapedType::kDynamic; ///< where the type says them
    mlir::AffineExpr rows = {}, columns = {};          ///< of its grid's symbols
  };
  /// Says how large the workspace of that name is.
  void setWorkspace(llvm::StringRef name, mlir::AffineExpr rows, mlir::AffineExpr columns);
  /// Whether the program is one of gradients.
  bool isBackward() const { return !llvm::is_contained({Program::Forward, Program::Combine}, schedule.getProgram()); }
  /// A size that the grid depends on, as a symbol; `sizes` are those so far.
  mlir::AffineExpr sizeOf(mlir::Value value, int64_t dim, llvm::SmallVectorImpl<int64_t> &sizes);
  /// The remainder of `rest` by `count`; the quotient is left.
  mlir::Value takePlace(mlir::Value &rest, mlir::Value count);
  /// Whether sequences of an axis follow each other without padding.
  bool isPacked(Coordinate axis);
  /// Rows of queries or keys that are stored of a padded sequence, or where they are packed of all.
  mlir::Value countStored(Coordinate axis, mlir::Value view);
  /// The same of keys, as a size that the grid depends on.
  mlir::AffineExpr keyRows(llvm::SmallVectorImpl<int64_t> &sizes);
  /// An element of a tensor of lengths, as an index, at most `limit`.
  mlir::Value loadLength(mlir::Value lengths, mlir::Value position, mlir::Value limit);

  /// The kernel's function, the kernel, its schedule, and what the program does for it.
  const KernelFunction &function;
  KernelOpInterface kernel;
  ScheduleAttr schedule;
  ProgramKind kind;
  /// The captured tensor whose gradient is all that the program computes, where there is one.
  std::optional<CapturedGradient> captured;
  /// The program, and its arguments for those of the function.
  tile::ProgramOp program;
  mlir::IRMapping arguments;
  /// Where results of the kernel go: the program's arguments, one for each time that the function returns one.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> destinations;
  /// Where the tile stands.
  TileGeometry geometry;
  llvm::SmallVector<Workspace> workspaces; ///< in the order of the program's arguments
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILECONTEXT_H
