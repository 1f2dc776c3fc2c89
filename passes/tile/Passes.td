//===- Passes.td - Passes on the tile dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_PASSES
#define ATTNC_PASSES_TILE_PASSES

include "mlir/Pass/PassBase.td"

def TileAssignStages : Pass<"tile-assign-stages", "::attnc::tile::ProgramOp"> {
  let summary = "Says which operations of a loop's step run in the next";
  let description = [{
    For programs with a `pipeline` of roles: a product that adds to what its loop carries, and whose left operand the step
    computes, gets the attribute `tile.stage = 1`, and with it the scaling of what it adds to, and loads that nothing else
    reads. The softmax of a step then overlaps the product of the step before.

    Example:

    ```mlir
    %v = tile.load %V[%j, %c0] ... {tile.stage = 1 : i64}
    %o1 = tile.mma %p, %v, %o0 {tile.stage = 1 : i64} : ...
    scf.yield %o1
    ```
  }];
  let statistics = [Statistic<"numLate", "late", "Operations that run in the next step">];
}

def TilePipeline : Pass<"tile-pipeline", "::attnc::tile::ProgramOp"> {
  let summary = "Runs the product with values beside the softmax of the next keys";
  let description = [{
    For programs whose warpgroups have roles: a loop over keys with one product of stage 1 (`tile-assign-stages`) is turned
    round (from the last keys to the first) and skewed, so that a step holds the logits and weights of its own keys and
    the product of the step before. A remark says why a loop with such products is not. The first step's logits stand
    before the loop, and the last step's product after it. Captured tiles that scores read are loaded a step before that.

    Where its bounds are those of a part of the rows (`tile.part`), the steps that only other rows need stand before and
    after it, and do nothing but take their tiles (`tile.skip`). Loops that are not skewed go over the keys of all rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numSkewed", "skewed", "Loops skewed">];
}

def TileLowerSoftmax : Pass<"tile-lower-softmax", "::attnc::tile::ProgramOp"> {
  let summary = "Writes the online softmax as arithmetic";
  let description = [{
    `tile.softmax` becomes row maxima, weights and row sums, `tile.softmax_end` reciprocals and logarithms.

    In programs without a `pipeline`, a tile's weights are added among themselves before they are added to the row's sum;
    with one, each lane adds its own to the sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileDeferRowSums : Pass<"tile-defer-row-sums", "::attnc::tile::ProgramOp"> {
  let summary = "Adds up the parts of row sums after the loop";
  let description = [{
    For programs with a `pipeline`: where row sums are only multiplied by row factors and added to in a loop, each lane
    keeps its part, and the sum over lanes moves behind the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileFuseExponent : Pass<"tile-fuse-exponent", "::attnc::tile::ProgramOp"> {
  let summary = "Chooses how exponents of the softmax are computed";
  let description = [{
    In programs with a `pipeline`: exponents of `tile.softmax` with weights in bf16 become `fused`, one operation an
    element. All weights of a row keep one scale; but the weight of the maximum was a power of two, and so was exact: the
    divisor of `tile.softmax_end` takes in what it is `rounded` by.

    f16 has no room for what the rounding of large products costs. With `optimistic`, its exponents become `split`, with
    the same scale, which are one operation too where steps trust the maxima before.
  }];
}

def TileMaximaFirst : Pass<"tile-maxima-first", "::attnc::tile::ProgramOp"> {
  let summary = "Takes row maxima before a rising function";
  let description = [{
    For programs with a `pipeline`: where scores are tanh of what products give, times positive constants, the greatest
    score is that of the greatest product. Its row maxima then wait for no function, which runs beside what follows them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numHoisted", "hoisted", "Row maxima taken before a function">];
}

def TileTrustMaxima : Pass<"tile-trust-maxima", "::attnc::tile::ProgramOp"> {
  let summary = "Reuses the running row maxima, and rescales only where weights outgrow them";
  let description = [{
    For programs with an `optimistic` pipeline, after `tile-pipeline`: a step computes its weights with the maxima that
    the loop carries, and looks for no new ones. Where the sums of its weights come near to what their type holds, or a
    row has no maximum yet, a branch does the step as it was. The loop also carries the greatest sum that a lane had in a
    step: where one key has nearly all of a row's weight, it tells by what that weight was rounded for the product, and
    the divisor of the row takes that in.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numTrusting", "trusting", "Loops whose steps trust the maxima before">];
}

def TileStageOperands : Pass<"tile-stage-operands", "::attnc::tile::ProgramOp"> {
  let summary = "Copies operands of products to shared memory ahead of them";
  let description = [{
    For programs with `staging = cp_async`: tiles that products read from memory go through rings in shared memory, which
    all threads fill. What a loop over keys loads by its induction variable alone is loaded a step ahead: the first tile
    before the loop, each next one as soon as a buffer is free. Behind the last step nothing is read: its put has a limit
    of 0, and a get takes it out of the ring behind the loop, so that puts and gets are as many on every way.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numAhead", "ahead", "Loads that run a step ahead">];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::attnc::tile::ProgramOp"> {
  let summary = "Waits and barriers of rings without roles";
  let description = [{
    For programs with `staging = cp_async`: follows the rings through loops and branches, and inserts `tile.sync` where a
    tile is got whose copy need not be done, and where a buffer is filled that a thread may still read.
  }];
  let statistics = [Statistic<"numSyncs", "syncs", "Barriers inserted">];
}

def TileSpecializeRoles : Pass<"tile-specialize-roles", "::attnc::tile::ProgramOp"> {
  let summary = "Gives loads to a producer and the rest to consumers";
  let description = [{
    For programs with a `pipeline`: tiles that products read from memory go through rings in shared memory. The
    producer's part holds what decides about loads and the loads themselves; the consumers' part gets them from the
    rings. Both go over the tiles of the grid that the block is given. The producer's part is for all rows: what consumers
    of some leave out (`tile.skip`) is no load of its own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileFinishRows : Pass<"tile-finish-rows", "::attnc::tile::ProgramOp"> {
  let summary = "Finishes what is a row's beside the last product";
  let description = [{
    For programs with roles, in front of `tile-insert-sync`: what is computed of row sums and row maxima behind the loop,
    and its stores, move to the end of the branch that holds the loop, between the start of its last product and the wait
    for it. What has no keys does the same from what the loop would start with. Not where steps come from a list; and
    stores stay where tiles are dropped behind them.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numMoved", "moved", "Operations moved">];
}

def TileInsertSync : Pass<"tile-insert-sync", "::attnc::tile::ProgramOp"> {
  let summary = "Products in flight, waits, releases and turns";
  let description = [{
    In consumers, products start and are awaited where their results, or registers that they read, are next touched; a
    buffer is released once the last product that reads it is done. With `ping_pong`, consumers start products in turn;
    with `optimistic` too, a turn in a loop lasts until the wait for the product in flight.
  }];
}

def TileAllocateShared : Pass<"tile-allocate-shared", "::attnc::tile::ProgramOp"> {
  let summary = "Lays out shared memory";
  let description = [{
    Places rings, buffers and barriers, and sets `shared_bytes` of the program. What exceeds the target is an error with
    the sum that does.
  }];
}

def TileSplitRanges : Pass<"tile-split-ranges", "::attnc::tile::ProgramOp"> {
  let summary = "Cuts loops over keys into masked and full stretches";
  let description = [{
    A loop whose masks say where they keep everything (`full`) becomes three in a row over the same values: masked, full,
    masked; in the full one the masks are gone. Stretches that are known to be empty are dropped.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numSplit", "split", "Loops cut">];
}

#endif // ATTNC_PASSES_TILE_PASSES
