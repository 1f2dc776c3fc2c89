//===- TileOps.h - Operations of the tile dialect ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TILEOPS_H
#define ATTNC_DIALECT_TILE_TILEOPS_H

#include "dialect/attn/AttnAttrs.h"
#include "dialect/tile/ExponentUnit.h"
#include "dialect/tile/TileDialect.h"
#include "dialect/tile/VectorKinds.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/tile/TileTypes.h.inc"

namespace attnc::tile {

/// Marks the power that makes weights of logits: no exponent of it is far above 0, as others' may be.
inline constexpr llvm::StringLiteral weightAttrName = "tile.weight";

/// On a loop whose steps are to overlap: what of a step comes a step ahead of the rest, a `#tile.overlap`.
/// `tile-assign-stages` says of each what that means.
inline constexpr llvm::StringLiteral overlapAttrName = "tile.overlap";

/// On an operation of a loop's step: how many steps later it runs. An i64; 0 where it is absent.
inline constexpr llvm::StringLiteral stageAttrName = "tile.stage";

/// On a loop that takes at least one step: a condition around it says so.
inline constexpr llvm::StringLiteral guardedAttrName = "tile.guarded";

/// On a load whose tile a later step of the loop reads again, and on the load that reads it there: a number that both
/// share, an i64. Where tiles go through rings, the later one takes what the earlier one has waited for.
inline constexpr llvm::StringLiteral keptAttrName = "tile.kept", heldAttrName = "tile.held";

/// On the function that a program has become for a GPU: its `#tile.launch`.
inline constexpr llvm::StringLiteral launchAttrName = "tile.launch";

/// Marks a power whose exponent is known not to be positive: it needs no upper limit.
inline constexpr llvm::StringLiteral nonpositiveAttrName = "tile.nonpositive";

/// On a `math.tanh` in a `tile.map`: how many elements of a row, next to each other in a thread's part of it
/// (`codegen/nvptx/EmitContext.h`), share one reciprocal. An i64. If one of them is NaN, so may the others be.
inline constexpr llvm::StringLiteral sharedReciprocalAttrName = "tile.shared_reciprocal";

/// On a `tile.program` for a GPU: its products take floats of 16 bits, so that its results do not show what the
/// device's own approximations lose. A unit attribute.
inline constexpr llvm::StringLiteral approximateMathAttrName = "tile.approximate_math";

/// On the `math.exp2` of weights in a `tile.map`: of so many columns of a thread, the first is computed by multiply-add
/// units (`dialect/tile/ShortPower.h`), the others by the unit of functions. An i64.
inline constexpr llvm::StringLiteral multiplyAddShareAttrName = "tile.multiply_add_share";

/// On an `arith.mulf` in a `tile.map`, of a number that is linear in the column and one that is the same for the row:
/// the product is rounded at this column, counted from a thread's first, and what other columns differ by is added in
/// the operation that rounds them. An i64.
inline constexpr llvm::StringLiteral anchorAttrName = "tile.anchor";

/// On an `arith.addf` or `arith.subf` that a `tile.map` yields, whose second operand is linear in the column: what is
/// the same for the row is left out of the elements, and added where they are used. A unit attribute.
inline constexpr llvm::StringLiteral rowShiftAttrName = "tile.row_shift";

/// On operations on rows and elements that follow each other: a thread computes those of them that have it for one of
/// its rows after the other, and then the rest. A unit attribute.
inline constexpr llvm::StringLiteral byRowAttrName = "tile.by_row";

/// On a `tile.reduce`: by how many chains a thread joins its elements of a row before it joins the chains. An i64; 1
/// where it is absent.
inline constexpr llvm::StringLiteral chainsAttrName = "tile.chains";

/// On a `tile.mma` by warps and a `tile.min_max`: so many loads of a thread are on their way before the first of them
/// is used. On a `tile.block_mask`: so many steps have all of theirs on their way. An i64; 1 where it is absent.
inline constexpr llvm::StringLiteral loadsTogetherAttrName = "tile.loads_together";

/// On a `tile.mma` by warps: columns of the right operand that one load brings. An i64, 8 or 16; 16 where it is absent.
inline constexpr llvm::StringLiteral loadColumnsAttrName = "tile.load_columns";

/// On a `tile.mma` by warps: loads of the right operand stay just ahead of the products that they serve, instead of
/// where an assembler puts them. A unit attribute.
inline constexpr llvm::StringLiteral loadAheadAttrName = "tile.load_ahead";

/// On a `tile.load` of a tile or of a vector along columns: elements are read one by one, each under a predicate. Else
/// a thread whose elements are all there reads them in pairs, and others read them past a branch. A unit attribute.
inline constexpr llvm::StringLiteral predicatedAttrName = "tile.predicated";

/// On a `tile.load` of a tile whose rows are only summed, element by element: each of the lanes that share a row reads
/// elements that lie next to each other, 16 bytes at a time, and not those of its own columns. A unit attribute.
inline constexpr llvm::StringLiteral adjacentAttrName = "tile.adjacent";

/// On a `tile.program` for a GPU: so many blocks are to fit on a multiprocessor at once, and registers of a thread are
/// as many as this leaves; where it is absent, the assembler decides. An i64, PTX's `.minnctapersm`.
inline constexpr llvm::StringLiteral minBlocksAttrName = "tile.min_blocks";

/// On a `tile.program` for a GPU: the next kernel of a launch, which waits for what it reads, may start as soon as all
/// blocks of this one have, and not only when they have ended. A unit attribute.
inline constexpr llvm::StringLiteral startsNextAttrName = "tile.starts_next";

/// On a `tile.program` with roles: stages of rings go to uniform registers by a shuffle; else the descriptors made of
/// them do. A unit attribute.
inline constexpr llvm::StringLiteral uniformStagesAttrName = "tile.uniform_stages";

/// On a `tile.persistent` that receives numbers of tiles: they go to uniform registers by a reduction, and what they
/// decide stays there across the loops of the tile. A unit attribute.
inline constexpr llvm::StringLiteral uniformNumberAttrName = "tile.uniform_number";

/// How the rows of a tile fall on a view, where several share an index: row r is r / size along the axis of rows, and
/// r % size along `dimension`.
struct RowGroup {
  /// From the attribute of an access: [], [size] or [size, dimension].
  explicit RowGroup(llvm::ArrayRef<int64_t> attribute)
      : size(attribute.empty() ? 1 : attribute[0]), dimension(attribute.size() < 2 ? -1 : attribute[1]) {}

  /// Moves `indices` into the view from a tile's first row to row `row`; `axis` is that of rows.
  void move(llvm::MutableArrayRef<int64_t> indices, int64_t axis, int64_t row) const {
    indices[axis] += row / size;
    if (dimension >= 0)
      indices[dimension] += row % size;
  }

  int64_t size;
  int64_t dimension; ///< -1 where the rows of a group are the same
};

} // namespace attnc::tile

#define GET_OP_CLASSES
#include "dialect/tile/TileOps.h.inc"

namespace attnc::tile {

/// On a `tile.map` of logits: keys past a row's query are dropped, whatever the map makes of them. A unit attribute.
constexpr llvm::StringLiteral upToQueryAttrName = "tile.up_to_query";

/// The type of the parts of `tile`, which is of f32: so many tiles of bf16.
mlir::VectorType getPartsOf(mlir::VectorType tile);
/// Whether a type is one of parts, and whether an operand is a tile in shared memory that is there as its parts.
bool isInParts(mlir::VectorType tile);
bool isInParts(mlir::Value operand);

/// The tile that an operand of a product is, in registers or in shared memory, where it may be in parts.
mlir::VectorType getTileType(mlir::Value operand);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_TILEOPS_H
