//===- TileAsyncOps.td - Roles, rings and products in flight -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_ASYNC_OPS
#define ATTNC_DIALECT_TILE_ASYNC_OPS

include "dialect/tile/TileOps.td"
include "dialect/tile/TileTypes.td"

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tile_RoleOp : Tile_Op<"role", [HasParent<"ProgramOp">, SingleBlock, NoTerminator]> {
  let summary = "The work of some warpgroups of a block";
  let description = [{
    All roles run at the same time. The rows of a consumer's tiles are dealt to its warpgroups in order. A reducer has what is
    computed from tiles that consumers share: products that it adds up in memory, or sums over columns of its own. Producers
    with `warp` share one warpgroup, of which each is a warp: warp 0 stands first, and takes the tiles for all of them.
    `registers` are those that the program's pipeline has for threads of the kind.

    Example:

    ```mlir
    %keys = tile.ring : !tile.ring<2 x vector<128x64xbf16>>
    tile.role <producer> warpgroups 1 registers 24 {
      tile.put %keys, %view[%j, %c0] axes [0, 1] below(%sk, %d)
          : !tile.ring<2 x vector<128x64xbf16>>, memref<?x64xbf16>
    }
    tile.role <consumer> warpgroups 2 registers 240 {
      %k = tile.get %keys : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>
      tile.release %keys : !tile.ring<2 x vector<128x64xbf16>>
    }
    ```
  }];
  let arguments = (ins Tile_RoleKindAttr:$kind, I64Attr:$warpgroups, I64Attr:$registers, OptionalAttr<I64Attr>:$warp);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind `warpgroups` $warpgroups `registers` $registers (`warp` $warp^)? $body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True of a producer that takes tiles from the counter, and posts their numbers.
    bool takesTiles() { return getKind() == RoleKind::Producer && getWarp().value_or(0) == 0; }
  }];
}

def Tile_PersistentOp : Tile_Op<"persistent", [SingleBlock, NoTerminator]> {
  let summary = "Persistent loop over the tiles of the grid that this block works on";
  let description = [{
    The region's argument is the number of the tile. Without `tiles`, block n of N works on tiles n, n + N, ...; with it,
    blocks take tiles from a counter in order: a producer fetches and posts their numbers in the ring.

    Example:

    ```mlir
    tile.persistent from %tiles : !tile.ring<2 x index> {
    ^bb0(%tile: index):
      %first = arith.muli %tile, %c128 : index
    }
    ```
  }];
  let arguments = (ins Optional<Tile_Ring>:$tiles);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`from` $tiles^ `:` type($tiles))? $body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of the tile.
    ::mlir::Value getTile() { return getBody().front().getArgument(0); }
  }];
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def Tile_RingOp : Tile_Op<"ring", [HasParent<"ProgramOp">, MemoryEffects<[MemAlloc]>]> {
  let summary = "A ring of buffers in shared memory";
  let description = [{
    `offset` is where its buffers start and `barriers` where its barriers do, once `tile-allocate-shared` has chosen:
    one barrier a stage that says that it is full, then one a stage that says that it is empty, and where puts clear rows
    one that says that a copy has landed.

    Example:

    ```mlir
    %keys = tile.ring : !tile.ring<2 x vector<128x64xbf16>>
    %values = tile.ring {barriers = 81920 : i64, offset = 32768 : i64} : !tile.ring<3 x vector<128x64xbf16>>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers);
  let results = (outs Tile_Ring:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

def Tile_BufferOp : Tile_Op<"buffer", [HasParent<"ProgramOp">, MemoryEffects<[MemAlloc]>]> {
  let summary = "A tile in shared memory through which stores go";
  let description = [{
    `offset` is where it starts, once `tile-allocate-shared` has chosen.

    Example: `%buffer = tile.buffer : !tile.shared<vector<128x64xbf16>>`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_SharedTile:$shared);
  let assemblyFormat = "attr-dict `:` type($shared)";
}

def Tile_PutOp : Tile_AccessOp<"put", (ins Arg<Tile_Ring, "the ring", [MemWrite]>:$ring), [], Tile_Pages> {
  let summary = "Fills the next buffer of a ring from a view";
  let description = [{
    Waits until the buffer is free, and starts a copy that makes it available to the consumers when it is done. Indices,
    axes, groups, limits and pages are those of `tile.load`: what is not below its limit becomes 0. A producer's copy
    stops at the view's own ends alone, and at that of the page table: it reads the entries of all rows of the tile that
    have one, and brings zeros for a page that is none. Where the limit of rows is another and the tile reaches past it, the
    producer waits for the copy, clears the rows that it should not have brought, and makes the buffer available then.
    Without roles, all threads of the block copy, and `tile.sync` stands where waits are needed.

    Example:

    ```mlir
    tile.put %keys, %view[%b, %j, %h, %c0] axes [1, 3] below(%sk, %d)
        : !tile.ring<2 x vector<128x64xbf16>>, memref<?x?x8x64xbf16>
    ```
  }];
  let assemblyFormat = [{
    $ring `,` $view `[` $indices `]` (`pages` `(` $pages^ `:` type($pages) `)`)? `axes` $axes (`group` $group^)?
    `below` `(` $limits `)` attr-dict `:` type($ring) `,` type($view)
  }];
}

def Tile_GetOp : Tile_Op<"get", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the next buffer of a ring";
  let description = [{
    The oldest buffer that this consumer has not waited for yet: each consumer gets them in the order in which they were
    filled. With `kept`, products of a later step read the buffer once more: `tile.held` gives it to them, and it is
    released after those.

    Example: `%k = tile.get %keys : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>`
  }];
  let arguments = (ins Arg<Tile_Ring, "the ring", [MemRead]>:$ring, UnitAttr:$kept);
  let results = (outs Tile_SharedTile:$shared);
  let assemblyFormat = "$ring (`kept` $kept^)? attr-dict `:` type($ring) `->` type($shared)";
  let hasVerifier = 1;
}

def Tile_HeldOp : Tile_Op<"held", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The oldest buffer of a ring that this consumer holds";
  let description = [{
    A buffer that a `tile.get` with `kept` waited for, in an earlier step of a loop or before it. Nothing is waited for.
    Each stands for a release to come: two in a row give two buffers, so they count as writing.

    Example: `%v = tile.held %values : !tile.ring<2 x vector<128x64xbf16>> -> !tile.shared<vector<128x64xbf16>>`
  }];
  let arguments = (ins Arg<Tile_Ring, "the ring", [MemRead]>:$ring);
  let results = (outs Tile_SharedTile:$shared);
  let assemblyFormat = "$ring attr-dict `:` type($ring) `->` type($shared)";
  let hasVerifier = 1;
}

def Tile_RowOp : Tile_Op<"row", [MemoryEffects<[MemRead]>]> {
  let summary = "One row of a tile, as a column vector";
  let description = [{
    For tiles of numbers that elements of a step read by their column. Such a tile is a whole tile for each warpgroup, and
    comes through a ring as tiles of products do.

    Example: `%lse = tile.row 0 of %statistics : vector<2x64xf32> -> vector<1x64xf32>`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, Tile_Operand:$tile);
  let results = (outs Tile_ColumnVector:$result);
  let assemblyFormat = "$number `of` $tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReadOp : Tile_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "A tile from shared memory, in registers";
  let description = [{
    For captured tiles, which elements of a step read by their row and column, and for left operands that products read from
    registers: each warp reads its own rows of what a ring has brought, and gives it back when it has. With `transposed`, rows
    are columns of the tile.

    Example: `%bias = tile.read %tile transposed : !tile.shared<vector<64x128xbf16>> -> vector<128x64xbf16>`
  }];
  let arguments = (ins Tile_Operand:$tile, UnitAttr:$transposed);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tile (`transposed` $transposed^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release", [MemoryEffects<[MemWrite]>]> {
  let summary = "Returns the oldest buffer that this consumer holds to the producer";
  let description = [{
    Once all consumers have, the producer may fill it again.

    Example: `tile.release %keys : !tile.ring<2 x vector<128x64xbf16>>`
  }];
  let arguments = (ins Arg<Tile_Ring, "the ring", [MemWrite]>:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Tile_ShareOp : Tile_Op<"share", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Gives a tile to all consumers, by way of shared memory";
  let description = [{
    Each warpgroup writes its rows to the next buffer of `ring`, which `tile-specialize-roles` adds: that is free once all
    consumers have released what it held. Others see it after a `tile.post`, which `tile-insert-sync` adds. Without roles
    `tile-stage-operands` adds the ring, and barriers (`tile.sync`) say both. Tiles are taken
    in the order in which they were shared, by `tile.take`. Rings hold tiles of 16-bit elements. Without a ring, as on a CPU,
    a tile has places of its own in memory, and may be of 32-bit elements: each step of a loop takes as many tiles as it
    shares, and so do both branches of a condition.

    Where warps have the same rows and some of the columns each, they share what they have of each row as well: a row vector
    of f32, to a ring of as many such vectors as there are parts of a row (`tile.block_reduce`).

    Example: `tile.share %gradients to %ring : !tile.ring<2 x vector<128x64xbf16>> : vector<128x64xbf16>`
  }];
  let arguments = (ins Tile_TileOrRows:$value, Optional<Tile_Ring>:$ring);
  let assemblyFormat = "$value (`to` $ring^ `:` type($ring))? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_PostOp : Tile_Op<"post", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Tells all consumers that the warpgroup's rows of a shared tile are there";
  let description = [{
    What the warpgroup has written to shared memory before is seen by products and by the copy engine after it: stores
    that are `deferred` start here, so that one fence serves both.

    Example: `tile.post %ring : !tile.ring<2 x vector<128x64xbf16>>`
  }];
  let arguments = (ins Tile_Ring:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The oldest tile that was shared and has not been taken";
  let description = [{
    The rows of all consumers: whoever takes a tile waits until each has shared its own. `tile-specialize-roles`, or `tile-stage-operands`, makes a
    `tile.get` of it, from the ring that is filled by what shares tiles of that type. One thread has nobody to wait for: it
    has shared the tile before.

    Example: `%shared = tile.take : !tile.shared<vector<128x64xbf16>>`
  }];
  let results = (outs Tile_SharedTile:$shared);
  let assemblyFormat = "attr-dict `:` type($shared)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Splits a tile of f32 in shared memory into parts that tensor cores multiply";
  let description = [{
    In programs without roles: all threads write the three parts of `shared`, tiles of bf16 whose sum it is, to the next
    buffer of `ring`. Others see them after a `tile.sync`.

    Example: `tile.split %keys to %ring : !tile.shared<vector<16x128xf32>> to !tile.ring<1 x vector<3x16x128xbf16>>`
  }];
  let arguments = (ins Tile_SharedTile:$shared, Arg<Tile_Ring, "the ring", [MemWrite]>:$ring);
  let assemblyFormat = "$shared `to` $ring attr-dict `:` type($shared) `to` type($ring)";
  let hasVerifier = 1;
}

def Tile_SyncOp : Tile_Op<"sync", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for copies and for all threads";
  let description = [{
    All threads of the block, in programs without roles: what they have written to shared memory is there for all after it.
    With `copies`, each thread first waits until its part of all but that many of the last puts is done: what any thread
    has copied then is there as well.

    Example: `tile.sync copies 1`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$copies);
  let assemblyFormat = "(`copies` $copies^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def Tile_StartOp : Tile_Op<"start", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts acc + a * b";
  let description = [{
    `tile.mma` that goes on while the program does: its result may be touched after `tile.await` only, and until then
    neither its operands' buffers may be released nor its operands' registers be written. Products end in the order in
    which they start.

    Example:

    ```mlir
    %pending = tile.start %q, %k, %zero transposed
        : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<96x64xbf16>>, vector<128x96xf32>
        -> !tile.pending<vector<128x96xf32>>
    ```
  }];
  let arguments = (ins Tile_Operand:$a, Tile_Operand:$b, Tile_F32Tile:$acc, UnitAttr:$transposed,
                       UnitAttr:$left_transposed);
  let results = (outs Tile_Pending:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`transposed` $transposed^)? (`left_transposed` $left_transposed^)? attr-dict `:` type($a) `,`
    type($b) `,` type($acc) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for a product, and for all products started before it";
  let description = [{
    Example: `%s = tile.await %pending : !tile.pending<vector<128x96xf32>> -> vector<128x96xf32>`
  }];
  let arguments = (ins Tile_Pending:$pending);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = "$pending attr-dict `:` type($pending) `->` type($result)";
}

def Tile_SchedBarrierOp : Tile_Op<"sched_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Keeps the assembler from moving a later wait up past this place";
  let description = [{
    Assemblers move waits up to the last operation that they depend on. What stands between this barrier and a wait
    overlaps with the product that is awaited.

    Example:

    ```mlir
    %scaled = arith.mulf %sum, %shrink : vector<128xf32>
    tile.sched_barrier
    %o = tile.await %pending : !tile.pending<vector<128x64xf32>> -> vector<128x64xf32>
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SkipOp : Tile_Op<"skip", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Skips a tile that only products of other warpgroups read";
  let description = [{
    Stands where a product would read `tile` as its right operand, `transposed` or not. All threads of the warpgroup have
    seen the tile come, so that one of them may release its buffer.

    Example: `tile.skip %k transposed : !tile.shared<vector<128x64xbf16>>`
  }];
  let arguments = (ins Tile_Operand:$tile, UnitAttr:$transposed);
  let assemblyFormat = "$tile (`transposed` $transposed^)? attr-dict `:` type($tile)";
}

def Tile_PingPongOp : Tile_Op<"ping_pong", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for this consumer's turn to start products, or signals the next consumer";
  let description = [{
    Consumer warpgroups take turns in order, from the first: while one starts products, the others compute weights.
    `wait` stands before the products, `arrive` after them.

    Example:

    ```mlir
    tile.ping_pong <wait>
    %pending = tile.start %q, %k, %zero transposed
        : !tile.shared<vector<128x64xbf16>>, !tile.shared<vector<96x64xbf16>>, vector<128x96xf32>
        -> !tile.pending<vector<128x96xf32>>
    tile.ping_pong <arrive>
    ```
  }];
  let arguments = (ins Tile_PingPongKindAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

//===----------------------------------------------------------------------===//
// Rows over lanes
//===----------------------------------------------------------------------===//

def Tile_LanePartialOp : Tile_Op<"lane_partial", [Pure, SameOperandsAndResultType]> {
  let summary = "Splits a row vector into partial sums, one in each lane that shares the row";
  let description = [{
    Until `tile.warp_reduce`, each lane holds a part of each element: only multiplication by whole row vectors and
    `tile.reduce <add>` with `partial` are meaningful. That saves a sum over lanes in every step.

    Example:

    ```mlir
    %parts = tile.lane_partial %sum : vector<128xf32>
    %more = tile.reduce <add> %p, %parts partial : vector<128x96xf32>, vector<128xf32>
    %total = tile.warp_reduce %more : vector<128xf32>
    ```
  }];
  let arguments = (ins Tile_F32RowVector:$rows);
  let results = (outs Tile_F32RowVector:$parts);
  let assemblyFormat = "$rows attr-dict `:` type($rows)";
}

def Tile_WarpReduceOp : Tile_Op<"warp_reduce", [Pure, AllTypesMatch<["parts", "rows"]>]> {
  let summary = "Sums the lanes' partial sums of each row, or takes their maximum";
  let description = [{
    Example: `%total = tile.warp_reduce %parts : vector<128xf32>`
  }];
  let arguments = (ins Tile_F32RowVector:$parts, UnitAttr:$max);
  let results = (outs Tile_F32RowVector:$rows);
  let assemblyFormat = "$parts (`max` $max^)? attr-dict `:` type($parts)";
}

def Tile_BlockReduceOp : Tile_Op<"block_reduce", [MemoryEffects<[MemRead]>]> {
  let summary = "Sums what the warps that have the same rows have of each, or takes its maximum";
  let description = [{
    Of row vectors that they have shared, one for each part of the columns.

    Example: `%max = tile.block_reduce %parts max : !tile.shared<vector<2x128xf32>> -> vector<128xf32>`
  }];
  let arguments = (ins Tile_SharedTile:$parts, UnitAttr:$max);
  let results = (outs Tile_F32RowVector:$rows);
  let assemblyFormat = "$parts (`max` $max^)? attr-dict `:` type($parts) `->` type($rows)";
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "Whether a condition holds in any row of a warp";
  let description = [{
    Rows that a warp works on go the same way through branches: the answer is theirs, and others may have another. It may
    therefore decide how something is computed, and not what.

    Example:

    ```mlir
    %grown = arith.cmpf ogt, %new_max, %max : vector<128xf32>
    %rescale = tile.any %grown : vector<128xi1>
    ```
  }];
  let arguments = (ins Tile_VectorOf<Tile_RowVector, I1>:$rows);
  let results = (outs I1:$result);
  let assemblyFormat = "$rows attr-dict `:` type($rows)";
}

#endif // ATTNC_DIALECT_TILE_ASYNC_OPS
