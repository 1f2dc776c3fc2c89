// RUN: attnc-opt %s --pass-pipeline="builtin.module(attn-order-operands)" | FileCheck %s
// RUN: attnc compile %s --entry own --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=SHIFTED
// RUN: attnc compile %s --entry exchanged --target nvptx:sm_90a --emit tile | FileCheck %s --check-prefix=SHIFTED

// Sums begin with the logit, or what comes of it, and distances with the query. Sums of two that come of it stay.

// CHECK-LABEL: func.func @exchanged(
// CHECK: %[[DISTANCE:.*]] = arith.subi %i, %j : index
// CHECK: math.absi %[[DISTANCE]] : index
// CHECK: %[[PENALTY:.*]] = arith.mulf
// CHECK: arith.addf %s, %[[PENALTY]] : f32

// CHECK-LABEL: func.func @both(
// CHECK: %[[SQUARE:.*]] = arith.mulf %s, %s : f32
// CHECK: arith.addf %[[SQUARE]], %s : f32

// The decisions about what is added to logits are the same for both.
// SHIFTED: tile.anchor
// SHIFTED: tile.row_shift

func.func @exchanged(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x4x64xbf16> {attn.name = "k"},
                     %v: tensor<?x?x4x64xbf16> {attn.name = "v"}, %slopes: tensor<4xf32> {attn.name = "slopes"})
    -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %slope = attn.load %slopes[%h] : tensor<4xf32>
      %zero = arith.constant 0.0 : f32
      %negative = arith.subf %zero, %slope : f32
      %difference = arith.subi %j, %i : index
      %distance = math.absi %difference : index
      %integer = arith.index_cast %distance : index to i32
      %number = arith.sitofp %integer : i32 to f32
      %penalty = arith.mulf %negative, %number : f32
      %x = arith.addf %penalty, %s : f32
      %none = arith.subf %x, %x : f32
      %y = arith.addf %none, %x : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}

func.func @both(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %square = arith.mulf %s, %s : f32
      %x = arith.addf %square, %s : f32
      attn.yield %x : f32
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}

func.func @own(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x4x64xbf16> {attn.name = "k"},
               %v: tensor<?x?x4x64xbf16> {attn.name = "v"}, %slopes: tensor<4xf32> {attn.name = "slopes"})
    -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %slope = attn.load %slopes[%h] : tensor<4xf32>
      %zero = arith.constant 0.0 : f32
      %negative = arith.subf %zero, %slope : f32
      %difference = arith.subi %i, %j : index
      %distance = math.absi %difference : index
      %integer = arith.index_cast %distance : index to i32
      %number = arith.sitofp %integer : i32 to f32
      %penalty = arith.mulf %negative, %number : f32
      %x = arith.addf %s, %penalty : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
