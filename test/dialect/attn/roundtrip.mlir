// RUN: attnc-opt %s | attnc-opt | FileCheck %s
// RUN: attnc-opt %s --mlir-print-op-generic | attnc-opt | FileCheck %s

// Every operation and every clause, as the custom syntax prints it after one more reading.

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: attn.name = "q"
// CHECK-SAME: -> (tensor<?x?x4x64xf32> {attn.name = "out"})
// CHECK: %[[O:[a-z0-9_]+]] = attn.forward %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
// CHECK-NEXT: return %[[O]]
func.func @plain(%q: tensor<?x?x4x64xf32> {attn.name = "q"}, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>)
    -> (tensor<?x?x4x64xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// CHECK-LABEL: func.func @static_sizes(
// CHECK: attn.forward {{.*}} : (tensor<2x5x6x40xf16>, tensor<2x7x3x40xf16>, tensor<2x7x3x8xf16>) -> (tensor<2x5x6x8xf16>, tensor<2x6x5xf32>)
func.func @static_sizes(%q: tensor<2x5x6x40xf16>, %k: tensor<2x7x3x40xf16>, %v: tensor<2x7x3x8xf16>)
    -> (tensor<2x5x6x8xf16>, tensor<2x6x5xf32>) {
  %o, %lse = attn.forward %q, %k, %v
    : (tensor<2x5x6x40xf16>, tensor<2x7x3x40xf16>, tensor<2x7x3x8xf16>) -> (tensor<2x5x6x8xf16>, tensor<2x6x5xf32>)
  return %o, %lse : tensor<2x5x6x8xf16>, tensor<2x6x5xf32>
}

// Clauses are printed in one order, whatever the order in which they were written. A bottom_right alignment is the
// default, and not printed.

// CHECK-LABEL: func.func @every_clause(
// CHECK: attn.forward %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scale(1.250000e-01) sinks(%{{[a-z0-9_]+}} : tensor<4x2xf32>)
// CHECK-SAME: dropout(1.000000e-01, %{{[a-z0-9_]+}}) align(top_left) q_offset(%{{[a-z0-9_]+}})
// CHECK-SAME: lengths(query = %{{[a-z0-9_]+}} : tensor<?xi32>, key = %{{[a-z0-9_]+}} : tensor<?xi32>)
// CHECK-SAME: schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>)
// CHECK: score (%[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: attn.yield %[[S]] : f32
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[KEEP:[a-z0-9_]+]] = attn.causal %[[I]], %[[J]]
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
// CHECK: bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]]) {
// CHECK-NEXT: attn.yield %[[I0]], %[[I0]], %[[I1]], %[[I1]] : index, index, index, index
// CHECK: blocks (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK: attn.yield %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : i1, i1
// CHECK: } {note = "kept"} : (tensor<?x?x4x64xf32>
func.func @every_clause(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %v: tensor<?x?x4x64xf32>,
                        %t: tensor<4x2xf32>, %seed: i64, %n: index, %ql: tensor<?xi32>, %kl: tensor<?xi32>)
    -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %k, %v
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      %some = arith.cmpi sle, %j0, %i1 : index
      %all = arith.cmpi sle, %j1, %i0 : index
      attn.yield %some, %all : i1, i1
    }
    bounds (%b, %h, %i0, %i1) {
      attn.yield %i0, %i0, %i1, %i1 : index, index, index, index
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    score (%s, %b, %h, %i, %j) {
      attn.yield %s : f32
    }
    schedule(#attn.schedule<query_tile = 96, key_tile = 64, panel = 24>)
    lengths(key = %kl : tensor<?xi32>, query = %ql : tensor<?xi32>)
    q_offset(%n) align(top_left) dropout(0.1, %seed) sinks(%t : tensor<4x2xf32>) scale(0.125)
    {note = "kept"}
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// CHECK-LABEL: func.func @values_for_literals(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x4x64xbf16>, %[[SCALE:[^:]*]]: f32, %[[P:[^:]*]]: f32, %[[SEED:[^:]*]]: i64, %[[T:[^:]*]]: tensor<1xbf16>, %[[L:[^:]*]]: tensor<?xi32>, %[[HALVES:[^:]*]]: tensor<2xi32>
// CHECK: attn.forward %[[Q]], %[[Q]], %[[Q]] scale(%[[SCALE]]) sinks(%[[T]] : tensor<1xbf16>) dropout(%[[P]], %[[SEED]]) lengths(query = %[[L]] : tensor<?xi32>) :
// CHECK: attn.forward %[[Q]], %[[Q]], %[[Q]] dropout(%[[P]], %[[HALVES]] : tensor<2xi32>) lengths(key = %[[L]] : tensor<?xi32>) :
func.func @values_for_literals(%q: tensor<?x?x4x64xbf16>, %scale: f32, %p: f32, %seed: i64, %t: tensor<1xbf16>,
                               %l: tensor<?xi32>, %halves: tensor<2xi32>) -> (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) {
  %o = attn.forward %q, %q, %q scale(%scale) sinks(%t : tensor<1xbf16>) dropout(%p, %seed) align(bottom_right)
    lengths(query = %l : tensor<?xi32>)
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  %x = attn.forward %q, %q, %q lengths(key = %l : tensor<?xi32>) dropout(%p, %halves : tensor<2xi32>)
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o, %x : tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>
}

// CHECK-LABEL: func.func @packed(
// CHECK: attn.forward {{.*}} varlen(query = %[[QO:[a-z0-9_]+]] : tensor<?xi32>, key = %[[KO:[a-z0-9_]+]] : tensor<?xi32>) : (tensor<?x4x64xf32>, tensor<?x2x64xf32>, tensor<?x2x32xf32>) -> (tensor<?x4x32xf32>, tensor<4x?xf32>)
func.func @packed(%q: tensor<?x4x64xf32>, %k: tensor<?x2x64xf32>, %v: tensor<?x2x32xf32>, %qo: tensor<?xi32>,
                  %ko: tensor<?xi32>) -> (tensor<?x4x32xf32>, tensor<4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v varlen(key = %ko : tensor<?xi32>, query = %qo : tensor<?xi32>)
    : (tensor<?x4x64xf32>, tensor<?x2x64xf32>, tensor<?x2x32xf32>) -> (tensor<?x4x32xf32>, tensor<4x?xf32>)
  return %o, %lse : tensor<?x4x32xf32>, tensor<4x?xf32>
}

// CHECK-LABEL: func.func @weights(
// CHECK: attn.weights %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scale(5.000000e-01) align(top_left)
// CHECK: mask (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK: : (tensor<?x?x4x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x4x?x?xf16>
func.func @weights(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x2x64xf16>) -> tensor<?x4x?x?xf16> {
  %w = attn.weights %q, %k scale(0.5) align(top_left)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x4x?x?xf16>
  return %w : tensor<?x4x?x?xf16>
}

// CHECK-LABEL: func.func @score_sugar(
// CHECK: score (%[[S:[a-z0-9_]+]], %[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = attn.softcap %[[S]], 5.000000e+01{{$}}
// CHECK-NEXT: %[[D:[a-z0-9_]+]] = attn.softcap %[[C]], %{{[a-z0-9_]+}}{{$}}
// CHECK-NEXT: %[[A:[a-z0-9_]+]] = attn.alibi %[[D]], %{{[a-z0-9_]+}}[%[[H]]], %[[I]], %[[J]] : tensor<4xf16>
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = attn.bias %[[A]], %{{[a-z0-9_]+}}[%[[B]], %[[H]], %[[I]], %[[J]]] : tensor<1x4x?x?xbf16>
// CHECK-NEXT: %[[E:[a-z0-9_]+]] = attn.load %{{[a-z0-9_]+}}[%[[B]], %[[H]], %[[I]], %[[J]]] : tensor<1x4x?x?xbf16>
// CHECK-NEXT: arith.extf %[[E]] : bf16 to f32
func.func @score_sugar(%q: tensor<?x?x4x64xf32>, %cap: f32, %slopes: tensor<4xf16>, %bias: tensor<1x4x?x?xbf16>)
    -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 50.0
      %d = attn.softcap %c, %cap
      %a = attn.alibi %d, %slopes[%h], %i, %j : tensor<4xf16>
      %x = attn.bias %a, %bias[%b, %h, %i, %j] : tensor<1x4x?x?xbf16>
      %e = attn.load %bias[%b, %h, %i, %j] : tensor<1x4x?x?xbf16>
      %f = arith.extf %e : bf16 to f32
      %y = arith.addf %x, %f : f32
      attn.yield %y : f32
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// An attribute dictionary and the words left and right mean the same.

// CHECK-LABEL: func.func @mask_sugar(
// CHECK: mask (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[I:[a-z0-9_]+]], %[[J:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[A:[a-z0-9_]+]] = attn.causal %[[I]], %[[J]]
// CHECK-NEXT: attn.window %[[I]], %[[J]]{{$}}
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(4095) right(0)
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(4095) right(0)
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(%[[L:[a-z0-9_]+]]) right(3)
// CHECK-NEXT: attn.window %[[I]], %[[J]] left(7) right(%[[L]])
// CHECK-NEXT: attn.window %[[I]], %[[J]] right(%[[L]])
// CHECK-NEXT: attn.same_segment %{{[a-z0-9_]+}}[%[[B]], %[[I]]], %{{[a-z0-9_]+}}[%[[B]], %[[J]]] : tensor<?x?xi32>, tensor<?x?xi32>
// CHECK-NEXT: attn.prefix %[[J]], %{{[a-z0-9_]+}}[%[[B]]] : tensor<?xi32>
// CHECK-NEXT: attn.load %{{[a-z0-9_]+}}[%[[B]], %[[J]]] : tensor<?x?xi1>
func.func @mask_sugar(%q: tensor<?x?x4x64xf32>, %l: index, %qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>,
                      %length: tensor<?xi32>, %keys: tensor<?x?xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    mask (%b, %h, %i, %j) {
      %c = attn.causal %i, %j
      %w0 = attn.window %i, %j
      %w1 = attn.window %i, %j left(4095) right(0)
      %w2 = attn.window %i, %j {left = 4095 : i64, right = 0 : i64}
      %w3 = attn.window %i, %j left(%l) right(3)
      %w4 = attn.window %i, %j left(7) right(%l)
      %w5 = attn.window %i, %j right(%l)
      %m = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      %p = attn.prefix %j, %length[%b] : tensor<?xi32>
      %e = attn.load %keys[%b, %j] : tensor<?x?xi1>
      attn.yield %c : i1
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// CHECK-LABEL: func.func @load_types(
// CHECK: attn.load %{{[a-z0-9_]+}}[] : tensor<f32>
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] : tensor<?xi8>
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] : tensor<?xi64>
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] : tensor<3xf16>
func.func @load_types(%q: tensor<?x?x4x64xf32>, %a: tensor<f32>, %b8: tensor<?xi8>, %b64: tensor<?xi64>,
                      %f: tensor<3xf16>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %0 = attn.load %a[] : tensor<f32>
      %1 = attn.load %b8[%i] : tensor<?xi8>
      %2 = attn.load %b64[%j] : tensor<?xi64>
      %d = arith.subi %i, %j : index
      %3 = attn.load %f[%d] : tensor<3xf16>
      %y = arith.addf %s, %0 : f32
      attn.yield %y : f32
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// A range whose ends are one value is printed as that value.

// CHECK-LABEL: func.func @load_range(
// CHECK: blocks (%[[B:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %[[I0:[a-z0-9_]+]], %[[I1:[a-z0-9_]+]], %[[J0:[a-z0-9_]+]], %[[J1:[a-z0-9_]+]]) {
// CHECK-NEXT: %[[LO:[a-z0-9_]+]], %[[HI:[a-z0-9_]+]] = attn.load_range %{{[a-z0-9_]+}}[%[[B]], %[[I0]] to %[[I1]]] : tensor<?x?xi32>
// CHECK-NEXT: attn.load_range %{{[a-z0-9_]+}}[%[[B]], %[[J0]] to %[[J1]]] : tensor<?x?xi1>
func.func @load_range(%q: tensor<?x?x4x64xf32>, %ids: tensor<?x?xi32>, %keys: tensor<?x?xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      %lo, %hi = attn.load_range %ids[%b, %i0 to %i1] : tensor<?x?xi32>
      %all, %some = attn.load_range %keys[%b to %b, %j0 to %j1] : tensor<?x?xi1>
      attn.yield %some, %all : i1, i1
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// Literals keep their bits: one third, the least cap, and infinity.

// CHECK-LABEL: func.func @literals(
// CHECK: scale(0.333333343)
// CHECK: attn.softcap %{{[a-z0-9_]+}}, 1.17549435E-38
// CHECK: attn.softcap %{{[a-z0-9_]+}}, 0x7F800000
func.func @literals(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q scale(0.33333333333333)
    score (%s, %b, %h, %i, %j) {
      %c = attn.softcap %s, 1.17549435E-38
      %d = attn.softcap %c, 0x7F800000
      attn.yield %d : f32
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// CHECK-LABEL: func.func @target
// CHECK-SAME: #attn.cpu<cpu = "znver3", features = "+avx2,+fma", vector_bits = 256, vector_registers = 16, l1_bytes = 32768, l2_bytes = 524288>
func.func @target() attributes {
  x.target = #attn.cpu<cpu = "znver3", features = "+avx2,+fma", vector_bits = 256, vector_registers = 16,
                       l1_bytes = 32768, l2_bytes = 524288>} {
  return
}

// Which indices are coordinates is printed where the operands look otherwise, among other attributes. Written out, what
// they look like is no news.

// CHECK-LABEL: func.func @coordinates(
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] : tensor<?xf32>
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] {note = "kept"} : tensor<?xf32>
// CHECK: attn.load %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}}] {coordinates = array<i1: false>, note = "kept"} : tensor<?xf32>
// CHECK: attn.load_range %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}} to %{{[a-z0-9_]+}}] {coordinates = array<i1: false>} : tensor<?xi1>
// CHECK: attn.load_range %{{[a-z0-9_]+}}[%{{[a-z0-9_]+}} to %{{[a-z0-9_]+}}] : tensor<?xi1>
func.func @coordinates(%q: tensor<?x?x4x64xf32>, %t: tensor<?xf32>, %keys: tensor<?xi1>) -> tensor<?x?x4x64xf32> {
  %o = attn.forward %q, %q, %q
    score (%s, %b, %h, %i, %j) {
      %x = attn.load %t[%i] {coordinates = array<i1: true>} : tensor<?xf32>
      %y = attn.load %t[%i] {note = "kept"} : tensor<?xf32>
      %z = attn.load %t[%i] {coordinates = array<i1: false>, note = "kept"} : tensor<?xf32>
      attn.yield %z : f32
    }
    blocks (%b, %h, %i0, %i1, %j0, %j1) {
      %all, %some = attn.load_range %keys[%j0 to %j1] {coordinates = array<i1: false>} : tensor<?xi1>
      %all1, %some1 = attn.load_range %keys[%i0 to %j1] {coordinates = array<i1: false>} : tensor<?xi1>
      attn.yield %some, %all : i1, i1
    }
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}

// Attributes of GPUs. What is false or 0 by default is not printed.

// CHECK-LABEL: func.func private @gpu()
// CHECK-SAME: x.few = #attn.roles<consumers = 1, stages = 3, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>
// CHECK-SAME: x.gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>
// CHECK-SAME: x.schedule = #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, rescaling = on_growth, ping_pong = true, by_row = true, epilogue = slabs, dynamic = true, section_bytes = 4096>>
// CHECK-SAME: x.staged = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 32, consumer_registers = 160, epilogue = staged>
func.func private @gpu() attributes {
  x.gpu = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536,
                    l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>,
  x.few = #attn.roles<consumers = 1, stages = 3, query_stages = 1, producer_registers = 24, consumer_registers = 240,
                         rescaling = each_step, epilogue = direct, section_bytes = 0>,
  x.staged = #attn.roles<consumers = 1, stages = 1, query_stages = 1, producer_registers = 32,
                            consumer_registers = 160, epilogue = staged>,
  x.schedule = #attn.schedule<query_tile = 128, key_tile = 64, panel = 64,
                              pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24,
                                          consumer_registers = 240, rescaling = on_growth, ping_pong = true,
                                          by_row = true, epilogue = slabs, dynamic = true,
                                          section_bytes = 4096>>}

// CHECK-LABEL: func.func @scheduled_for_a_gpu(
// CHECK: attn.forward {{.*}} schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, epilogue = direct>>)
func.func @scheduled_for_a_gpu(%q: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
  %o = attn.forward %q, %q, %q
    schedule(#attn.schedule<query_tile = 64, key_tile = 32, panel = 64,
                            pipeline = #attn.roles<consumers = 1, stages = 2, query_stages = 1, producer_registers = 24,
                                        consumer_registers = 240, epilogue = direct>>)
    : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
  return %o : tensor<?x?x4x64xf16>
}

// Launches of different sizes.
// CHECK-LABEL: func.func @scheduled_by_size(
// CHECK: attn.forward {{.*}} schedule(#attn.schedule<query_tile = 16, key_tile = 64, panel = 8, when = <queries = to 99>>, #attn.schedule<query_tile = 32, key_tile = 64, panel = 8, when = <queries = 100 to 999>>, #attn.schedule<query_tile = 64, key_tile = 64, panel = 8, when = <queries = from 1000>>) :
func.func @scheduled_by_size(%q: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
  %o = attn.forward %q, %q, %q
    schedule(#attn.schedule<query_tile = 16, key_tile = 64, panel = 8, when = #attn.sizes<queries = 0 to 99>>,
             #attn.schedule<query_tile = 32, key_tile = 64, panel = 8, when = <queries = 100 to 999>>,
             #attn.schedule<query_tile = 64, key_tile = 64, panel = 8, when = <queries = 1000 to 9223372036854775807>>)
    : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
  return %o : tensor<?x?x4x64xf16>
}

// Conditions have their sizes in one order, and say nothing of those that may be anything.
// CHECK-LABEL: func.func private @conditions()
// CHECK-SAME: x.all = #attn.sizes<>
// CHECK-SAME: x.each = #attn.sizes<queries = 1025 to 4096, keys = from 512, batch = to 4, query_heads = 8, all_heads = 0>
func.func private @conditions() attributes {
  x.each = #attn.sizes<all_heads = to 0, batch = 0 to 4, query_heads = 8 to 8, queries = 1025 to 4096, keys = from 512>,
  x.all = #attn.sizes<keys = from 0, batch = 0 to 9223372036854775807>
}

// The gradients, of an LSE as well, with all that is derived for them.

// CHECK-LABEL: func.func @backward(
// CHECK: %[[D:[a-z0-9_]+]]:3 = attn.backward %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scale(2.500000e-01)
// CHECK-SAME: schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24, program = dq>, #attn.schedule<query_tile = 16, key_tile = 48, panel = 24, program = dkdv>)
// CHECK-SAME: score (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK: } mask (
// CHECK: } derivative (%[[DS:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[X:[a-z0-9_]+]] = arith.mulf %[[DS]], %[[S]] : f32
// CHECK-NEXT: attn.yield %[[X]] : f32
// CHECK: } query_bounds (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[J0:[a-z0-9_]+]], %{{[a-z0-9_]+}}) {
// CHECK-NEXT: %[[FIRST:[a-z0-9_]+]] = arith.index_cast %[[J0]] : index to i64
// CHECK-NEXT: attn.yield %[[FIRST]], %[[FIRST]], %[[FIRST]], %[[FIRST]] : i64, i64, i64, i64
// CHECK: } : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>, tensor<?x?x4x24xf32>, tensor<?x4x?xf32>, tensor<?x?x4x24xf32>, tensor<?x4x?xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>)
// CHECK-NEXT: return %[[D]]#0, %[[D]]#1, %[[D]]#2
func.func @backward(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x24xf32>,
                    %o: tensor<?x?x4x24xf32>, %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x24xf32>,
                    %dlse: tensor<?x4x?xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>) {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do, %dlse
    scale(0.25)
    schedule(#attn.schedule<query_tile = 48, key_tile = 16, panel = 24, program = dq>,
             #attn.schedule<query_tile = 16, key_tile = 48, panel = 24, program = dkdv>)
    score (%s, %b, %h, %i, %j) {
      %x = arith.mulf %s, %s : f32
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    derivative (%ds, %s, %b, %h, %i, %j) {
      %x = arith.mulf %ds, %s : f32
      attn.yield %x : f32
    }
    query_bounds (%b, %h, %j_first, %j_last) {
      %first = arith.index_cast %j_first : index to i64
      attn.yield %first, %first, %first, %first : i64, i64, i64, i64
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>, tensor<?x?x4x24xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x24xf32>, tensor<?x4x?xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>)
  return %dq, %dk, %dv : tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x24xf32>
}

// CHECK-LABEL: func.func @backward_of_out_alone(
// CHECK: attn.backward %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} varlen(
func.func @backward_of_out_alone(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %v: tensor<?x4x16xf32>,
                                 %o: tensor<?x4x16xf32>, %lse: tensor<4x?xf32>, %do: tensor<?x4x16xf32>,
                                 %offsets: tensor<?xi32>) -> tensor<?x4x16xf32> {
  %dq, %dk, %dv = attn.backward %q, %k, %v, %o, %lse, %do
    varlen(query = %offsets : tensor<?xi32>, key = %offsets : tensor<?xi32>)
    : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<4x?xf32>,
       tensor<?x4x16xf32>) -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
  return %dk : tensor<?x4x16xf32>
}

// CHECK-LABEL: func.func @backward_of_sinks(
// CHECK: attn.backward {{.*}} sinks(%{{[a-z0-9_]+}} : tensor<4x3xf32>) : {{.*}} -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4x3xf32>)
func.func @backward_of_sinks(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                             %sinks: tensor<4x3xf32>, %o: tensor<?x?x4x16xf32>, %lse: tensor<?x4x?xf32>,
                             %do: tensor<?x?x4x16xf32>) -> tensor<4x3xf32> {
  %dq, %dk, %dv, %dsinks = attn.backward %q, %k, %v, %o, %lse, %do sinks(%sinks : tensor<4x3xf32>)
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4x3xf32>)
  return %dsinks : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @backward_of_captured(
// CHECK: %{{[a-z0-9_]+}}:5 = attn.backward {{.*}} captured(%{{[a-z0-9_]+}}[h] : tensor<4xf32>, %{{[a-z0-9_]+}}[b, h, j, i] : tensor<1x4x?x?xbf16>) score
// CHECK: derivative
// CHECK: attn.yield %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : f32, f32, f32
// CHECK: -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4xf32>, tensor<1x4x?x?xbf16>)
func.func @backward_of_captured(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x4x16xf32>, %v: tensor<?x?x4x16xf32>,
                                %slopes: tensor<4xf32>, %bias: tensor<1x4x?x?xbf16>, %o: tensor<?x?x4x16xf32>,
                                %lse: tensor<?x4x?xf32>, %do: tensor<?x?x4x16xf32>)
    -> (tensor<4xf32>, tensor<1x4x?x?xbf16>) {
  %dq, %dk, %dv, %dslopes, %dbias = attn.backward %q, %k, %v, %o, %lse, %do
    captured(%slopes[h] : tensor<4xf32>, %bias[b, h, j, i] : tensor<1x4x?x?xbf16>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<4xf32>
      %y = attn.bias %x, %bias[%b, %h, %j, %i] : tensor<1x4x?x?xbf16>
      attn.yield %y : f32
    }
    derivative (%ds, %s, %b, %h, %i, %j) {
      %zero = arith.constant 0.0 : f32
      attn.yield %ds, %zero, %ds : f32, f32, f32
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x4x?xf32>,
       tensor<?x?x4x16xf32>)
    -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<4xf32>, tensor<1x4x?x?xbf16>)
  return %dslopes, %dbias : tensor<4xf32>, tensor<1x4x?x?xbf16>
}

// Keys in pages, of padded and of packed queries.
// CHECK-LABEL: func.func @pages(
// CHECK: attn.forward {{.*}} lengths(key = %{{[a-z0-9_]+}} : tensor<?xi32>) paged(%{{[a-z0-9_]+}} : tensor<?x?xi32>) : (tensor<?x?x4x64xf16>, tensor<?x16x2x64xf16>, tensor<?x16x2x32xf16>) -> tensor<?x?x4x32xf16>
func.func @pages(%q: tensor<?x?x4x64xf16>, %k: tensor<?x16x2x64xf16>, %v: tensor<?x16x2x32xf16>, %table: tensor<?x?xi32>,
                 %lengths: tensor<?xi32>) -> tensor<?x?x4x32xf16> {
  %o = attn.forward %q, %k, %v paged(%table : tensor<?x?xi32>) lengths(key = %lengths : tensor<?xi32>)
    : (tensor<?x?x4x64xf16>, tensor<?x16x2x64xf16>, tensor<?x16x2x32xf16>) -> tensor<?x?x4x32xf16>
  return %o : tensor<?x?x4x32xf16>
}

// CHECK-LABEL: func.func @pages_of_packed_queries(
// CHECK: attn.forward {{.*}} lengths(key = %{{[a-z0-9_]+}} : tensor<3xi32>) varlen(query = %{{[a-z0-9_]+}} : tensor<4xi32>) paged(%{{[a-z0-9_]+}} : tensor<3x8xi32>) : (tensor<?x4x64xf16>
func.func @pages_of_packed_queries(%q: tensor<?x4x64xf16>, %k: tensor<?x16x2x64xf16>, %v: tensor<?x16x2x64xf16>,
                                   %table: tensor<3x8xi32>, %offsets: tensor<4xi32>, %lengths: tensor<3xi32>)
    -> tensor<?x4x64xf16> {
  %o = attn.forward %q, %k, %v paged(%table : tensor<3x8xi32>) varlen(query = %offsets : tensor<4xi32>)
    lengths(key = %lengths : tensor<3xi32>)
    : (tensor<?x4x64xf16>, tensor<?x16x2x64xf16>, tensor<?x16x2x64xf16>) -> tensor<?x4x64xf16>
  return %o : tensor<?x4x64xf16>
}
