//===- ThreadPasses.td - How threads go about a program ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes that decide how a thread computes elements, loads and is launched, by attributes that back ends follow
// (docs/rationale/one-thread.md).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_THREADPASSES
#define ATTNC_PASSES_TILE_THREADPASSES

include "mlir/Pass/PassBase.td"

def TileShareReciprocals : Pass<"tile-share-reciprocals", "::attnc::tile::ProgramOp"> {
  let summary = "Lets elements of a row share the reciprocal in their tanh";
  let description = [{
    For programs with a `pipeline`, after `tile-split-ranges`: a `math.tanh` with `attn.error_of_one` becomes a power and a
    reciprocal. The reciprocals of several elements need one operation of the unit of functions, and a few products:
    `tile.shared_reciprocal` says of how many. NaN in one of them then is NaN in others, so they are of one row, and of
    a map whose NaN would be in all results of the row anyway: no mask comes after it, as in full stretches.

    Example:

    ```mlir
    %t = math.tanh %x {attn.error_of_one = 50.0 : f64, tile.shared_reciprocal = 4 : i64} : f32
    ```
  }];
  let statistics = [Statistic<"numShared", "shared", "Functions whose elements share reciprocals">];
}

def TileApproximateMath : Pass<"tile-approximate-math", "::attnc::tile::ProgramOp"> {
  let summary = "Decides whether the device's own approximations will do";
  let description = [{
    For programs with a `pipeline`: where products take floats of 16 bits, results do not show what approximations of f32
    lose. The program gets `tile.approximate_math`, which the passes below ask for, and code generation for reciprocals
    (`nvptx-expand-math`).

    Example:

    ```mlir
    tile.program @forward(...) attributes {tile.approximate_math, ...}
    ```
  }];
}

def TileAnchorColumns : Pass<"tile-anchor-columns", "::attnc::tile::ProgramOp"> {
  let summary = "Distributes products with numbers that are linear in the column";
  let description = [{
    For programs with `tile.approximate_math`: a slope times the distance of key and query, as ALiBi has it, is
    `slope * d(a) + slope * (j - a)` for any column `a`, the anchor. The first product is computed once a row and rounded
    there; an element takes the second in the operation that adds it to the logit. `tile.anchor` says which column `a` is,
    counted from a thread's first.

    It must not be done where a distance is much shorter than that at the anchor: with a slope of 10^6, the rounding error
    of the anchor's product is as large as a logit. So the map is one whose mask keeps no key past the query
    (`tile.up_to_query`), and no mask cuts its tile: the last column is the nearest to the query.

    A sum that such a map yields, and that maps and maxima alone read, leaves what is the same for the row out of the
    elements (`tile.row_shift`): those who read them have a number of the row to add it to.

    Example:

    ```mlir
    %p = arith.mulf %slope, %distance {tile.anchor = 57 : i64} : f32
    %x = arith.addf %s, %p {tile.row_shift} : f32
    ```
  }];
  let statistics = [Statistic<"numAnchored", "anchored", "Products that are distributed">,
                    Statistic<"numShifted", "shifted", "Maps that leave out what is the same for a row">];
}

def TileContractProducts : Pass<"tile-contract-products", "::attnc::tile::ProgramOp"> {
  let summary = "Lets products be rounded with the sums that they go into";
  let description = [{
    For programs with `tile.approximate_math`, in the regions of maps and masks: products that one operation reads, and
    sums that read no element of a tile, get the flag `contract`: a product and its sum are then one operation, which
    rounds once. A product of a product with constants takes both factors at once. What is computed once a row
    (`dialect/tile/RowTerms.h`) stays exact.

    In programs without a `pipeline`, the product of a map that scales the rows of what a `tile.mma` alone adds to gets the
    flag too, and is fused with the sum that the `tile.mma` adds.

    Example:

    ```mlir
    %a = arith.mulf %x, %c2 : f32
    %b = arith.mulf %a, %c3 : f32
    %y = arith.addf %b, %z : f32
    // becomes
    %b = arith.mulf %x, %c6 : f32
    %y = arith.addf %b, %z fastmath<contract> : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numContracted", "contracted", "Operations that may be contracted">,
                    Statistic<"numJoined", "joined", "Products that take two factors at once">];
}

def TileBalanceExponentials : Pass<"tile-balance-exponentials", "::attnc::tile::ProgramOp"> {
  let summary = "Leaves a share of the exponentials to multiply-add units";
  let description = [{
    For programs with `tile.approximate_math` whose warpgroups multiply asynchronously, after `tile-insert-sync`: a tanh and
    an exponential an element keep the unit of functions busier than the tensor cores. Of each `n` weights of a row that a
    thread has, the first is then computed by a polynomial (`dialect/tile/ShortPower.h`): `tile.multiply_add_share` says
    `n`. The simulator computes it by the same polynomial.

    The polynomial gives anything from 2^127 on. Where weights are looked at afterwards (`tile.any`), they may be as large,
    and nothing is shared.

    Example:

    ```mlir
    %w = math.exp2 %d {tile.multiply_add_share = 4 : i64, tile.weight} : f32
    ```
  }];
  let statistics = [Statistic<"numShared", "shared", "Exponentials of which multiply-add units get a share">];
}

def TileOrderRows : Pass<"tile-order-rows", "::attnc::tile::ProgramOp"> {
  let summary = "Has threads compute one of their rows after the other";
  let description = [{
    For pipelines with `by_row`, where operations on elements and rows follow each other and join elements: those that have
    `tile.by_row` are computed for one row of a thread and then for the next, so that a row's maximum is there while
    the next is looked for. Partial sums, what is made from them, and what asks all rows at once come after.

    `tile.chains` says by how many chains a thread looks for a row's maximum: four, or two where other work overlaps with
    it.

    Example:

    ```mlir
    %m = tile.reduce <max> %s, %before {tile.by_row, tile.chains = 4 : i64} : vector<64x64xf32>, vector<64xf32>
    ```
  }];
  let statistics = [Statistic<"numOrdered", "ordered", "Operations that are computed row by row">];
}

def TileOrderLoads : Pass<"tile-order-loads", "::attnc::tile::ProgramOp"> {
  let summary = "Says how many loads of a thread are on their way at once";
  let description = [{
    Of products of f32 by warps: numbers, their parts and accumulators leave few registers, so that loads of the right
    operand stay one ahead of the products that they serve (`tile.load_ahead`), and of wide accumulators bring the
    columns of one product instead of two (`tile.load_columns`). Where a warp has sixteen rows and operands are in
    parts, two loads come together (`tile.loads_together`), or tensor cores would idle: each product waits for the one
    before it in its sum.

    Of minima and maxima: all loads of a row that is known to be short, and else four.

    Example:

    ```mlir
    %s = tile.mma %q, %k, %zero transposed {tile.load_ahead, tile.loads_together = 2 : i64}
       : vector<64x64xf32>, !tile.shared<parts>, vector<64x64xf32>
    ```
  }];
  let statistics = [Statistic<"numOrdered", "ordered", "Operations whose loads are ordered">];
}

def TilePredicateLoads : Pass<"tile-predicate-loads", "::attnc::tile::ProgramOp"> {
  let summary = "Has loads that limits may cut go without branches";
  let description = [{
    A thread reads its elements of a captured tile in pairs where all of them are there, and past a branch one by one. Past
    a branch the assembler keeps no stage of a ring in uniform registers, and where consumers share tiles
    (`tile.share`) there are no others left. Such programs read each element under a predicate: `tile.predicated`. So do
    gradients without roles whose warps have the same rows.

    Example:

    ```mlir
    %b = tile.load %bias[%i, %j] axes [0, 1] below(%n, %m) {tile.predicated} : memref<?x?xbf16> -> vector<64x64xbf16>
    ```
  }];
  let statistics = [Statistic<"numPredicated", "predicated", "Loads that go without branches">];
}

def TileWidenLoads : Pass<"tile-widen-loads", "::attnc::tile::ProgramOp"> {
  let summary = "Has loads whose columns nobody asks for bring 16 bytes at a time";
  let description = [{
    A thread reads its own columns of a captured tile in pairs: 4 bytes of 16-bit elements. Where tiles only go through
    maps that do not ask for columns and then into row sums, as those of delta do, any columns will do, if they are the
    same of all tiles that a map reads: `tile.adjacent`.

    Example:

    ```mlir
    %o = tile.load %out[%i, %c0] axes [0, 1] below(%n, %d) {tile.adjacent} : memref<?x?xbf16> -> vector<64x128xbf16>
    ```
  }];
  let statistics = [Statistic<"numWidened", "widened", "Loads of 16 bytes at a time">];
}

def TileChooseUniform : Pass<"tile-choose-uniform", "::attnc::tile::ProgramOp"> {
  let summary = "Chooses what roles hold in uniform registers";
  let description = [{
    Of programs with roles. What a warp reads from shared memory is in each lane's register, though it is the same in all, until
    a shuffle or a reduction moves it to a uniform one:

    - products want their descriptors there. Stages that cross the edges of several loops are in no uniform register, and
      descriptors would take more of the others than stages do: where loops are nested, stages go there
      (`tile.uniform_stages`), else descriptors;
    - numbers of tiles, and places, bounds and stages that follow from them, where a producer receives them, or consumers
      whose registers are short, since they share tiles (`tile.uniform_number`).

    Example:

    ```mlir
    tile.persistent from %tiles : !tile.ring<2 x index> {
    ^bb0(%tile: index):
    } {tile.uniform_number}
    ```
  }];
}

def TileBoundLaunch : Pass<"tile-bound-launch", "::attnc::tile::ProgramOp"> {
  let summary = "Decides where a multiprocessor has one block at a time";
  let description = [{
    For programs with a `pipeline`: `tile.min_blocks = 1`, the bound of a launch, lets the assembler give a thread all
    registers that one block on a multiprocessor leaves it. Programs with roles need it, or no registers move between
    warpgroups. Those that multiply f32, or by blocks of as many threads as there may be, would spill for the sake of a
    second block.

    Example:

    ```mlir
    tile.program @forward(...) attributes {tile.min_blocks = 1 : i64, ...}
    ```
  }];
}

def TileStartNext : Pass<"tile-start-next", "::mlir::ModuleOp"> {
  let summary = "Lets the next kernel of a launch start early";
  let description = [{
    A program whose successor starts early, by its pipeline, gets `tile.starts_next`, but for one that lists the steps of a block mask.
    Blocks of the next program can then become resident while this one still runs, and wait only for its results.

    Example:

    ```mlir
    tile.program @parts(...) attributes {tile.starts_next, ...}
    tile.program @combine(...) attributes {pipeline = #attn.warps<consumers = 1, stages = 1, early = true>, ...}
    ```
  }];
}

#endif // ATTNC_PASSES_TILE_THREADPASSES
