// Captured tensors on a GPU. Where a thread's columns are all there and lie next to each other, one load brings two of
// them; else a loop reads one at a time, and only what is there. A block mask loads 16 booleans at a time.

// RUN: attnc compile %s --target nvptx:sm_90a --entry bias --emit ptx -o - | FileCheck %s --check-prefix=BIAS
// RUN: attnc compile %s --target nvptx:sm_90a --entry dense --emit ptx -o - | FileCheck %s --check-prefix=DENSE

// BIAS: .visible .entry bias_tile_without_boxes
// BIAS-COUNT-16: ld.global.b32
// BIAS: @%p{{[0-9]+}} ld.global.b16

// DENSE: .visible .entry dense_block_mask
// DENSE-COUNT-4: ld.global.v4.b32
// DENSE: .visible .entry dense_tile
// DENSE-COUNT-16: ld.global.b16
// DENSE: @%p{{[0-9]+}} ld.global.u8

func.func @bias(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>,
                %bias: tensor<?x16x?x?xbf16>) -> tensor<?x?x16x128xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x16x?x?xbf16>
      attn.yield %x : f32
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> tensor<?x?x16x128xbf16>
  return %o : tensor<?x?x16x128xbf16>
}

func.func @dense(%q: tensor<?x?x16x128xbf16>, %k: tensor<?x?x16x128xbf16>, %v: tensor<?x?x16x128xbf16>,
                 %mask: tensor<?x1x?x?xi1>) -> tensor<?x?x16x128xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.load %mask[%b, %h, %i, %j] : tensor<?x1x?x?xi1>
      attn.yield %keep : i1
    }
    : (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>) -> tensor<?x?x16x128xbf16>
  return %o : tensor<?x?x16x128xbf16>
}
