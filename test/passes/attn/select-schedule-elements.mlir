// What elements take beside their logits decides about consumers and steps: three consumers leave them too few
// registers, and steps have as many keys as leave room. A captured tile counts twice: a step ahead, and in its step. The copy
// engine brings those of 16 bits, and what it cannot take has the schedule that it would have had without it.

// DEFINE: %{schedule} = attnc compile %s --target nvptx:sm_90a --emit attn --entry
// RUN: %{schedule} alibi | FileCheck %s --check-prefixes=PLAIN
// RUN: %{schedule} capped | FileCheck %s --check-prefixes=PLAIN
// RUN: %{schedule} capped_sinks | FileCheck %s -DKEYS=128 -DSTAGES=2
// RUN: %{schedule} cap_of_launch | FileCheck %s -DKEYS=128 -DSTAGES=2
// RUN: %{schedule} quotient | FileCheck %s -DKEYS=128 -DSTAGES=2
// RUN: %{schedule} quotient_128 | FileCheck %s -DKEYS=96 -DSTAGES=2
// RUN: %{schedule} quotient_256 | FileCheck %s -DKEYS=48 -DSTAGES=2
// RUN: %{schedule} quotient_of_launch | FileCheck %s --check-prefixes=PLAIN
// RUN: %{schedule} bias | FileCheck %s --check-prefix=BIAS
// RUN: %{schedule} bias_and_mask | FileCheck %s -DKEYS=64 -DSTAGES=4
// RUN: %{schedule} wide_bias | FileCheck %s -DKEYS=96 -DSTAGES=2
// RUN: %{schedule} table | FileCheck %s -DKEYS=96 -DSTAGES=2
// RUN: %{schedule} bias_192 | FileCheck %s --check-prefix=CAPTURED -DKEYS=64 -DSTAGES=2 -DOTHER=64
// RUN: %{schedule} bias_256 | FileCheck %s --check-prefix=CAPTURED -DKEYS=48 -DSTAGES=2 -DOTHER=64
// RUN: %{schedule} window_256 | FileCheck %s --check-prefix=CAPTURED -DKEYS=48 -DSTAGES=2 -DOTHER=48
// RUN: %{schedule} bias_by_keys | FileCheck %s --check-prefix=CAPTURED -DKEYS=64 -DSTAGES=2 -DOTHER=64
// RUN: %{schedule} no_dimensions | FileCheck %s --check-prefixes=PLAIN
// RUN: %{schedule} dropout | FileCheck %s -DKEYS=128 -DSTAGES=2
// RUN: %{schedule} dropout_192 | FileCheck %s -DKEYS=64 -DSTAGES=2
// RUN: %{schedule} dropout_256 | FileCheck %s -DKEYS=64 -DSTAGES=2
// RUN: %{schedule} documents | FileCheck %s --check-prefixes=LISTED

// PLAIN: schedule(#attn.schedule<query_tile = 128, key_tile = 128, {{.*}}consumers = 2{{.*}}#attn.schedule<query_tile = 192, key_tile = 128, {{.*}}consumers = 3
// One schedule for any number of queries.
// CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = [[KEYS]], panel = 64, pipeline = #attn.roles<consumers = 2, stages = [[STAGES]], {{[^>]*}}>>)
// Keys and values cost as much as captured tiles: three consumers share them.
// BIAS: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to 1024>, pipeline = #attn.roles<consumers = 2, {{[^>]*}}ping_pong = true{{[^>]*}}capture_stages = 2, batch_inside = true>, otherwise = #attn.schedule<query_tile = 128, key_tile = 128, {{[^>]*}}>>>, #attn.schedule<query_tile = 192, key_tile = 96, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, {{[^>]*}}capture_stages = 2, batch_inside = true>, otherwise = #attn.schedule<query_tile = 128, key_tile = 128, {{[^>]*}}>>>)
// CAPTURED: schedule(#attn.schedule<query_tile = 128, key_tile = [[KEYS]], panel = 64, pipeline = #attn.roles<consumers = 2, stages = [[STAGES]], {{[^>]*}}capture_stages = 2, batch_inside = true>, otherwise = #attn.schedule<query_tile = 128, key_tile = [[OTHER]], panel = 64, pipeline = #attn.roles<consumers = 2, stages = [[STAGES]], {{[^>]*}}>>>)
// LISTED: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 2, {{[^>]*}}block_mask = true{{[^>]*}}>>)

!d64 = tensor<?x?x2x64xbf16>
!d128 = tensor<?x?x2x128xbf16>
!d192 = tensor<?x?x2x192xbf16>
!d256 = tensor<?x?x2x256xbf16>
!bias = tensor<?x?x?x?xbf16>

func.func @alibi(%q: !d64, %k: !d64, %v: !d64, %slopes: tensor<2xf32>) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<2xf32>
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// All weights are relative to one number.
func.func @capped(%q: !d64, %k: !d64, %v: !d64) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// Sinks have no limits, nor has a cap that only the launch knows: scores and logits are kept, for row maxima.
func.func @capped_sinks(%q: !d64, %k: !d64, %v: !d64, %n: tensor<2x1xf32>) -> !d64 {
  %o = attn.forward %q, %k, %v sinks(%n : tensor<2x1xf32>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @cap_of_launch(%q: !d64, %k: !d64, %v: !d64, %cap: f32) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, %cap
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// A quotient takes a reciprocal of each element, and registers for what refines it.
func.func @quotient(%q: !d64, %k: !d64, %v: !d64, %t: f32) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @quotient_128(%q: !d128, %k: !d128, %v: !d128, %t: f32) -> !d128 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    } : (!d128, !d128, !d128) -> !d128
  return %o : !d128
}

func.func @quotient_256(%q: !d256, %k: !d256, %v: !d256, %t: f32) -> !d256 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = arith.divf %s, %t : f32
      attn.yield %x : f32
    } : (!d256, !d256, !d256) -> !d256
  return %o : !d256
}

// One that is the same for all elements of a row is computed before the loop.
func.func @quotient_of_launch(%q: !d64, %k: !d64, %v: !d64, %t: f32) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %one = arith.constant 1.0 : f32
      %r = arith.divf %one, %t : f32
      %x = arith.mulf %s, %r : f32
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @bias(%q: !d64, %k: !d64, %v: !d64, %bias: !bias) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : !bias
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @wide_bias(%q: !d64, %k: !d64, %v: !d64, %bias: tensor<?x?x?x?xf32>) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x?x?x?xf32>
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// A mask from memory alone has steps of its own, which need no more than others; beside a bias it does.
func.func @bias_and_mask(%q: !d64, %k: !d64, %v: !d64, %bias: !bias, %m: tensor<?x?x?x?xi1>) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : !bias
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.load %m[%b, %h, %i, %j] : tensor<?x?x?x?xi1>
      attn.yield %keep : i1
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// Also where the key's number is only a part of an index.
func.func @table(%q: !d64, %k: !d64, %v: !d64, %t: tensor<32x2xf32>) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %d = arith.subi %i, %j : index
      %x = attn.bias %s, %t[%d, %h] : tensor<32x2xf32>
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @bias_192(%q: !d192, %k: !d192, %v: !d192, %bias: !bias) -> !d192 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : !bias
      attn.yield %x : f32
    } : (!d192, !d192, !d192) -> !d192
  return %o : !d192
}

func.func @bias_256(%q: !d256, %k: !d256, %v: !d256, %bias: !bias) -> !d256 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : !bias
      attn.yield %x : f32
    } : (!d256, !d256, !d256) -> !d256
  return %o : !d256
}

// One loop more has registers of its own.
func.func @window_256(%q: !d256, %k: !d256, %v: !d256, %bias: !bias) -> !d256 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : !bias
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(1024) right(0)
      attn.yield %keep : i1
    } : (!d256, !d256, !d256) -> !d256
  return %o : !d256
}

func.func @dropout(%q: !d64, %k: !d64, %v: !d64, %seed: i64) -> !d64 {
  %o = attn.forward %q, %k, %v dropout(0.1, %seed) : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

func.func @dropout_192(%q: !d192, %k: !d192, %v: !d192, %seed: i64) -> !d192 {
  %o = attn.forward %q, %k, %v dropout(0.1, %seed) : (!d192, !d192, !d192) -> !d192
  return %o : !d192
}

func.func @dropout_256(%q: !d256, %k: !d256, %v: !d256, %seed: i64) -> !d256 {
  %o = attn.forward %q, %k, %v dropout(0.1, %seed) : (!d256, !d256, !d256) -> !d256
  return %o : !d256
}

func.func @documents(%q: !d64, %k: !d64, %v: !d64, %ids: tensor<?x?xi32>) -> !d64 {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %ids[%b, %i], %ids[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}

// What lies by keys and then by queries can come as well.
func.func @bias_by_keys(%q: !d192, %k: !d192, %v: !d192, %bias: tensor<?x?x?x?xbf16>) -> !d192 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %j, %i] : tensor<?x?x?x?xbf16>
      attn.yield %x : f32
    } : (!d192, !d192, !d192) -> !d192
  return %o : !d192
}

// A number is no tile.
func.func @no_dimensions(%q: !d64, %k: !d64, %v: !d64, %number: tensor<bf16>) -> !d64 {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %number[] : tensor<bf16>
      attn.yield %x : f32
    } : (!d64, !d64, !d64) -> !d64
  return %o : !d64
}
