//===- Passes.td - Passes on the tile dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Passes that change what a program does, and when. Those that decide how a thread does it are in ThreadPasses.td.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_PASSES
#define ATTNC_PASSES_TILE_PASSES

include "passes/tile/ThreadPasses.td"

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

def TileJoinRows : Pass<"tile-join-rows", "::attnc::tile::ProgramOp"> {
  let summary = "Joins what warps with the same rows have of them";
  let description = [{
    For programs without roles whose tiles have fewer rows than all warps together, so that warps have some of the columns
    each. Left operands of products go through shared memory (`tile.share`), since a product sums over whole rows; and so
    do maxima and sums of rows, which `tile.block_reduce` joins. Programs of gradients share their tiles themselves.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numJoined", "joined", "Reductions whose parts warps share">];
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

    What warps share (`tile.share`) goes through a ring of two buffers. Loads of a loop that has such are got together, so
    that one barrier serves them and what was shared before, and put together, after the last product that reads them where
    each has one buffer. With `rows_in_registers`, left operands are read once (`tile.read`).
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
    tile is read whose copy may still be running, or that a thread may still be writing a part of, and before a
    buffer is filled that a thread may still be reading. One barrier serves tiles that are got one after the other.
  }];
  let statistics = [Statistic<"numSyncs", "syncs", "Barriers inserted">];
}

def TileSpecializeRoles : Pass<"tile-specialize-roles", "::attnc::tile::ProgramOp"> {
  let summary = "Splits a program into a producer, which loads, and consumers and a reducer, which compute";
  let description = [{
    For programs whose warpgroups have roles: tiles that products read from memory go through rings in shared memory. The
    producer gets the loads and everything that decides about them; consumers get the rest, and take the tiles from the
    rings. Both loop over the tiles of the grid that the block works on. The producer loads for all rows, including tiles
    that some of the consumers skip (`tile.skip`).

    With `reducer_registers`, one more warpgroup gets all that is computed from tiles which consumers share (`tile.take`),
    the sums that loops carry among it, and what nothing else reads, products and loads. Row vectors that both read are
    computed by both. A load that one role has early and the other late is plain for each.
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
