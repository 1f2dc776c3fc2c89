// RUN: attnc-opt %s --attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// Tiles, overlap and shared memory on sm_90a, from the larger head dim and the mask.
// What is measured and tuned, when the output is rescaled and where waits stand, is not repeated here.

module attributes {attn.target = #attn.gpu<arch = "sm_90a", ptx = 83, multiprocessors = 132, shared_bytes = 232448, registers = 65536, l2_bytes = 52428800, warpgroup_mma = true, tensor_copies = true>} {
  // Three consumers where the state of a row is small, but two for short sequences, whose last tiles are emptier the more
  // rows they have; queries have room for two.
  // CHECK-LABEL: func.func @d8(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>, #attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 32, consumer_registers = 160,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @d8(%q: tensor<?x?x4x8xbf16>, %k: tensor<?x?x4x8xbf16>, %v: tensor<?x?x4x8xbf16>) -> tensor<?x?x4x8xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>) -> tensor<?x?x4x8xbf16>
    return %o : tensor<?x?x4x8xbf16>
  }

  // With a mask, heads are worked on in sections whose keys and values fill three fifths of the L2 cache.
  // CHECK-LABEL: func.func @d8_masked(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 60>>, #attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 32, consumer_registers = 160,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 60>>)
  func.func @d8_masked(%q: tensor<?x?x4x8xbf16>, %k: tensor<?x?x4x8xbf16>, %v: tensor<?x?x4x8xbf16>) -> tensor<?x?x4x8xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>) -> tensor<?x?x4x8xbf16>
    return %o : tensor<?x?x4x8xbf16>
  }

  // f16 takes as much room as bf16. Its weights start lower, so that they may grow.
  // CHECK-LABEL: func.func @d40(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 6>>, #attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 32, consumer_registers = 160,{{.*}} epilogue = staged, dynamic = true, headroom = 6>>)
  func.func @d40(%q: tensor<?x?x4x40xf16>, %k: tensor<?x?x4x40xf16>, %v: tensor<?x?x4x40xf16>) -> tensor<?x?x4x40xf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x40xf16>, tensor<?x?x4x40xf16>, tensor<?x?x4x40xf16>) -> tensor<?x?x4x40xf16>
    return %o : tensor<?x?x4x40xf16>
  }

  // CHECK-LABEL: func.func @d64(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>, #attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 32, consumer_registers = 160,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @d64(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }

  // CHECK-LABEL: func.func @d64_masked(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 6>>, #attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 2, query_stages = 2, producer_registers = 32, consumer_registers = 160,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 6>>)
  func.func @d64_masked(%q: tensor<?x?x4x64xf16>, %k: tensor<?x?x4x64xf16>, %v: tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x4x64xf16>
    return %o : tensor<?x?x4x64xf16>
  }

  // Of what the type says, nothing is left open.
  // CHECK-LABEL: func.func @d64_short(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 2,{{[^#]*}}, headroom = 60>>)
  func.func @d64_short(%q: tensor<?x200x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x200x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x200x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x200x4x64xbf16>
    return %o : tensor<?x200x4x64xbf16>
  }

  // CHECK-LABEL: func.func @d64_long(
  // CHECK: schedule(#attn.schedule<query_tile = 192, key_tile = 128, panel = 64, pipeline = #attn.roles<consumers = 3,{{[^#]*}}, headroom = 60>>)
  func.func @d64_long(%q: tensor<?x16384x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x16384x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x16384x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x16384x4x64xbf16>
    return %o : tensor<?x16384x4x64xbf16>
  }

  // Tiles hold heads that share a key head where sequences are short: four of a group of twelve. One warpgroup computes
  // as long as its rows are enough for all queries.
  // CHECK-LABEL: func.func @d128_group(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, when = <queries = to 16>, heads = 4, pipeline = #attn.roles<consumers = 1,{{[^#]*}}>, split_blocks = 132>, #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = to 64>, heads = 4, pipeline = #attn.roles<consumers = 2,{{[^#]*}}, headroom = 60>>, #attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2,{{[^#]*}}, headroom = 60>>)
  func.func @d128_group(%q: tensor<?x?x24x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>) -> tensor<?x?x24x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x24x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x?x24x128xbf16>
    return %o : tensor<?x?x24x128xbf16>
  }

  // CHECK-LABEL: func.func @d128_one_query(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, heads = 4, pipeline = #attn.roles<consumers = 1,{{[^#]*}}>, split_blocks = 132>)
  func.func @d128_one_query(%q: tensor<?x1x8x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>) -> tensor<?x1x8x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x1x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x1x8x128xbf16>
    return %o : tensor<?x1x8x128xbf16>
  }

  // Not where the logits of each head are treated in a way of their own.
  // CHECK-LABEL: func.func @d128_group_slopes(
  // CHECK-NOT: heads =
  func.func @d128_group_slopes(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>, %slopes: tensor<8xf32>) -> tensor<?x?x8x128xbf16> {
    %o = attn.forward %q, %k, %v
      score (%s, %b, %h, %i, %j) {
        %x = attn.alibi %s, %slopes[%h], %i, %j : tensor<8xf32>
        attn.yield %x : f32
      }
      : (tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x?x8x128xbf16>
    return %o : tensor<?x?x8x128xbf16>
  }

  // CHECK-LABEL: func.func @d128_group_dropout(
  // CHECK-NOT: heads =
  func.func @d128_group_dropout(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>, %seed: i64) -> tensor<?x?x8x128xbf16> {
    %o = attn.forward %q, %k, %v dropout(0.5, %seed)
      : (tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>) -> tensor<?x?x8x128xbf16>
    return %o : tensor<?x?x8x128xbf16>
  }

  // Rows take whole panels of 64 elements: 72 is two of them.
  // CHECK-LABEL: func.func @d72(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @d72(%q: tensor<?x?x4x72xbf16>, %k: tensor<?x?x4x72xbf16>, %v: tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>, tensor<?x?x4x72xbf16>) -> tensor<?x?x4x72xbf16>
    return %o : tensor<?x?x4x72xbf16>
  }

  // CHECK-LABEL: func.func @d128(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @d128(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // Steps are shorter than a consumer's rows are many, so that each leaves out what the mask drops for its own.
  // CHECK-LABEL: func.func @d128_masked(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, when = <queries = to {{[0-9]+}}>, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} own_keys = true, ping_pong = true,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 6>>, #attn.schedule<query_tile = 192, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 3, stages = 4, query_stages = 1, producer_registers = 32, consumer_registers = 160,{{.*}} own_keys = true, ping_pong = true,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 6>>)
  func.func @d128_masked(%q: tensor<?x?x4x128xf16>, %k: tensor<?x?x4x128xf16>, %v: tensor<?x?x4x128xf16>) -> tensor<?x?x4x128xf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x128xf16>, tensor<?x?x4x128xf16>, tensor<?x?x4x128xf16>) -> tensor<?x?x4x128xf16>
    return %o : tensor<?x?x4x128xf16>
  }

  // Sequences with ends of their own are worked on like others, packed or padded.
  // CHECK-LABEL: func.func @packed(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @packed(%q: tensor<?x4x128xbf16>, %k: tensor<?x4x128xbf16>, %v: tensor<?x4x128xbf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>) -> tensor<?x4x128xbf16> {
    %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
      : (tensor<?x4x128xbf16>, tensor<?x4x128xbf16>, tensor<?x4x128xbf16>) -> tensor<?x4x128xbf16>
    return %o : tensor<?x4x128xbf16>
  }

  // Where the types say how many rows packed sequences have, only their mean's schedule is left: 36 / 8 rounded up is 5.
  // CHECK-LABEL: func.func @packed_known(
  // CHECK: schedule(#attn.schedule<query_tile = 64, key_tile = 64, panel = 64, heads = 4, pipeline = #attn.roles<consumers = 1,{{[^#]*}}>, split_blocks = 132>)
  func.func @packed_known(%q: tensor<36x8x128xbf16>, %k: tensor<?x2x128xbf16>, %v: tensor<?x2x128xbf16>, %qo: tensor<9xi32>, %ko: tensor<9xi32>) -> tensor<36x8x128xbf16> {
    %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<9xi32>, key = %ko : tensor<9xi32>)
      : (tensor<36x8x128xbf16>, tensor<?x2x128xbf16>, tensor<?x2x128xbf16>) -> tensor<36x8x128xbf16>
    return %o : tensor<36x8x128xbf16>
  }

  // Rows of all sequences say nothing of one.
  // CHECK-LABEL: func.func @packed_rows_known(
  // CHECK: schedule(#attn.schedule<{{[^>]*}}when = <queries = to 16>, heads = 4,
  // CHECK-SAME: when = <queries = to 64>, heads = 4,
  // CHECK-SAME: query_tile = 128, key_tile = 64, panel = 64, pipeline =
  func.func @packed_rows_known(%q: tensor<36x8x128xbf16>, %k: tensor<?x2x128xbf16>, %v: tensor<?x2x128xbf16>, %qo: tensor<?xi32>, %ko: tensor<?xi32>) -> tensor<36x8x128xbf16> {
    %o = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
      : (tensor<36x8x128xbf16>, tensor<?x2x128xbf16>, tensor<?x2x128xbf16>) -> tensor<36x8x128xbf16>
    return %o : tensor<36x8x128xbf16>
  }

  // CHECK-LABEL: func.func @lengths(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @lengths(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>, %kl: tensor<?xi32>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v lengths(key = %kl : tensor<?xi32>)
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // CHECK-LABEL: func.func @d136(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 60>>)
  func.func @d136(%q: tensor<?x?x4x136xbf16>, %k: tensor<?x?x4x136xbf16>, %v: tensor<?x?x4x136xbf16>) -> tensor<?x?x4x136xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x136xbf16>, tensor<?x?x4x136xbf16>, tensor<?x?x4x136xbf16>) -> tensor<?x?x4x136xbf16>
    return %o : tensor<?x?x4x136xbf16>
  }

  // CHECK-LABEL: func.func @d192(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 6>>)
  func.func @d192(%q: tensor<?x?x4x192xf16>, %k: tensor<?x?x4x192xf16>, %v: tensor<?x?x4x192xf16>) -> tensor<?x?x4x192xf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x192xf16>, tensor<?x?x4x192xf16>, tensor<?x?x4x192xf16>) -> tensor<?x?x4x192xf16>
    return %o : tensor<?x?x4x192xf16>
  }

  // The larger head dim counts.
  // CHECK-LABEL: func.func @mla(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, section_bytes = 31457280, headroom = 60>>)
  func.func @mla(%q: tensor<?x?x4x192xbf16>, %k: tensor<?x?x4x192xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x192xbf16>, tensor<?x?x4x192xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // CHECK-LABEL: func.func @narrow_keys(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 4, query_stages = 2, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = staged, dynamic = true, headroom = 60>>)
  func.func @narrow_keys(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // Above 192, how many keys a step has is a matter of registers; the whole output has no room beside them.
  // CHECK-LABEL: func.func @d200(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = {{[0-9]+}}, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = {{slabs|direct}}, dynamic = true, headroom = 60>>)
  func.func @d200(%q: tensor<?x?x4x200xbf16>, %k: tensor<?x?x4x200xbf16>, %v: tensor<?x?x4x200xbf16>) -> tensor<?x?x4x200xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x200xbf16>, tensor<?x?x4x200xbf16>, tensor<?x?x4x200xbf16>) -> tensor<?x?x4x200xbf16>
    return %o : tensor<?x?x4x200xbf16>
  }

  // The maxima of the steps before do for large head dims too, and the output leaves in slabs.
  // CHECK-LABEL: func.func @d256(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, rescaling = on_overflow, ping_pong = true, by_row = true, epilogue = slabs, dynamic = true, headroom = 60>>)
  func.func @d256(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16>
    return %o : tensor<?x?x4x256xbf16>
  }

  // CHECK-LABEL: func.func @d256_masked(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = {{[0-9]+}}, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240,{{.*}} epilogue = {{slabs|direct}}, dynamic = true, section_bytes = 31457280, headroom = 6>>)
  func.func @d256_masked(%q: tensor<?x?x4x256xf16>, %k: tensor<?x?x4x256xf16>, %v: tensor<?x?x4x256xf16>) -> tensor<?x?x4x256xf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x256xf16>, tensor<?x?x4x256xf16>, tensor<?x?x4x256xf16>) -> tensor<?x?x4x256xf16>
    return %o : tensor<?x?x4x256xf16>
  }

  // Weights have no values and no output tile.
  // Products of 256 take long enough for turns to be worth their while where functions bind, too.
  // CHECK-LABEL: func.func @d256_capped(
  // CHECK: own_keys = true, ping_pong = true
  func.func @d256_capped(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16> {
    %o = attn.forward %q, %k, %v
      score (%s, %b, %h, %i, %j) {
        %x = math.tanh %s : f32
        attn.yield %x : f32
      }
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16>
    return %o : tensor<?x?x4x256xbf16>
  }

  // Chunks are long stretches of keys, for which consumers take turns; windows are short ones.
  // CHECK-LABEL: func.func @chunks(
  // CHECK: own_keys = true, ping_pong = true
  func.func @chunks(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      bounds (%b, %h, %i_first, %i_last) {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %chunk = arith.constant 2048 : index
        %number = arith.floordivsi %i_first, %chunk : index
        %first = arith.muli %number, %chunk : index
        %low = arith.maxsi %first, %zero : index
        %high = arith.addi %i_last, %one : index
        attn.yield %low, %low, %i_first, %high : index, index, index, index
      }
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // CHECK-LABEL: func.func @windows(
  // CHECK: own_keys = true, by_row = true
  func.func @windows(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      mask (%b, %h, %i, %j) {
        %keep = attn.causal %i, %j
        attn.yield %keep : i1
      }
      bounds (%b, %h, %i_first, %i_last) {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %left = arith.constant 2047 : index
        %first = arith.subi %i_first, %left : index
        %low = arith.maxsi %first, %zero : index
        %high = arith.addi %i_last, %one : index
        attn.yield %low, %low, %i_first, %high : index, index, index, index
      }
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }

  // CHECK-LABEL: func.func @weights(
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = {{[0-9]+}}, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 2,{{.*}} dynamic = true>>)
  func.func @weights(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>) -> tensor<?x4x?x?xbf16> {
    %w = attn.weights %q, %k : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x4x?x?xbf16>
    return %w : tensor<?x4x?x?xbf16>
  }
}

// -----

// Where products have no instructions of warpgroups, warps have 32 rows, if registers hold them for two blocks a
// multiprocessor: in steps of 128 keys at a head dim of 64, of 64 at 128. Larger ones have two warpgroups a block.

module attributes {attn.target = #attn.gpu<arch = "sm_80", ptx = 71, multiprocessors = 108, shared_bytes = 166912, registers = 65536, l2_bytes = 41943040, warpgroup_mma = false, tensor_copies = false>} {
  // CHECK-LABEL: @d64
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 128, panel = 128, pipeline = #attn.warps<consumers = 1, stages = 1{{[,>]}}
  func.func @d64(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
    return %o : tensor<?x?x4x64xbf16>
  }
  // CHECK-LABEL: @d128
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 128, pipeline = #attn.warps<consumers = 1, stages = 1{{[,>]}}
  func.func @d128(%q: tensor<?x?x4x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> tensor<?x?x4x128xbf16>
    return %o : tensor<?x?x4x128xbf16>
  }
  // CHECK-LABEL: @d256
  // CHECK: schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 128, pipeline = #attn.warps<consumers = 2, stages = 1, weights_ahead = true>>)
  func.func @d256(%q: tensor<?x?x4x256xbf16>, %k: tensor<?x?x4x256xbf16>, %v: tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16> {
    %o = attn.forward %q, %k, %v
      : (tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>, tensor<?x?x4x256xbf16>) -> tensor<?x?x4x256xbf16>
    return %o : tensor<?x?x4x256xbf16>
  }
}
