// RUN: attnc compile %s --target nvptx:sm_90a --emit attn | FileCheck %s

// Under a window a tile of queries has few steps, and consumers take no turns.
// CHECK: schedule(
// CHECK-NOT: turns
// CHECK-SAME: own_keys = true, by_row = true
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
