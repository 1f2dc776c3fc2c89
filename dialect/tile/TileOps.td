//===- TileOps.td - Operations of the tile dialect ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_OPS
#define ATTNC_DIALECT_TILE_OPS

include "dialect/attn/AttnAttrs.td"
include "dialect/tile/TileAttrs.td"
include "dialect/tile/TileDialect.td"
include "dialect/tile/TileEnums.td"
include "dialect/tile/TileTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Operand : AnyTypeOf<[Tile_Tile, Tile_SharedTile], "tile in registers or shared memory">;
def Tile_View : StridedMemRefOf<[F32, BF16, F16, I1, I8, I32, I64]>;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Tile_WorkspaceArrayAttr : TypedArrayAttrBase<Tile_WorkspaceAttr, "workspaces">;
def Tile_SizesArrayAttr : TypedArrayAttrBase<Attn_SizesAttr, "conditions on the sizes of launches">;

def Tile_ProgramOp : Tile_Op<"program", [IsolatedFromAbove, FunctionOpInterface, OpAsmOpInterface]> {
  let summary = "One thread block's work, for every tile of a grid";
  let description = [{
    Takes the caller's views and scalars, and as its last argument the number of the tile it works on. `grid` says how
    many tiles there are: an affine map without dimensions whose symbols are sizes of arguments, named by pairs of
    (argument, dimension) in `grid_sizes`.

    With `when`, a `#attn.sizes`, the program is for launches that this holds for, and with `unless`, several of them, not for
    those that one of these holds for; others do not run it. `launch_sizes` says what they speak of: from the symbols of
    the grid, the sizes in the order in which `#attn.sizes` lists them.

    `rows` is the number of rows of a tile of queries, `panel` how many of them go through an operation together
    (`#attn.schedule`). `pipeline` says how a GPU overlaps steps, `shared_bytes` what `tile-allocate-shared` has laid out.

    With `workspaces`, a `#tile.workspace` each, as many arguments before the last are views of i32 or f32, [rows, columns], of
    memory that the programs of a kernel hand results through.

    With `boxes`, pairs of (argument, dimension of rows), the program is for launches whose tensors the copy engine can
    take as they are: those arguments have 16-byte strides, no gaps in their last dimension, and more than one element along
    both. With `without_boxes`, it is for all other launches; `tile-stage-captures` adds the pairs.

    Example:

    ```mlir
    tile.program @twice(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %tile: index)
        attributes {grid = affine_map<()[s0] -> (s0 ceildiv 16)>, grid_sizes = array<i64: 0, 0>, rows = 16, panel = 8} {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %count = memref.dim %x, %c0 : memref<?x64xf32>
      %first = arith.muli %tile, %c16 : index
      %in = tile.load %x[%first, %c0] axes [0, 1] below(%count, %c64) : memref<?x64xf32> -> vector<16x64xf32>
      %out = tile.map tiles(%in : vector<16x64xf32>) rows() cols() at(%first, %c0) {
      ^bb0(%e: f32, %i: index, %j: index):
        %sum = arith.addf %e, %e : f32
        tile.yield %sum : f32
      } -> vector<16x64xf32>
      tile.store %out, %y[%first, %c0] axes [0, 1] below(%count, %c64) : vector<16x64xf32>, memref<?x64xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       AffineMapAttr:$grid, DenseI64ArrayAttr:$grid_sizes, I64Attr:$rows, I64Attr:$panel,
                       OptionalAttr<Attn_PipelineAttr>:$pipeline, OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<Tile_WorkspaceArrayAttr>:$workspaces, OptionalAttr<Attn_SizesAttr>:$when,
                       OptionalAttr<Tile_SizesArrayAttr>:$unless, OptionalAttr<AffineMapAttr>:$launch_sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$boxes, UnitAttr:$without_boxes);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    /// The number of the tile.
    ::mlir::Value getTile() { return getBody().front().getArguments().back(); }
    unsigned countWorkspaces() { return getWorkspaces() ? getWorkspaces()->size() : 0; }
    /// The views of the workspaces, in their order.
    ::mlir::ValueRange getWorkspaceViews();
    /// The workspaces, each with its view.
    ::llvm::SmallVector<std::pair<WorkspaceAttr, ::mlir::Value>> listWorkspaces();
    /// The view of the workspace of that name; null without one.
    ::mlir::Value getWorkspaceView(::llvm::StringRef name);
    /// Whether `view` is that of a workspace.
    bool isWorkspaceView(::mlir::Value view) { return ::llvm::is_contained(getWorkspaceViews(), view); }
    /// The types of the arguments that the caller gives.
    ::llvm::ArrayRef<::mlir::Type> getCallerTypes() { return getArgumentTypes().drop_back(countWorkspaces() + 1); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"ProgramOp">, Terminator]> {
  let summary = "Ends a program";
  let description = [{
    Example: `tile.return`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_LiveRowsOp : Tile_Op<"live_rows", [HasParent<"ProgramOp">]> {
  let summary = "Number of rows of the tile that hold queries, or keys";
  let description = [{
    Rows at or past `count` are never stored; a lowering need not compute them.

    Example:

    ```mlir
    %count = arith.subi %queries, %first : index
    tile.live_rows %count
    ```
  }];
  let arguments = (ins Index:$count);
  let assemblyFormat = "$count attr-dict";
}

def Tile_PartOp : Tile_Op<"part", [Pure]> {
  let summary = "Rows of the tile owned by this warpgroup";
  let description = [{
    Gives the first and the end of them, of `count` rows in all: [0, count) in a program without roles, and an equal part
    for each warpgroup of consumers. What a program does may not depend on it, only what it leaves out.

    Example: `%first, %end = tile.part of 128`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs Index:$first, Index:$end);
  let assemblyFormat = "`of` $count attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["MapOp", "MaskOp", "BlockMaskOp"]>]> {
  let summary = "Ends an elementwise region, or that of a block mask";
  let description = [{
    Example:

    ```mlir
    %half = tile.map tiles(%x : vector<96x64xf32>) rows() cols() at(%i0, %j0) {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      tile.yield %h : bf16
    } -> vector<96x64xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class Tile_AccessOp<string mnemonic, dag operands, list<Trait> traits, dag attributes = (ins)>
    : Tile_Op<mnemonic, !listconcat(traits, [AttrSizedOperandSegments])> {
  let arguments = !con(operands, (ins Arg<Tile_View, "the caller's tensor">:$view, Variadic<Index>:$indices,
                                      Variadic<Index>:$limits, DenseI64ArrayAttr:$axes,
                                      DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$group), attributes);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How the rows of the tile fall on the view.
    ::attnc::tile::RowGroup getRowGroup() { return ::attnc::tile::RowGroup(getGroup()); }
  }];
}

/// The table of the pages that rows lie in, where they do.
defvar Tile_Pages = (ins Arg<Optional<Tile_View>, "the page table">:$pages);

def Tile_LoadOp : Tile_AccessOp<"load", (ins), [MemoryEffects<[MemRead]>], !con(Tile_Pages, (ins UnitAttr:$blocked, UnitAttr:$interleaved))> {
  let summary = "Loads a tile from a view";
  let description = [{
    Element (r, c) is the view's element at `indices`, with r added to dimension `axes[0]` and c to `axes[1]`. A vector
    has one axis, that of its rows or of its columns. Where an index along an axis is not below its limit, the element
    is 0.

    With `group` [n], n rows share an index along the axis of rows: r / n is added to dimension `axes[0]` instead of r.
    With [n, dimension], r % n is added to that dimension as well, which is always inside the view; n divides the rows.
    Columns come in no groups.

    With `blocked`, the view is memory that programs hand each other f32 through, two dimensions without gaps, and its rows
    lie in bands of sixteen, each of whose elements stand in the order of `tile::BlockedRows`: what a lane of a warp holds
    of a tile is then whole pieces of 16 bytes, or, with `interleaved` as well, words beside those of other lanes. The tile
    has whole bands, and no limit cuts it: there is memory for all of its rows.

    With `pages`, the view's first two dimensions are pages and their n rows, while the index and the limit along the
    second count the rows of a sequence, and the first index is the number of that sequence: its row j is row j % n of page
    `pages`[sequence, j / n]. Entries for rows that are not below the limit may hold anything.

    Example:

    ```mlir
    %k = tile.load %keys[%b, %j, %h, %c0] axes [1, 3] below(%sk, %d)
        : memref<?x?x8x128xbf16> -> vector<64x128xbf16>
    // Sixteen queries of each of four heads that share keys.
    %q = tile.load %queries[%b, %i, %h, %c0] axes [1, 3] group [4, 2] below(%sq, %d)
        : memref<?x?x32x128xbf16> -> vector<64x128xbf16>
    // A number of each key, along columns.
    %c = tile.load %lengths[%b, %j] axes [1] below(%sk) : memref<?x?xf32> -> vector<1x64xf32>
    // Keys in pages of sixteen rows.
    %p = tile.load %pool[%b, %j, %h, %c0] pages(%table : memref<?x?xi32>) axes [1, 3] below(%sk, %d)
        : memref<?x16x8x128xbf16> -> vector<64x128xbf16>
    ```
  }];
  let results = (outs Tile_TileOrVector:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`pages` `(` $pages^ `:` type($pages) `)`)? `axes` $axes (`group` $group^)?
    `below` `(` $limits `)` attr-dict `:` type($view) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$view, "::mlir::ValueRange":$indices,
                                 "::mlir::ValueRange":$limits, "::llvm::ArrayRef<int64_t>":$axes,
                                 "::llvm::ArrayRef<int64_t>":$group), [{
    build($_builder, $_state, result, view, indices, limits, axes, group, /*pages=*/::mlir::Value());
  }]>];
}

/// What adds in an order has: its place in it, that of the tile it comes after, and the semaphores that say who has added.
defvar Tile_Order = (ins Optional<Index>:$order, Optional<Index>:$after, Arg<Optional<Tile_View>, "semaphores">:$semaphores,
                         Variadic<Index>:$semaphore);

def Tile_StoreOp : Tile_AccessOp<"store", (ins Tile_TileOrRows:$value, Optional<Tile_SharedTile>:$buffer),
                                 [MemoryEffects<[MemWrite]>], !con(Tile_Order, (ins UnitAttr:$accumulate, UnitAttr:$blocked, UnitAttr:$interleaved, UnitAttr:$deferred))> {
  let summary = "Stores a tile into a view";
  let description = [{
    The counterpart of `tile.load`: elements past a limit are not stored. With `via`, it goes through a buffer in shared
    memory, in pieces where the buffer has fewer columns, and may still be on its way when the next operation starts. That
    way, too, stops at the view's own ends alone: a warpgroup whose rows a limit inside the view cuts stores them itself.

    With `accumulate`, elements are added to what is there, which has the order of `blocked` (see `tile.load`): all of them,
    or none where the first row is past its limit. Others may add to the same element at any time: the order of additions
    is left open, and each is atomic. Where warpgroups have roles, the copy engine adds, from a buffer that is as large as
    the tile; with `deferred` it starts at the next `tile.post` of the block. Elsewhere threads add, of `interleaved` sums to
    words side by side. Without `accumulate`, `blocked` goes without a buffer.

    With `order`, sums have the same bits in every run. Tiles that add to the same elements have places, 1 or more, in the
    order in which they add: a tile waits until its semaphore holds the place that it comes `after`, or where that is 0
    for nobody, adds, and leaves its own place there. A warp waits for the same warp of the other tile, so that a tile has
    a semaphore for each of its warps: elements of a workspace of i32 that follow each other from the index on, 0 before
    the first. What is past its limit adds nothing, waits for nobody and leaves nothing. A tile comes after tiles that are
    before it in the grid alone: others may start when it has ended. The copy engine's additions are complete some time
    after they have started: the place is left where the buffer is written next, or where the tile ends.

    Example:

    ```mlir
    tile.store %o, %out[%b, %i, %h, %c0] axes [1, 3] below(%sq, %d) : vector<128x64xbf16>, memref<?x?x16x64xbf16>
    // Through a buffer, from which the copy engine takes it.
    tile.store %o via %buffer : !tile.shared<vector<128x64xbf16>>, %out[%b, %i, %h, %c0] axes [1, 3] below(%sq, %d)
        : vector<128x64xbf16>, memref<?x?x16x64xbf16>
    // Added to sums that other blocks add to as well.
    tile.store %dq via %staging : !tile.shared<vector<64x64xf32>>, %sums[%row, %c0] axes [0, 1] below(%rows, %d)
        {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
    // The same in the order of the tiles of keys.
    tile.store %dq, %sums[%row, %c0] axes [0, 1] below(%rows, %d) order(%place after %before of %semaphores[%head, %n] : memref<?x?xi32>)
        {accumulate, blocked} : vector<64x64xf32>, memref<?x64xf32>
    ```
  }];
  let assemblyFormat = [{
    $value (`via` $buffer^ `:` type($buffer))? `,` $view `[` $indices `]` `axes` $axes (`group` $group^)?
    `below` `(` $limits `)` (`order` `(` $order^ `after` $after `of` $semaphores `[` $semaphore `]` `:` type($semaphores) `)`)? attr-dict `:`
    type($value) `,` type($view)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$buffer, "::mlir::Value":$view,
                                 "::mlir::ValueRange":$indices, "::mlir::ValueRange":$limits,
                                 "::llvm::ArrayRef<int64_t>":$axes, "::llvm::ArrayRef<int64_t>":$group), [{
    build($_builder, $_state, value, buffer, view, indices, limits, axes, group, /*order=*/::mlir::Value(),
          /*after=*/::mlir::Value(), /*semaphores=*/::mlir::Value(), /*semaphore=*/::mlir::ValueRange());
  }]>];
}

def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "Adds the elements of a tile to a view, each at a place of its own";
  let description = [{
    Element (r, c) is added to the element of the view at `indices`, moved along each of `axes` by element (r, c) of the
    tile of places that goes with it; the caller keeps places inside. Others may add to the same element at any time: the
    order of additions is left open, and each is atomic. Elements that are 0 add nothing, and need no place. With
    `diagonals`, places may be distances: elements of one diagonal then often share one, which is worth looking for.

    Example: `tile.scatter %ds, %sums[%row, %c0] at(%n : vector<64x32xi32>) axes [1] : vector<64x32xf32>, memref<?x?xf32>`
  }];
  let arguments = (ins Tile_F32Tile:$value, Arg<Tile_View, "sums">:$view, Variadic<Index>:$indices,
                       Variadic<Tile_VectorOf<Tile_Tile, I32>>:$places, DenseI64ArrayAttr:$axes, UnitAttr:$diagonals);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `at` `(` ($places^ `:` type($places))? `)` `axes` $axes attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_MinMaxOp : Tile_Op<"min_max", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "Minimum and maximum of a box of a view";
  let description = [{
    For each dimension the first and the last index, both inside; the caller keeps them in range. i1 counts as 0 and 1. Of an
    empty box the minimum is the type's greatest value, and the maximum its least. With `most`, it has at most so many
    along the last dimension.

    Example: `%lo, %hi = tile.min_max %ids[%b, %i0] to [%b, %i1] {most = 128 : i64} : memref<?x?xi32> -> i32, i32`
  }];
  let arguments = (ins Arg<Tile_View, "the caller's tensor">:$view, Variadic<Index>:$first, Variadic<Index>:$last,
                       OptionalAttr<I64Attr>:$most);
  let results = (outs AnyType:$min, AnyType:$max);
  let assemblyFormat = [{
    $view `[` $first `]` `to` ` ` `[` $last `]` attr-dict `:` type($view) `->` type($min) `,` type($max)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the box is one element in all dimensions but the last.
    bool isRow();
  }];
}

def Tile_BlockMaskOp : Tile_Op<"block_mask", [SingleBlock, MemoryEffects<[MemRead]>]> {
  let summary = "Computes a block mask: lists the steps in which the mask keeps anything";
  let description = [{
    The region yields, for the step that starts at its argument, whether the mask keeps any of its elements and whether it
    keeps all. Row `row` of the list then holds: how many steps keep all; how many keep some; the starts of those that keep
    all, in ascending order; the starts of those that keep some, likewise; and a 0, so that the place after the last can
    be read. After room for as many steps as a range can have, the row has as many elements again for the lowering's use.

    Example:

    ```mlir
    tile.block_mask %lists[%row] from %low to %high step %c128 {
    ^bb0(%j: index):
      %last = arith.addi %j, %c127 : index
      %min, %max = tile.min_max %ids[%b, %j] to [%b, %last] : memref<?x?xi32> -> i32, i32
      %begun = arith.cmpi sle, %min, %id : i32
      %open = arith.cmpi sge, %max, %id : i32
      %some = arith.andi %begun, %open : i1
      %same = arith.cmpi eq, %min, %max : i32
      %all = arith.andi %some, %same : i1
      tile.yield %some, %all : i1, i1
    } : memref<?x?xi32>
    ```
  }];
  let arguments = (ins Arg<Tile_View, "the list", [MemWrite]>:$list, Index:$row, Index:$low, Index:$high, Index:$step);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$list `[` $row `]` `from` $low `to` $high `step` $step $body attr-dict `:` type($list)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Columns of a row of the list that come before the starts of steps.
    static constexpr int64_t numCounts = 2;
    /// Columns of a list for ranges of up to `steps` steps.
    static ::mlir::AffineExpr columns(::mlir::AffineExpr steps) { return steps * 2 + (numCounts + 1); }
    /// Where the step starts that the region speaks of.
    ::mlir::Value getStart() { return getBody().front().getArgument(0); }
  }];
}

//===----------------------------------------------------------------------===//
// Products, maps and reductions
//===----------------------------------------------------------------------===//

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b in f32";
  let description = [{
    With `transposed`, b is given by rows of the result's columns: acc(m, n) + sum_k a(m, k) * b(n, k). With
    `left_transposed`, a is given by columns of the result's rows, a(k, m). Products accumulate in f32 across the whole sum
    (S13).

    A result with fewer rows than the tiles of the program is that of all warpgroups together: how it is dealt to them is
    left to the lowering. With `tf32`, elements of f32 may be rounded to eleven bits before they are multiplied.

    Example: `%s = tile.mma %q, %k, %zero transposed : vector<96x128xbf16>, vector<64x128xbf16>, vector<96x64xf32>`
  }];
  let arguments = (ins Tile_Operand:$a, Tile_Operand:$b, Tile_F32Tile:$acc, UnitAttr:$transposed,
                       UnitAttr:$left_transposed, UnitAttr:$tf32);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`transposed` $transposed^)? (`left_transposed` $left_transposed^)? (`tf32` $tf32^)? attr-dict `:`
    type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tile_PhiloxOp : Tile_Op<"philox", [Pure]> {
  let summary = "Random numbers of 16 bits, by place";
  let description = [{
    Element (r, c) is the number of query `i` + r and key `j` + c, or with `transposed` of query `i` + c and key `j` + r, for
    batch entry `b`, query head `h` and a seed: parts of Philox4x32-7 as rule S9 deals them. A call serves the two queries
    that are eight apart, in blocks of sixteen, and in blocks of sixteen keys four: two neighbours, and those eight on.

    Targets whose threads hold such elements together compute them so. There `i` and `j` are multiples of sixteen.

    With `again` they are computed although another operation has the same: to be held from there would take registers.

    Example: `%n = tile.philox %seed at(%b, %h, %i, %j) : vector<64x128xi16>`
  }];
  let arguments = (ins I64:$seed, Index:$b, Index:$h, Index:$i, Index:$j, UnitAttr:$transposed, UnitAttr:$again);
  let results = (outs Tile_VectorOf<Tile_Tile, I16>:$result);
  let assemblyFormat = [{
    $seed `at` `(` $b `,` $h `,` $i `,` $j `)` (`transposed` $transposed^)? (`again` $again^)? attr-dict `:` type($result)
  }];
}

class Tile_ElementwiseOp<string mnemonic, dag leading, dag trailing, list<Trait> traits>
    : Tile_Op<mnemonic, !listconcat(traits, [Pure, AttrSizedOperandSegments])> {
  let arguments = !con(leading, (ins Variadic<Tile_Tile>:$tiles, Variadic<Tile_RowVector>:$rows,
                                     Variadic<Tile_ColumnVector>:$cols, Index:$i, Index:$j), trailing);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_ElementwiseOp<"map", (ins), (ins UnitAttr:$scales_rows, UnitAttr:$mostly_one,
                                                  DefaultValuedAttr<I64Attr, "1">:$group), []> {
  let summary = "Elementwise computation on tiles";
  let description = [{
    The region computes one element. It receives the elements of `tiles`, of `rows` at its row and of `cols` at its
    column, and then its coordinates: `i` plus the row and `j` plus the column. With `group`, that many rows share a
    coordinate: `i` plus row / group.

    With `scales_rows`, the map multiplies the elements of its one tile by those of its one row vector, and does nothing else.
    With `mostly_one`, it multiplies by its one row vector, whose elements are 1 in most steps: a lowering may skip it then.

    Example:

    ```mlir
    %p = tile.map tiles(%s : vector<96x64xf32>) rows(%m : vector<96xf32>) cols() at(%i0, %j0) {
    ^bb0(%x: f32, %max: f32, %i: index, %j: index):
      %d = arith.subf %x, %max : f32
      %e = math.exp2 %d : f32
      tile.yield %e : f32
    } -> vector<96x64xf32>
    ```
  }];
  let results = (outs Variadic<Tile_Tile>:$results);
}

def Tile_MaskOp : Tile_ElementwiseOp<"mask", (ins), (ins Index:$full_low, Index:$full_high, Optional<Index>:$position,
                                                   DefaultValuedAttr<I64Attr, "1">:$group), []> {
  let summary = "Sets elements to -inf where the region yields false";
  let description = [{
    The first of `tiles` with every element that the region drops set to -inf (S3); `group` is that of `tile.map`. For a
    tile whose columns, as key rows from `j` on, lie in [`full_low`, `full_high`), the region is known to keep
    everything: `tile-split-ranges` uses that. Where steps come from a list (see `tile.block_mask`), the stretch is one of
    the list, and `position` the step's place.

    Example:

    ```mlir
    %masked = tile.mask tiles(%s : vector<96x64xf32>) rows() cols() at(%i0, %j0) full(%low, %high) {
    ^bb0(%x: f32, %i: index, %j: index):
      %keep = arith.cmpi sle, %j, %i : index
      tile.yield %keep : i1
    } -> vector<96x64xf32>
    ```
  }];
  let results = (outs Tile_F32Tile:$result);
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Reduces each row of a tile to one element of a row vector";
  let description = [{
    With `partial`, `acc` and the result are parts (see `tile.lane_partial`). With `own_columns` each warp reduces the columns
    that it has, where warps have the same rows; `tile.block_reduce` joins what they have.

    Example: `%m1 = tile.reduce <max> %s, %m0 : vector<96x64xf32>, vector<96xf32>`
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_F32Tile:$source, Tile_F32RowVector:$acc, UnitAttr:$partial,
                       UnitAttr:$own_columns);
  let results = (outs Tile_F32RowVector:$result);
  let assemblyFormat = [{
    $kind $source `,` $acc (`partial` $partial^)? (`own_columns` $own_columns^)? attr-dict `:` type($source) `,` type($acc)
  }];
  let hasVerifier = 1;
}

#endif // ATTNC_DIALECT_TILE_OPS
