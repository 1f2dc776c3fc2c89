//===- TileEnums.td - Kinds of roles, reductions and turns -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_ENUMS
#define ATTNC_DIALECT_TILE_ENUMS

include "dialect/tile/TileDialect.td"
include "mlir/IR/EnumAttr.td"

def Tile_ReduceMax : I32EnumAttrCase<"Max", 0, "max">;
def Tile_ReduceAdd : I32EnumAttrCase<"Add", 1, "add">;
def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [Tile_ReduceMax, Tile_ReduceAdd]> {
  let cppNamespace = "::attnc::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_ExponentExact : I32EnumAttrCase<"Exact", 0, "exact">;
def Tile_ExponentFused : I32EnumAttrCase<"Fused", 1, "fused">;
def Tile_ExponentSplit : I32EnumAttrCase<"Split", 2, "split">;
def Tile_Exponent : I32EnumAttr<"Exponent", "how exponents are computed",
                                [Tile_ExponentExact, Tile_ExponentFused, Tile_ExponentSplit]> {
  let cppNamespace = "::attnc::tile";
  let genSpecializedAttr = 0;
}
def Tile_ExponentAttr : EnumAttr<Tile_Dialect, Tile_Exponent, "exponent"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_RoleProducer : I32EnumAttrCase<"Producer", 0, "producer">;
def Tile_RoleConsumer : I32EnumAttrCase<"Consumer", 1, "consumer">;
def Tile_RoleReducer : I32EnumAttrCase<"Reducer", 2, "reducer">;
def Tile_RoleKind : I32EnumAttr<"RoleKind", "what warpgroups do",
                                [Tile_RoleProducer, Tile_RoleConsumer, Tile_RoleReducer]> {
  let cppNamespace = "::attnc::tile";
  let genSpecializedAttr = 0;
}
def Tile_RoleKindAttr : EnumAttr<Tile_Dialect, Tile_RoleKind, "role_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_PingPongWait : I32EnumAttrCase<"Wait", 0, "wait">;
def Tile_PingPongArrive : I32EnumAttrCase<"Arrive", 1, "arrive">;
def Tile_PingPongKind : I32EnumAttr<"PingPongKind", "what to do with the turn", [Tile_PingPongWait, Tile_PingPongArrive]> {
  let cppNamespace = "::attnc::tile";
  let genSpecializedAttr = 0;
}
def Tile_PingPongKindAttr : EnumAttr<Tile_Dialect, Tile_PingPongKind, "ping_pong_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_OverlapWeightsAhead : I32EnumAttrCase<"WeightsAhead", 0, "weights_ahead">;
def Tile_OverlapLogitsAhead : I32EnumAttrCase<"LogitsAhead", 1, "logits_ahead">;
def Tile_OverlapScoresAhead : I32EnumAttrCase<"ScoresAhead", 2, "scores_ahead">;
def Tile_OverlapSumsLate : I32EnumAttrCase<"SumsLate", 3, "sums_late">;
/// What of a step a loop does a step ahead of the rest: logits and weights, which leave the product that adds them up; the
/// products that start the step; the first of these; or all but the products that accumulate, which are a step late.
def Tile_Overlap : I32EnumAttr<"Overlap", "what of a step a loop does ahead of the rest",
                               [Tile_OverlapWeightsAhead, Tile_OverlapLogitsAhead, Tile_OverlapScoresAhead,
                                Tile_OverlapSumsLate]> {
  let cppNamespace = "::attnc::tile";
  let genSpecializedAttr = 0;
}
def Tile_OverlapAttr : EnumAttr<Tile_Dialect, Tile_Overlap, "overlap"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // ATTNC_DIALECT_TILE_ENUMS
