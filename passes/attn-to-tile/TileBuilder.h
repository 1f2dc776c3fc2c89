//===- TileBuilder.h - Builds one tile program ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Pieces that every kernel's tile program is made of: where the tile stands, the tensors it reads, and its score and
// mask regions as elementwise operations.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H

#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/KernelFunction.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// The seed of dropout, and the numbers of the problem's first batch entry and head, null where they are 0 (S9).
struct DropoutSeed {
  mlir::Value seed, firstBatch, firstHead;
};

/// Columns [low, high) are visited; [fullLow, fullHigh) are kept by all rows of the tile. Where steps are counted,
/// since a block mask has listed them or each is for several heads, all four are places in their order, and so is
/// `position`, that of the step at hand.
struct ColumnBounds {
  mlir::Value low, fullLow, fullHigh, high;
  mlir::Value position = {};
};

/// A step of the loop over columns.
struct ColumnStep {
  mlir::Value first;   ///< its first column
  ColumnBounds bounds; ///< those of the loop, and the step's place where they are places
  bool masked;         ///< whether the mask may drop some of its elements
};

/// What a program of a kernel does: the work that its schedule is of, or the block mask, the list of steps that the
/// mask keeps anything in.
enum class ProgramKind { Kernel, BlockMask };

using tile::ExponentUnit;

/// Whether a block mask lists the steps of the kernel's loop over columns: its schedule wants one, and there is
/// something to list.
bool hasBlockMask(KernelOpInterface kernel, ScheduleAttr schedule);

/// Builds the body of a `tile.program`.
class TileBuilder {
public:
  /// Starts a program of `kernel`, one of the kernels of `function`, by one of its schedules, at the end of `module`.
  /// `captured`: the captured tensor whose gradient is all that the program computes, where there is one.
  TileBuilder(mlir::ModuleOp module, const KernelFunction &function, KernelOpInterface kernel, ScheduleAttr schedule,
              llvm::StringRef name, ProgramKind kind = ProgramKind::Kernel,
              std::optional<CapturedGradient> captured = std::nullopt);

  /// The program.
  tile::ProgramOp getProgram() { return program; }
  /// The program's argument for an argument of the spec's function.
  mlir::Value lookup(mlir::Value value) { return arguments.lookup(value); }
  /// Whether the spec's function returns a result of the kernel.
  bool isReturned(mlir::Value result) const { return result && destinations.contains(result); }

  /// Finds the tile's place in the problem, and where tiles go over parts of their columns, its part.
  void buildGeometry();
  /// Where tiles go over parts of their columns: the bounds of the tile's part.
  ColumnBounds takePart(ColumnBounds bounds);
  /// Whether the tile's part is the first; null where tiles go over all columns.
  mlir::Value isFirstPart();
  /// Whether there is such a part: blocks past the last have none. And whether there is but one, which leaves results.
  mlir::Value isPart();
  mlir::Value isOnlyPart();
  /// In a program whose tiles are of keys: what follows is for this query head.
  void setHead(mlir::Value head) { geometry.head = head; }
  /// In a program whose tiles are of sinks: finds the tile's place among them, and its head where they differ from head
  /// to head.
  void buildSinkGeometry();
  /// In such programs, and those of captured tensors: what follows is for the queries and keys of this batch entry, or
  /// where it is null for those of all packed sequences.
  void setBatch(mlir::Value batch);
  /// In a program of one captured tensor: finds the tile's place among its elements.
  void buildCapturedGeometry();
  /// Calls `body` in loops over the heads and batch entries that share the tile's elements, which it is then for, with
  /// what is carried; returns what the last leaves.
  mlir::Value forSharers(mlir::Value initial, llvm::function_ref<mlir::Value(mlir::Value carried)> body);
  /// Stores a row vector as the tile's part of the gradient of the captured tensor.
  void storeCapturedVector(mlir::Value vector);
  /// In a program of one scattered gradient: finds the tile's place among its elements, a row of which is a vector.
  void buildScatteredGeometry();
  /// Stores the sums of the tile's elements, loads them, and stores them as the tile's part of the gradient.
  void storeScatteredSums(mlir::Value vector);
  mlir::Value loadScatteredSums();
  void storeScattered(mlir::Value vector);
  /// Adds a tile, whose first column is `first`, to the sums of a scattered gradient, for a read along the axes `read`:
  /// where that has computed indices, at those that tiles of i32 give.
  void scatterCaptured(mlir::Value tile, const CapturedGradient &of, const Axes &read, mlir::ValueRange computed,
                       mlir::Value first);
  /// The tile's sinks: vector<rows x type>.
  mlir::Value loadSinks();
  /// Stores a row vector as the gradient of the tile's sinks.
  void storeSinkGradient(mlir::Value vector, mlir::Value result);
  /// Derives the columns to visit from the kernel's `bounds` or `query_bounds` region, or from the block mask where
  /// there is one.
  ColumnBounds buildBounds();
  /// From now on masks drop rows past the last as well, which otherwise hold arbitrary values: `bounds` for that, where
  /// no columns of a tile with such rows are full.
  ColumnBounds maskRows(ColumnBounds bounds);
  /// How far a step of the loop over columns leads: their number in a step, or one place of the list.
  mlir::Value buildColumnStep();
  /// The column that the step `iv` of that loop starts at.
  mlir::Value buildColumn(mlir::Value iv);
  /// Ends the program, which has those workspaces alone then that it uses.
  void finish();
  /// Lists the steps in a workspace: all that a program of `ProgramKind::BlockMask` does.
  void buildBlockMask();
  /// Whether some and all of `columns` columns from `first` on are kept, from the `blocks` region: (some, all).
  std::pair<mlir::Value, mlir::Value> buildBlock(mlir::Value first, int64_t columns);
  using StepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const ColumnStep &step, mlir::ValueRange state)>;
  /// The loop over the columns within `bounds`, from the state `initial`: `body` gives the next. Where data decides
  /// about steps and no block mask has listed them, there are two, one in the other: of most stretches of several steps
  /// all are left out, or keep all.
  llvm::SmallVector<mlir::Value> overColumns(mlir::ValueRange initial, const ColumnBounds &bounds, StepBody body);
  /// Says of the loop over the steps of the program what of each comes ahead of the rest (`tile::overlapAttrName`).
  void setOverlap(mlir::scf::ForOp loop);
  /// Whether one loop may go through all query heads of the tile's group: nothing but their tensors tells them apart,
  /// and no step has to be looked at.
  bool mayJoinHeads();
  /// That loop, from the last columns to the first, and of each through all heads: blocks that are at work at the same
  /// time then read the same queries, also where a mask lets them begin at different ones.
  llvm::SmallVector<mlir::Value> overColumnsOfHeads(mlir::ValueRange initial, const ColumnBounds &bounds,
                                                    StepBody body);
  /// The results of `step`, with or without the mask, as the `blocks` region says; `state`, where it keeps nothing.
  /// Without such a region, or where a block mask has listed the steps, the mask is always there.
  llvm::SmallVector<mlir::Value> buildStep(mlir::Value first, mlir::ValueRange state,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(bool masked)> step);
  /// Loads what the regions capture that does not depend on the column: scalars and row vectors.
  void buildCaptures();

  /// The tile's rows of `tensor`, which is laid out like queries, or like keys in a program whose tiles are of keys.
  /// `anyBeyond`: rows past the last may hold anything, since nothing of what they give is stored; else they are 0.
  mlir::Value loadRows(mlir::Value tensor, bool anyBeyond = true);
  /// The columns from `first` on that a step has, as rows of `tensor`. `masked`: what comes of rows past the last is
  /// masked, so that they may hold anything; else they are 0.
  mlir::Value loadColumns(mlir::Value tensor, mlir::Value first, bool masked);
  /// One number of `tensor`, laid out like LSE, for each row: vector<rows x f32>, 0 past the last query.
  mlir::Value loadRowVector(mlir::Value tensor);
  /// Stores a tile of rows of `result`, laid out as for `loadRows`, wherever the function returns it; so do the others.
  /// A program that combines parts stores the tile's columns of them.
  void storeRows(mlir::Value tile, mlir::Value result);
  /// Stores a tile of probabilities for keys from `j` on of `result` [B, H, Sq, Sk].
  void storeWeights(mlir::Value tile, mlir::Value result, mlir::Value j);
  /// Stores a tile as the gradient of a captured tensor that has a number for each query and key, for columns from
  /// `first` on.
  void storeCapturedTile(mlir::Value tile, const CapturedGradient &captured, mlir::Value first);
  /// Stores a row vector of `result`, laid out like LSE.
  void storeRowVector(mlir::Value vector, mlir::Value result);

  /// The positive constant that the score region multiplies by last, or 1.
  float getScoreUnit();
  /// scale, and the score region but for that last product. `scores` are raw products, and the first column is `j`,
  /// here and below.
  mlir::Value buildScore(mlir::Value scores, mlir::Value j);
  /// scale and the whole score region.
  mlir::Value buildNaturalScore(mlir::Value scores, mlir::Value j);
  /// The same, and its slope there: what the score region's derivative multiplies gradients by.
  std::pair<mlir::Value, mlir::Value> buildScoreAndSlope(mlir::Value scores, mlir::Value j);
  /// What the score region's derivative yields for the gradients `gradients` where the raw products are `scores`, at
  /// the places `wanted`: place 0 is the gradient of the logit (see `CapturedGradient::yielded`).
  llvm::SmallVector<mlir::Value> buildDerivatives(mlir::Value gradients, mlir::Value scores, mlir::Value j,
                                                  llvm::ArrayRef<unsigned> wanted);
  /// The mask region and the end of the columns.
  mlir::Value buildMask(mlir::Value scores, mlir::Value j, const ColumnBounds &bounds);

  /// The numbers by which dropout chooses among elements whose first column is `j`; null where nothing is dropped (S9).
  mlir::Value buildNumbers(mlir::Value j);
  /// What kept weights are multiplied by, or 1. Sums over them are, in the end, instead.
  mlir::Value buildKeptFactor();
  /// `tile`, of f32 that are no less than 0, with its sign changed where `numbers` drop an element: what dropout does
  /// is known of it then, without the numbers.
  mlir::Value markDropped(mlir::Value tile, mlir::Value numbers);
  /// `tile` with 0 where `numbers`, if there are any, drop an element, cast to `element`.
  mlir::Value buildDropout(mlir::Value tile, mlir::Value numbers, mlir::Type element);

  /// A step of the online softmax of `scores`, whose first column is key `j` (S7); weights are dropped out by `numbers`
  /// and cast to `element` for the product with the values (S9, S13).
  tile::SoftmaxOp buildSoftmax(mlir::Value scores, mlir::Value max, mlir::Value sum, ExponentUnit unit, mlir::Value j,
                               mlir::Value numbers, mlir::Type element);

  /// scale: the spec's number or value.
  mlir::Value buildScale();
  /// True where rows hold queries, or keys in a program whose tiles are of keys: vector<rows x i1>.
  mlir::Value buildRowExists();

  /// A tile of `element`, computed by `body` from elements of tiles, row vectors and column vectors, in this order.
  mlir::Value buildMap(mlir::ValueRange tiles, mlir::ValueRange rows, mlir::ValueRange columns, mlir::Type element,
                       llvm::function_ref<mlir::Value(mlir::ValueRange elements)> body);

  /// The same for several results.
  llvm::SmallVector<mlir::Value>
  buildMaps(mlir::ValueRange tiles, mlir::ValueRange rows, mlir::ValueRange columns, mlir::TypeRange elements,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange elements)> body);

  /// What a backward hands from one program to the others: for each query its LSE, +inf for a row that keeps nothing,
  /// and delta (see `attn.backward`), and for each query or key of a head sums of gradients of captured tensors.
  struct Statistic {
    mlir::Value number; ///< of the row among those of its head
    Coordinate axis = Coordinate::Query;
    bool ofAllRows = false; ///< rows that hold no query have one as well
  };
  Statistic offsetStatistic() { return {index(0), Coordinate::Query, !kernel.isPacked()}; }
  Statistic deltaStatistic() { return {index(1), Coordinate::Query, !kernel.isPacked()}; }
  /// The sums of a captured tensor, or of bucket `bucket` of its computed index.
  Statistic sumStatistic(const CapturedGradient &of, mlir::Value bucket = {});
  /// In a program of a table: the first of the buckets that the tile sums, and how many it sums at most. Their sums are
  /// in registers on a GPU; on a CPU, products are what they cost.
  mlir::Value getFirstBucket() const { return firstBucket; }
  int64_t countBucketsOfTile() const { return std::min<int64_t>(getPipeline() ? 8 : 16, captured->countBuckets()); }
  /// Whether gradients of queries are added up in a workspace: one program computes all three gradients.
  bool hasQuerySums();
  /// The row of query `first` of the head at hand among those sums.
  mlir::Value rowOfQuerySums(mlir::Value first);
  /// A row past all sums.
  mlir::Value endOfQuerySums();
  /// Adds `tile`, what the tile's keys make of gradients of queries, to those sums from `row` on: unscaled, f32.
  /// Nothing is added at the end.
  void addToQuerySums(mlir::Value tile, mlir::Value row);
  /// In a program whose tiles are of queries: clears the sums of the tile's rows, or loads them.
  void clearQuerySums();
  mlir::Value loadQuerySums();
  /// Stores a statistic of the tile's rows.
  void storeStatistic(Statistic statistic, mlir::Value rows);
  /// Loads one of the tile's rows, or of the columns from `first` on, 0 for those that hold no query or key.
  mlir::Value loadRowStatistic(Statistic statistic);
  mlir::Value loadColumnStatistic(Statistic statistic, mlir::Value first);
  /// Whether statistics of columns come through shared memory, as columns do; and the LSE and delta of the columns from
  /// `first` on as rows of one tile.
  bool sharesStatistics();
  mlir::Value loadColumnStatistics(mlir::Value first);

  /// What a part of a row's columns leaves to the program that combines parts, for each row: its maximum, in the unit
  /// of logits, and its sum of weights relative to that.
  enum class PartNumber { Max, Sum };
  /// Stores such a number, and the rows' output, of as many columns as it has.
  void storePart(PartNumber number, mlir::Value rows);
  void storePart(mlir::Value tile);
  /// How many parts there are.
  mlir::Value countParts();
  /// In the program that combines parts, whose tiles have some columns of the output: what part `part` has left.
  mlir::Value loadPart(PartNumber number, mlir::Value part);
  mlir::Value loadPart(mlir::Value part);
  /// In such a program: whether the tile has the first columns, and with them what there is one of for each row.
  mlir::Value hasFirstColumns();

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

  /// Multiplies a row vector by each column of a tile, and casts. `mostlyOne`: the factors are 1 in most steps, in all
  /// rows that are near each other. `zeroDrops`: a factor of 0 gives 0 whatever the tile holds.
  mlir::Value scaleRows(mlir::Value tile, mlir::Value rowFactors, mlir::Type element, bool mostlyOne = false,
                        bool zeroDrops = false);

  /// What the program computes.
  Program getProgramKind() const { return schedule.getProgram(); }
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
  const TileSide &getSide(Coordinate axis) const { return axis == Coordinate::Query ? geometry.query : geometry.key; }
  const TileGeometry &getGeometry() const { return geometry; }
  /// How a GPU overlaps steps; null on a CPU.
  PipelineAttr getPipeline() const { return schedule.getPipeline(); }

  // Small builders.
  /// The size of a dimension of a view.
  mlir::Value viewDim(mlir::Value view, int64_t dim);
  mlir::VectorType rowType(mlir::Type element) const { return mlir::VectorType::get({getRows()}, element); }
  mlir::VectorType columnType(mlir::Type element) const { return tile::getColumnVectorType(getColumns(), element); }
  mlir::VectorType tileType(int64_t cols, mlir::Type element) const {
    return mlir::VectorType::get({getRows(), cols}, element);
  }
  mlir::Value index(int64_t value);
  mlir::Value f32(float value);
  /// A constant tile or row vector.
  mlir::Value splat(mlir::VectorType type, float value);
  /// A scalar in every element.
  mlir::Value broadcast(mlir::Value scalar);
  /// A row vector of one number or the other.
  mlir::Value choose(mlir::Value condition, float yes, float no);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value least(mlir::Value a, mlir::Value b);
  mlir::Value greatest(mlir::Value a, mlir::Value b);

  mlir::OpBuilder builder;
  mlir::Location loc;

private:
  /// How a captured element reaches an elementwise region.
  enum class Capture { Scalar, Row, Column, Tile, Computed };
  /// Operands of an elementwise operation, with the load behind each.
  struct ElementwiseOperands {
    llvm::SmallVector<mlir::Value> tiles, rows, cols;
    llvm::SmallVector<LoadOp> tileLoads, rowLoads, colLoads;

    void append(const ElementwiseOperands &other) {
      llvm::append_range(tiles, other.tiles);
      llvm::append_range(rows, other.rows);
      llvm::append_range(cols, other.cols);
      llvm::append_range(tileLoads, other.tileLoads);
      llvm::append_range(rowLoads, other.rowLoads);
      llvm::append_range(colLoads, other.colLoads);
    }
  };

  int64_t countHeadTiles();
  int64_t countSinks();
  int64_t countSinkTiles();
  llvm::SmallVector<mlir::Value> sinkIndices();
  mlir::Value rowTensor() { return getRowAxis() == Coordinate::Query ? kernel.getQuery() : kernel.getKey(); }
  void placeHead(mlir::Value number);
  llvm::SmallVector<int64_t> rowGroup(std::optional<int64_t> headDimension) const;
  bool keepsExistingKeysOnly();
  /// A workspace of the program, as the kernel's others call it.
  struct Workspace {
    std::string name;
    mlir::Type element;
    int64_t knownColumns = mlir::ShapedType::kDynamic; ///< where the type says them
    mlir::AffineExpr rows = {}, columns = {};          ///< of its grid's symbols
  };
  llvm::SmallVector<Workspace> listWorkspaces();
  mlir::Type workspaceType(const Workspace &workspace) const;
  void setWorkspace(llvm::StringRef name, mlir::AffineExpr rows, mlir::AffineExpr columns);
  void setWorkspaceSizes(unsigned numSymbols);
  bool isBackward() const { return !llvm::is_contained({Program::Forward, Program::Combine}, schedule.getProgram()); }
  int64_t countStatistics();
  int64_t countOutputColumns();
  int64_t countPartColumns();
  int64_t countColumnTiles();
  mlir::Value countTiles();
  mlir::AffineExpr keysOfParts(llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::Value countKeysOfParts();
  mlir::AffineExpr hasParts(mlir::AffineExpr tiles, mlir::AffineExpr keys);
  llvm::SmallVector<mlir::Value> partIndices(mlir::Value ofPart, mlir::Value column);
  mlir::Value endOfPartRows(mlir::Value first);
  mlir::Value columnOf(PartNumber number);
  llvm::SmallVector<mlir::Value> statisticIndices(Statistic statistic, mlir::Value first);
  mlir::Value headOfBatch();
  int64_t statisticUnit();
  int64_t countStoredTogether();
  mlir::Value countStatisticColumns();
  mlir::Value rowsOfHead();
  void storeQuerySums(mlir::Value tile, mlir::Value row, bool accumulate);
  mlir::Value statisticLimit(Statistic statistic);
  mlir::Value loadStatistic(Statistic statistic, mlir::Value first, mlir::VectorType type);
  Coordinate capturedRows() const {
    return captured->form == CapturedForm::KeySums ? Coordinate::Key : Coordinate::Query;
  }
  llvm::SmallVector<mlir::Value> capturedIndices(const CapturedGradient &of, mlir::Value query, mlir::Value key);
  PipelineAttr programPipeline() const;
  bool blockMaskKnowsHeads();
  mlir::AffineExpr sizeOf(mlir::Value value, int64_t dim, llvm::SmallVectorImpl<int64_t> &sizes);
  void setGrid();
  void setWorkspacesOfGradients(mlir::AffineExpr rows, llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::AffineExpr setWorkspaceOfParts(mlir::AffineExpr tiles, mlir::AffineExpr rows,
                                       llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::AffineExpr countCapturedTiles(llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::AffineExpr countScatteredTiles(llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::AffineExpr sizeOfDim(mlir::Value tensor, int64_t dim, llvm::SmallVectorImpl<int64_t> &sizes);
  llvm::SmallVector<CapturedGradient> listScattered();
  void setScatteredWorkspaces(llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::Value scatteredSums(const CapturedGradient &of);
  mlir::Value buildPlaces(Coordinate axis, mlir::Value first);
  int64_t countBucketTiles() const;
  mlir::Value takePlace(mlir::Value &rest, mlir::Value count);
  llvm::SmallVector<mlir::AffineExpr> listLaunchSizes(llvm::SmallVectorImpl<int64_t> &sizes);
  void placeTile(mlir::Value tile);
  mlir::Value loadCount(mlir::Value column);
  mlir::scf::ForOp
  buildLoop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value iv, mlir::ValueRange state)> body);
  bool looksAtSteps();
  llvm::SmallVector<mlir::Value> overPlaces(mlir::ValueRange initial, ColumnBounds places,
                                            llvm::function_ref<mlir::Value(mlir::Value place)> columnOf, StepBody body);
  llvm::SmallVector<mlir::Value> overStretches(mlir::ValueRange initial, const ColumnBounds &bounds, StepBody body);
  std::pair<mlir::Value, mlir::Value> buildRowsOfBounds();
  ColumnBounds buildKeyBounds();
  ColumnBounds buildQueryBounds();
  std::pair<mlir::Value, mlir::Value> buildSections(mlir::Value tile, mlir::Value tilesOfHead, mlir::Value keyRows);
  mlir::Value countSlots();
  void buildPackedGeometry(mlir::Value tile);
  Capture classify(LoadOp load);
  /// The tile's batch entry, or its sequence, as an index into dimension `dim` of `view`.
  mlir::Value batchIndex(mlir::Value view, int64_t dim);
  llvm::SmallVector<mlir::Value> viewIndices(LoadOp load, mlir::Value j, llvm::SmallVectorImpl<int64_t> &axes,
                                             llvm::SmallVectorImpl<mlir::Value> &limits);
  mlir::Value loadCapture(LoadOp load, Capture kind, mlir::Value j);
  mlir::IntegerAttr lengthAlongLast(LoadRangeOp range, int64_t columns);
  mlir::Value cloneUniform(mlir::Value value, mlir::Region &region, mlir::IRMapping &mapping);
  ElementwiseOperands gatherOperands(mlir::Region &region, mlir::Value j);
  llvm::SmallVector<mlir::Value> cloneRegion(mlir::Region &region, mlir::Block *body,
                                             const ElementwiseOperands &operands, mlir::ValueRange leading);
  std::pair<mlir::Value, mlir::Value> buildPositions(mlir::Block *body);
  mlir::Value countDropped();
  mlir::Value buildLeastKept();
  mlir::Value rowPosition();
  mlir::Value cloneComputedLoad(LoadOp load, mlir::IRMapping &mapping, mlir::Value i, mlir::Value j);
  mlir::Block *addElementwiseBody(mlir::Region &body, mlir::ValueRange leading, const ElementwiseOperands &operands);
  llvm::SmallVector<mlir::Value> buildBranch(mlir::TypeRange types, mlir::Value condition,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);
  tile::MapOp
  buildElementMap(llvm::ArrayRef<mlir::Region *> regions, mlir::ValueRange leading, mlir::Value j,
                  mlir::TypeRange results,
                  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Block *, const ElementwiseOperands &)> body);
  tile::MapOp buildElementMap(mlir::Region &region, mlir::ValueRange leading, mlir::Value j,
                              llvm::function_ref<mlir::Value(mlir::Block *, const ElementwiseOperands &)> body);
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region, mlir::ValueRange arguments, mlir::Value firstRow,
                                              mlir::Value lastRow, mlir::Value firstKey, mlir::Value lastKey,
                                              int64_t columns);
  bool isPacked(Coordinate axis);
  /// Rows of queries or keys that are stored of a padded sequence, or where they are packed of all.
  mlir::Value countStored(Coordinate axis, mlir::Value view);
  /// The same of keys, as a size that the grid depends on.
  mlir::AffineExpr keyRows(llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::Value rowLimit(mlir::Value view, Coordinate axis, bool anyBeyond);
  mlir::Value loadLength(mlir::Value lengths, mlir::Value position, mlir::Value limit);
  void loadSeed();
  llvm::SmallVector<mlir::Value> problemIndices(Coordinate axis, mlir::Value first, llvm::SmallVector<int64_t> &axes);
  llvm::SmallVector<mlir::Value> rowVectorIndices(llvm::SmallVector<int64_t> &axes);
  mlir::Value loadTile(mlir::Value tensor, Coordinate axis, mlir::Value first, bool anyBeyond);

  const KernelFunction &function;
  KernelOpInterface kernel;
  ScheduleAttr schedule;
  ProgramKind kind;
  std::optional<CapturedGradient> captured;
  tile::ProgramOp program;
  mlir::IRMapping arguments;
  /// Where results of the kernel go: the program's arguments, one for each time that the function returns one.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> destinations;
  TileGeometry geometry;
  bool masksRows = false;                                  ///< see `maskRows`
  DropoutSeed dropout;                                     ///< see `loadSeed`
  mlir::Value firstBucket;                                 ///< of a program of a table
  llvm::SmallVector<mlir::Value> scatteredIndices;         ///< of the tile's first element, in a scattered gradient
  mlir::Value listRow;                                     ///< of this tile among the lists of steps
  llvm::SmallVector<Workspace> workspaces;                 ///< in the order of the program's arguments
  mlir::Value part;                                        ///< of the tile's columns, where they are split
  mlir::Value firstColumn;                                 ///< of the output, in a program that combines parts
  llvm::DenseMap<mlir::Operation *, mlir::Value> captures; ///< loads of scalars and rows
};

/// Moves what is the same for all steps of a loop, or in all branches, in front of `op`: scalars, and the least and
/// greatest elements of ranges.
void hoistInvariants(mlir::Operation *op);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEBUILDER_H
