// Comments tell the line of each operation of a mask: where a list of tiles is made of it (LIST), in the bounds of keys
// (BOUNDS), and where words of bits decide about many elements at once (BITS). The kernel's own statements follow.
// RUN: attnc compile %s --target nvrtc:sm_90a --entry gap --emit cuda -o %t.cu
// RUN: FileCheck %s --input-file=%t.cu --check-prefixes=LIST,BITS
// RUN: attnc compile %s --target nvrtc:sm_90a --entry stretch --emit cuda | FileCheck %s --check-prefix=BOUNDS

// LIST-LABEL: gap_block_mask_entry(
// LIST: // lines.mlir:[[#@LINE+13]]
// LIST-NEXT: < i32(64u)
// LIST: // lines.mlir:[[#@LINE+21]]
// LIST-NEXT: < i32(1024u)
// BITS-LABEL: gap_tile_entry(
func.func @gap(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x8x64xbf16> {attn.name = "k"},
               %v: tensor<?x?x8x64xbf16> {attn.name = "v"}) -> (tensor<?x?x8x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c64 = arith.constant 64 : index
      %c1024 = arith.constant 1024 : index
      %distance = arith.subi %i, %j : index
      // BITS: // lines.mlir:[[#@LINE-1]]
      %first = arith.cmpi slt, %j, %c64 : index
      // BITS: // lines.mlir:[[#@LINE-1]]
      // BITS-NEXT: u32(-64)
      %recent = arith.cmpi slt, %distance, %c1024 : index
      // BITS: // lines.mlir:[[#@LINE-1]]
      // BITS: 1023u
      %near = arith.ori %first, %recent : i1
      // BITS: // lines.mlir:[[#@LINE-1]]
      %past = arith.cmpi sle, %j, %i : index
      // BITS: // lines.mlir:[[#@LINE-1]]
      %keep = arith.andi %near, %past : i1
      // BITS: // lines.mlir:[[#@LINE-1]]
      // BITS: // lines.mlir:[[#@LINE-18]]
      // BITS-NEXT: tile{{[0-9]*}}[0]
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}

// BOUNDS-LABEL: __global__ void
func.func @stretch(%q: tensor<?x?x8x64xbf16> {attn.name = "q"}, %k: tensor<?x?x8x64xbf16> {attn.name = "k"},
                   %v: tensor<?x?x8x64xbf16> {attn.name = "v"}) -> (tensor<?x?x8x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %c300 = arith.constant 300 : index
      %start = arith.subi %i, %c300 : index
      %keep = arith.cmpi sgt, %j, %start : index
      // BOUNDS: // lines.mlir:[[#@LINE-1]]
      // BOUNDS-NEXT: 299
      attn.yield %keep : i1
    }
    : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xbf16>
  return %o : tensor<?x?x8x64xbf16>
}
