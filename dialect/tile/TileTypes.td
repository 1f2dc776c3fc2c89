//===- TileTypes.td - Types of the tile dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TYPES
#define ATTNC_DIALECT_TILE_TYPES

include "dialect/tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_Ring : Tile_Type<"Ring", "ring"> {
  let summary = "A ring of buffers in shared memory between a producer and consumers";
  let description = [{
    `stages` buffers, each for one value of type `element`: a tile, or an index. The producer fills them in order, every
    consumer gets them in the same order, and a buffer is filled again once all consumers, of whichever role, have released it.
    A tile of f32 may be there as its parts (`tile.split`): then `element` has three tiles of bf16.

    Example: `!tile.ring<2 x vector<128x64xbf16>>`
  }];
  let parameters = (ins "int64_t":$stages, "::mlir::Type":$element);
  let assemblyFormat = "`<` $stages `x` $element `>`";
  let genVerifyDecl = 1;
}

def Tile_SharedTile : Tile_Type<"SharedTile", "shared"> {
  let summary = "A tile in shared memory";
  let description = [{
    What a consumer got from a ring: readable until it is released. The three parts of a tile of f32 are what that tile
    is to products.

    Examples: `!tile.shared<vector<128x64xbf16>>`, `!tile.shared<vector<3x128x64xbf16>>`
  }];
  let parameters = (ins "::mlir::VectorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

def Tile_Pending : Tile_Type<"Pending", "pending"> {
  let summary = "A tile in registers that a product in flight still writes";
  let description = [{
    Only `tile.await` may touch it.

    Example: `!tile.pending<vector<128x64xf32>>`
  }];
  let parameters = (ins "::mlir::VectorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

/// What registers hold, as `VectorKinds.h` tells by its type.
class Tile_VectorKind<string predicate, string summary>
    : Type<CPred<"::attnc::tile::" # predicate # "($_self)">, summary, "::mlir::VectorType">;
/// A vector of that kind whose elements have that type.
class Tile_VectorOf<Type kind, Type element>
    : Type<And<[kind.predicate, SubstLeaves<"$_self", "::mlir::getElementTypeOrSelf($_self)", element.predicate>]>,
           kind.summary # " of " # element.summary, "::mlir::VectorType">;

def Tile_Tile : Tile_VectorKind<"isTile", "tile">;
def Tile_RowVector : Tile_VectorKind<"isRowVector", "row vector">;
def Tile_ColumnVector : Tile_VectorKind<"isColumnVector", "column vector">;
def Tile_F32Tile : Tile_VectorOf<Tile_Tile, F32>;
def Tile_F32RowVector : Tile_VectorOf<Tile_RowVector, F32>;
def Tile_TileOrVector : Type<Or<[Tile_Tile.predicate, Tile_RowVector.predicate, Tile_ColumnVector.predicate]>,
                             "tile, row vector or column vector", "::mlir::VectorType">;
def Tile_TileOrRows : Type<Or<[Tile_Tile.predicate, Tile_RowVector.predicate]>, "tile or row vector",
                           "::mlir::VectorType">;

#endif // ATTNC_DIALECT_TILE_TYPES
