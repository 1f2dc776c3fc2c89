//===- TileSoftmaxOps.td - The online softmax --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018). One operation for a step and one for the
// end: what is decided about a softmax are attributes of these, and arithmetic comes of them once all is decided.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_SOFTMAXOPS
#define ATTNC_DIALECT_TILE_SOFTMAXOPS

include "dialect/tile/TileOps.td"

class Tile_SoftmaxBaseOp<string mnemonic, list<Trait> traits> : Tile_Op<mnemonic, !listconcat(traits, [Pure])> {
  let hasVerifier = 1;
  code unitDeclaration = [{
    /// How scores become weights.
    ::attnc::tile::ExponentUnit getUnit() {
      return {getOctaves(), getScale().convertToFloat(), static_cast<int64_t>(getHeadroom())};
    }
  }];
}

def Tile_SoftmaxOp : Tile_SoftmaxBaseOp<"softmax", [AttrSizedOperandSegments, AllTypesMatch<["max", "sum", "new_max", "new_sum", "shrink"]>]> {
  let summary = "One step of the online softmax";
  let description = [{
    Takes the scores of a tile, and for each row the maximum of the scores so far and the sum of their weights. Gives the
    maximum and the sum with those of the tile; the tile's weights, as a product takes them; and `shrink`, by which sums
    and outputs of the steps before are multiplied to be relative to the new maximum, as the new sum is.

    The weight of a score is `2^((score - maximum) * scale - headroom)` with `octaves`, else
    `e^((score - maximum) * scale - headroom * ln(2))`. A score of -inf has the weight 0, also where a row has no others
    (S7).

    With `rescale_on_growth` the maximum stays as it was until it has grown by 8 octaves. With `fixed` it stays in any case, and is
    any number near all scores. With `partial`, `sum` and `new_sum` are parts (see `tile.lane_partial`).

    `exponent` says how exponents (x - m) c - h are computed, with h the headroom:

    | | | |
    |---|---|---|
    | `exact` | (x - m) c - h | |
    | `fused` | x c + b | b is -m c - h, rounded; where m c is 2^31 or more, c is a power of two |
    | `split` | (x - m) c + t | t is m c + b; where m c is 2^24 or more, it is -h |

    With `own_max`, those are the maxima of the tile's rows, and none are looked for. With `renewed`, the maximum of a row
    that it does not have grows by whole octaves of weights alone, and may be above the row's by less than one octave: `shrink` is
    a power of two there, but for rounding, and the digits of the row's weights stay as they were.

    With `dropped below`, the product takes 0 for the weights whose number, an unsigned one of 16 bits (`tile.philox`), is
    below that bound: dropout (S9). The sum has weights as they are.

    Example:

    ```mlir
    %m1, %l1, %p, %shrink = tile.softmax %s, %m0, %l0 at(%i0, %j0) {octaves, scale = 0.180336878 : f32}
        : vector<128x64xf32>, vector<128xf32> -> vector<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_F32Tile:$scores, Tile_F32RowVector:$max, Tile_F32RowVector:$sum, Index:$i, Index:$j,
                       Optional<Tile_F32RowVector>:$own_max, Optional<Tile_VectorOf<Tile_RowVector, I1>>:$renewed,
                       Optional<Tile_VectorOf<Tile_Tile, I16>>:$numbers, Optional<I32>:$dropout_threshold, F32Attr:$scale, UnitAttr:$octaves,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$headroom, UnitAttr:$rescale_on_growth, UnitAttr:$fixed, UnitAttr:$partial,
                       DefaultValuedAttr<Tile_ExponentAttr, "::attnc::tile::Exponent::Exact">:$exponent);
  let builders = [OpBuilder<(ins "::mlir::Value":$scores, "::mlir::Value":$max, "::mlir::Value":$sum, "::mlir::Value":$i,
                                 "::mlir::Value":$j, "const ::attnc::tile::ExponentUnit &":$unit, "::mlir::Type":$weight)>];
  let results = (outs Tile_F32RowVector:$new_max, Tile_F32RowVector:$new_sum, Tile_Tile:$weights, Tile_F32RowVector:$shrink);
  let assemblyFormat = [{
    $scores `,` $max `,` $sum `at` `(` $i `,` $j `)` (`own` $own_max^ `:` type($own_max))?
    (`renewed` $renewed^ `:` type($renewed))? (`numbers` $numbers^ `:` type($numbers) `dropped` `below` $dropout_threshold)? attr-dict `:` type($scores) `,`
    type($max) `->` type($weights)
  }];
  let extraClassDeclaration = unitDeclaration;
}

def Tile_SoftmaxEndOp : Tile_SoftmaxBaseOp<"softmax_end", [AttrSizedOperandSegments,
                                                           AllTypesMatch<["max", "sum", "factors", "lse"]>]> {
  let summary = "Divisor and LSE of each row, from its maximum and sum";
  let description = [{
    Gives the factors that outputs are multiplied by in the end, 1 / sum, and the LSE, `maximum * scale + log(sum)` in
    natural units (S8). A row without weights, and one that `padding` has, gives 0 and -inf (S7, S11).

    With `sink`, a maximum that was cut to f32 stands for that sink in natural units: it is above all scores, or the row
    has none. `approximate`: the target's own logarithm will do.

    The weight of a row's maximum is a power of two where exponents are exact, and conversion to a narrow type leaves it as
    it is. With `rounded`, exponents were computed as `exponent` says, and 1 / sum takes in by what that weight changed
    when it was converted to that type, in rows of whose weight it is half or more. With `max_weight`, that is a weight, or
    a sum of weights, that may be greater; the greater one counts.

    Example: `%f, %lse = tile.softmax_end %m, %l {octaves, scale = 0.180336878 : f32} : vector<128xf32>`
  }];
  let arguments = (ins Tile_F32RowVector:$max, Tile_F32RowVector:$sum, Optional<Tile_VectorOf<Tile_RowVector, I1>>:$padding,
                       Optional<Tile_F32RowVector>:$sink, Optional<Tile_F32RowVector>:$max_weight, F32Attr:$scale, UnitAttr:$octaves,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$headroom, UnitAttr:$approximate,
                       DefaultValuedAttr<Tile_ExponentAttr, "::attnc::tile::Exponent::Exact">:$exponent,
                       OptionalAttr<TypeAttr>:$rounded);
  let builders = [OpBuilder<(ins "::mlir::Value":$max, "::mlir::Value":$sum, "::mlir::Value":$padding,
                                 "::mlir::Value":$sink, "const ::attnc::tile::ExponentUnit &":$unit)>];
  let results = (outs Tile_F32RowVector:$factors, Tile_F32RowVector:$lse);
  let assemblyFormat = [{
    $max `,` $sum (`padding` $padding^ `:` type($padding))? (`sink` $sink^ `:` type($sink))?
    (`max_weight` $max_weight^ `:` type($max_weight))? attr-dict `:` type($max)
  }];
  let extraClassDeclaration = unitDeclaration;
}

#endif // ATTNC_DIALECT_TILE_SOFTMAXOPS
