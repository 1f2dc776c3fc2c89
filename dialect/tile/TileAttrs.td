//===- TileAttrs.td - How kernels are launched -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_ATTRS
#define ATTNC_DIALECT_TILE_ATTRS

include "dialect/tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_TensorMapAttr : Tile_Attr<"TensorMap", "tensor_map"> {
  let summary = "Tensor map: how TMA sees a tensor";
  let description = [{
    - `arg`: the number of the tensor among the arguments and results of the kernel.
    - `box`: what one copy brings, one number a dimension, outermost first.
    - `swizzle`: how many bytes of shared memory the swizzle spans; 0 for none.
    - `order`: the dimensions as a box holds them, outermost first, where that is not the order of the tensor.

    Example: `#tile.tensor_map<arg = 1, box = [1, 96, 1, 64], swizzle = 128>`
  }];
  let parameters = (ins "int64_t":$arg, "::mlir::DenseI64ArrayAttr":$box, DefaultValuedParameter<"int64_t", "0">:$swizzle,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$order);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_LaunchAttr : Tile_Attr<"Launch", "launch"> {
  let summary = "How the kernel of a program is launched on a GPU";
  let description = [{
    Stands on the function that a program has become, as `tile.launch`.

    - `threads`: of a block.
    - `shared_bytes`: dynamic shared memory that a block asks for.
    - `persistent`: as many blocks as run at once, each of which takes several tiles; else one block a tile.
    - `blocks_per_multiprocessor`: that run at once.
    - `counter`: blocks take tiles from a counter, which is a parameter.
    - `early`: the kernel waits itself for the one before it in the same launch, and may start while that one runs.
    - `tensor_maps`: an array of `#tile.tensor_map`, which are parameters in this order.

    Example: `#tile.launch<threads = 384, shared_bytes = 230400, persistent = true, counter = true>`
  }];
  let parameters = (ins "int64_t":$threads, DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
                        DefaultValuedParameter<"bool", "false">:$persistent,
                        DefaultValuedParameter<"int64_t", "1">:$blocks_per_multiprocessor,
                        DefaultValuedParameter<"bool", "false">:$counter,
                        DefaultValuedParameter<"bool", "false">:$early,
                        OptionalParameter<"::mlir::ArrayAttr">:$tensor_maps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_WorkspaceAttr : Tile_Attr<"Workspace", "workspace"> {
  let summary = "Workspace: memory that the programs of a kernel hand results through";
  let description = [{
    Rows of elements, one after the other, that are no tensor of the caller's. Programs of a kernel that name the same one have
    the same memory; what one of them writes is there for those after it.

    - `name`: what the programs call it.
    - `sizes`: rows and columns, from the symbols of the program's grid.

    Example: `#tile.workspace<"statistics", ()[s0, s1] -> (s0 * 2, s1)>`
  }];
  let parameters = (ins StringRefParameter<"what programs call it">:$name, "::mlir::AffineMap":$sizes);
  let assemblyFormat = "`<` $name `,` $sizes `>`";
}

#endif // ATTNC_DIALECT_TILE_ATTRS
