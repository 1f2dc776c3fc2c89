//===- Passes.td - Passes on the tile dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_PASSES
#define ATTNC_PASSES_TILE_PASSES

include "mlir/Pass/PassBase.td"

def TileAssignStages : Pass<"tile-assign-stages", "::attnc::tile::ProgramOp"> {
  let summary = "Decides which operations of a loop run one step later";
  let description = [{
    Of a loop that says what of a step comes ahead of the rest (`tile.overlap`, which the conversion from attn sets where
    warpgroups have roles), the rest gets the attribute `tile.stage = 1`. A loop that says nothing is left as it is: its
    products overlap with the elements of their own step.

    - `weights_ahead`, of forward: the rest is the product that accumulates over the loop, and whose left operand the step
      computes, with loads that nothing else reads. The softmax of a step then overlaps with the product of the previous
      step. If a loop has several such products, or none of those that accumulate is one, or something else reads what
      it multiplies by, a remark says so.
    - `logits_ahead`, of gradients: all but the products that start a step from zero, and what they, and vectors of columns,
      are made from.
    - `scores_ahead`: all but the first of these products, and what it is made from.
    - `sums_late`: the products that accumulate, and loads that nothing else reads.

    Example:

    ```mlir
    scf.for ... {
      %v = tile.load %V[%j, %c0] ... {tile.stage = 1 : i64}
      %o1 = tile.mma %p, %v, %o0 {tile.stage = 1 : i64} : ...
      scf.yield %o1
    } {tile.overlap = #tile.overlap<weights_ahead>}
    ```
  }];
  let statistics = [Statistic<"numLate", "late", "Operations that run in the next step">];
}

def TileReverseLoops : Pass<"tile-reverse-loops", "::attnc::tile::ProgramOp"> {
  let summary = "Reverses loops over keys";
  let description = [{
    A loop with `weights_ahead` and an operation of stage 1 (`tile-assign-stages`) goes from the last step to the first:
    under a causal mask the first step is then the masked one, and has no product to overlap with. It counts how far it has
    come, from 0, under a condition that it has a step.

    Example:

    ```mlir
    scf.if %any {
      %length = arith.muli %steps, %size : index
      %end = arith.addi %low, %length : index
      %last = arith.subi %end, %size : index
      scf.for %i = %c0 to %length step %size ... {
        %j = arith.subi %last, %i : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numReversed", "reversed", "Loops turned round">];
}

def TileStageCaptures : Pass<"tile-stage-captures", "::mlir::ModuleOp"> {
  let summary = "Stages captured tiles through shared memory by the copy engine";
  let description = [{
    In programs with `capture_stages`: tiles of 16 bits that scores read by query and key, of which columns lie along the
    last dimension of their tensor, are read from shared memory (`tile.read`), to which a ring brings them. Such a program
    is for launches whose tensors the copy engine can take as they are, which `boxes` says; one with `without_boxes`, in which
    each thread loads its own elements, is for all others. Where no tile can be brought so, that one is for all launches.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numStaged", "staged", "Captured tiles that the copy engine brings">];
}

def TileLoadAhead : Pass<"tile-load-ahead", "::attnc::tile::ProgramOp"> {
  let summary = "Prefetches captured tiles one step ahead";
  let description = [{
    In loops as `tile-reverse-loops` turns round: captured tiles that scores read are carried by the loop, and each step
    loads those of the next. The last loads its own again. A remark tells of those that come when they are needed, unless
    masks alone read them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numAhead", "ahead", "Tiles that are loaded a step ahead">];
}

def TileOverlapSteps : Pass<"tile-overlap-steps", "::attnc::tile::ProgramOp"> {
  let summary = "Overlaps products with the elements of other steps";
  let description = [{
    Loops whose operations have stages (`tile-assign-stages`) are pipelined by MLIR. What the first step does itself comes
    before the loop; each step of the loop does what the step before has left, and its own; what the last one has left
    comes after it. With `weights_ahead`, each step starts the product for its logits, then what the step before has left,
    and then computes its weights: the product with the values overlaps with the softmax of the next keys. The first step
    scales nothing, since nothing has been added up. Tiles that both stages read are loaded in both, and marked: `tile.kept`
    and `tile.held`. A loop whose step reads what was left for the next stays as it is, and a remark says so.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numOverlapped", "overlapped", "Loops whose steps overlap">];
}

def TileOwnKeys : Pass<"tile-own-keys", "::attnc::tile::ProgramOp"> {
  let summary = "Skips the steps that the rows of a consumer do not need";
  let description = [{
    For programs whose warpgroups have roles, after `tile-overlap-steps`. Where the bounds of a loop that was turned round
    are those of some of the rows (`tile.part`), the loop has at least one step where there are keys for any row, so that
    all consumers go the same way. Steps that only other rows need come before and after it, and only take their tiles
    from the rings (`tile.skip`), in the order in which these are filled. All other loops visit the keys of all rows. A
    remark tells of those that add up products for some of the rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numPartial", "partial", "Loops that leave out steps of other rows">];
}

def TileLowerSoftmax : Pass<"tile-lower-softmax", "::attnc::tile::ProgramOp"> {
  let summary = "Lowers the online softmax to arithmetic";
  let description = [{
    `tile.softmax` becomes row maxima, weights and row sums; `tile.softmax_end` becomes reciprocals and logarithms.

    In programs without a `pipeline`, the weights of a tile are summed before they are added to the row's sum; with one,
    each lane adds its own weights to its partial sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileExpandPhilox : Pass<"tile-expand-philox", "::attnc::tile::ProgramOp"> {
  let summary = "Expands random numbers to arithmetic of each element";
  let description = [{
    For programs without a `pipeline`: the maps that read a `tile.philox` compute the number of each element instead. With
    one, threads hold elements that share calls, and the operation stays.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileDeferRowSums : Pass<"tile-defer-row-sums", "::attnc::tile::ProgramOp"> {
  let summary = "Sums over lanes after the loop instead of in each step";
  let description = [{
    For programs with a `pipeline`: where a loop only adds to row sums, each lane keeps its own partial sum, and the sum over
    lanes moves out of the loop. What adds are `tile.softmax`, `tile.reduce <add>`, and the addition of a step's own
    `tile.reduce <add>`, on all ways through branches. A remark tells of what else is done to them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileFuseExponent : Pass<"tile-fuse-exponent", "::attnc::tile::ProgramOp"> {
  let summary = "Fuses the exponents of the softmax where rounding allows it";
  let description = [{
    For programs with a `pipeline`: exponents of a `tile.softmax` whose weights are bf16 become `fused`, one operation an
    element. All weights of a row keep the same scale, but the weight of the row's maximum is no longer a power of two, so
    it is rounded; `tile.softmax_end` corrects the divisor by that rounding error (`rounded`).

    f16 has too little range for the rounding error of large products. With `rescaling = on_overflow`, its exponents become `split`,
    which has the same scale and also takes one operation where a step reuses the running maxima.
  }];
}

def TileMaximaFirst : Pass<"tile-maxima-first", "::attnc::tile::ProgramOp"> {
  let summary = "Takes row maxima before a monotone function of the products";
  let description = [{
    For programs with a `pipeline`: where scores are a rising function of products, with a tanh in it, the greatest score is
    that of the greatest product. Row maxima then do not wait for the function, which overlaps with what follows them. The
    function may multiply and divide by constants, add them, negate, and be limited by them, as long as it rises in the end.
    Where it has a tanh and is another, a remark says why. Nothing is said of factors that only the launch knows, and of
    scores that depend on more than products. A mask may come between the function and the softmax, and nothing else.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numHoisted", "hoisted", "Row maxima taken before a function">];
}

def TileRescaleOnOverflow : Pass<"tile-rescale-on-overflow", "::attnc::tile::ProgramOp"> {
  let summary = "Reuses the running row maxima, and rescales only where weights outgrow them";
  let description = [{
    For programs with `rescaling = on_overflow`, after `tile-overlap-steps`: a step computes its weights with the maxima that
    the loop carries, and does not look for new ones. Where its row sums come near the limit of their type, or a row has
    no maximum yet, a branch repeats the step with new maxima, for all rows that branch together: those of other rows grow by
    whole octaves, so that no digits change. The loop also carries the greatest sum that a lane had in
    any step: where one key has nearly all of a row's weight, that sum tells by how much the weight was rounded for the
    product, and `tile.softmax_end` corrects the divisor. A remark tells of loops with an output whose steps keep looking for
    maxima.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numReusing", "reusing", "Loops whose steps reuse the running maxima">];
}

def TileStageOperands : Pass<"tile-stage-operands", "::attnc::tile::ProgramOp"> {
  let summary = "Copies operands of products to shared memory ahead of time";
  let description = [{
    For programs whose pipeline is `#attn.warps`: tiles that products read from memory go through rings in shared memory, which
    all threads fill. Loads in a loop over keys that depend only on its induction variable run one step ahead: the first
    tile is loaded before the loop, each further one as soon as a buffer is free. In the last step, the put has a limit
    of 0 and reads nothing; a get after the loop takes it out of the ring, so that puts and gets match on every path.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numAhead", "ahead", "Loads that run a step ahead">];
}

def TileSplitOperands : Pass<"tile-split-operands", "::attnc::tile::ProgramOp"> {
  let summary = "Splits right operands of f32 into parts once for all warps";
  let description = [{
    For programs with `split_floats`, after `tile-stage-operands`: a tile of f32 that products read from shared memory as
    their right operand is split into its parts (`tile.split`), which go to a ring of their own, before the first of them.
    The buffer that the tile came in is then free, and filled for the next step. Products of TF32 round what they read,
    and take no parts.

    Example:

    ```mlir
    %raw = tile.get %keys : ...
    tile.split %raw to %parts : !tile.shared<vector<16x128xf32>> to !tile.ring<1 x vector<3x16x128xbf16>>
    tile.release %keys : ...
    %k = tile.get %parts : !tile.ring<1 x vector<3x16x128xbf16>> -> !tile.shared<vector<3x16x128xbf16>>
    %s = tile.mma %q, %k, %zero transposed : ...
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "Tiles split">];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::attnc::tile::ProgramOp"> {
  let summary = "Inserts waits and barriers for rings without roles";
  let description = [{
    For programs whose pipeline is `#attn.warps`: follows the rings through loops and branches, and inserts `tile.sync` before a
    tile is read whose copy may still be running, or of whose parts a thread may still be writing some, and before a
    buffer is filled that a thread may still be reading.
  }];
  let statistics = [Statistic<"numSyncs", "syncs", "Barriers inserted">];
}

def TileSpecializeRoles : Pass<"tile-specialize-roles", "::attnc::tile::ProgramOp"> {
  let summary = "Splits a program into a producer, which loads, and consumers, which compute";
  let description = [{
    For programs whose warpgroups have roles: tiles that products read from memory go through rings in shared memory. The
    producer gets the loads and everything that decides about them; consumers get the rest, and take the tiles from the
    rings. Both loop over the tiles of the grid that the block works on. The producer loads for all rows, including tiles
    that some of the consumers skip (`tile.skip`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileFinishRows : Pass<"tile-finish-rows", "::attnc::tile::ProgramOp"> {
  let summary = "Overlaps 1/l and the LSE with the last product";
  let description = [{
    For programs with roles, before `tile-insert-sync`: what is computed from row sums and row maxima after the loop, with
    its stores, moves between the start of the last product and the wait for it. Rows without keys compute the same from
    the loop's initial values. Not done where a block mask lists the steps; and stores stay where they are if tiles are
    skipped after them.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numMoved", "moved", "Operations moved">];
}

def TileInsertSync : Pass<"tile-insert-sync", "::attnc::tile::ProgramOp"> {
  let summary = "Starts products asynchronously, and inserts waits, releases and ping-pong barriers";
  let description = [{
    In consumers, each product becomes a start and a wait. The wait comes before its result, or a register or buffer that
    it reads, is next touched. A buffer is released after the wait for the last product that reads it. With `ping_pong`,
    consumers take turns at starting products; with `rescaling = on_overflow` as well, a consumer in a loop keeps its turn until it
    waits for the product in flight.
  }];
}

def TileAllocateShared : Pass<"tile-allocate-shared", "::attnc::tile::ProgramOp"> {
  let summary = "Lays out shared memory";
  let description = [{
    Places rings, buffers and barriers, and sets `shared_bytes` of the program. A program that needs more than the target
    has is an error that shows the sum.
  }];
}

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
    (`tile.share`) there are no others left. Such programs read each element under a predicate: `tile.predicated`.

    Example:

    ```mlir
    %b = tile.load %bias[%i, %j] axes [0, 1] below(%n, %m) {tile.predicated} : memref<?x?xbf16> -> vector<64x64xbf16>
    ```
  }];
  let statistics = [Statistic<"numPredicated", "predicated", "Loads that go without branches">];
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

def TileSplitRanges : Pass<"tile-split-ranges", "::attnc::tile::ProgramOp"> {
  let summary = "Splits loops over columns into masked and unmasked ranges";
  let description = [{
    A loop whose masks say where they keep every key (`full`) becomes three loops in a row: masked, unmasked, masked. The
    masks are gone from the one in the middle. Ranges that are known to be empty are removed. Where masks of a loop's steps
    may keep every key and the loop stays whole, a remark says why.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numSplit", "split", "Loops cut">];
}

#endif // ATTNC_PASSES_TILE_PASSES
