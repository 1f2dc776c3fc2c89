// RUN: attnc compile %s --target nvptx:sm_90a --emit attn | FileCheck %s

// Under a window a tile of queries has few steps, and consumers take no turns. Three of them have the next tile's queries
// in advance, and less room for their output.
// CHECK: schedule(
// CHECK-NOT: turns
// CHECK-SAME: query_tile = 128, key_tile = 64, panel = 64, when = <queries = to 2048>, {{.*}}stages = 4, query_stages = 2,
// CHECK-SAME: own_keys = true, by_row = true, epilogue = staged
// CHECK-SAME: query_tile = 192, key_tile = 64, panel = 64, {{.*}}stages = 3, query_stages = 2,
// CHECK-SAME: own_keys = true, by_row = true, epilogue = slabs
// CHECK-NOT: turns

!t = tensor<?x?x4x128xf16>

func.func @window(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(1024) right(0)
      attn.yield %keep : i1
    }
    : (!t, !t, !t) -> !t
  return %o : !t
}
