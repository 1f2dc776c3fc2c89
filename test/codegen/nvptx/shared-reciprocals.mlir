// Elements of a row share the reciprocal in a soft cap's tanh where the LSE shows what it is off by, in tiles that no mask
// cuts: what stands at dropped keys may be NaN, and reaches nothing.

// RUN: attnc compile %s --target nvptx:sm_90a --entry causal --emit tile -o - | FileCheck %s --check-prefix=HOPPER
// RUN: attnc compile %s --target nvptx:sm_80 --entry causal --emit tile -o - | FileCheck %s --check-prefix=AMPERE
// RUN: attnc compile %s --target nvptx:sm_90a --entry full --emit ptx -o - | FileCheck %s --check-prefix=FULL
// RUN: attnc compile %s --target nvptx:sm_80 --entry full --emit ptx -o - | FileCheck %s --check-prefix=FULL

// HOPPER: scf.for {{.*}}iter_args
// HOPPER: math.tanh %{{[^ ]*}} {attn.error_of_one = 5.000000e+01 : f64} : f32
// HOPPER: tile.mask
// HOPPER: scf.for {{.*}}iter_args
// HOPPER: math.tanh %{{[^ ]*}} {attn.error_of_one = 5.000000e+01 : f64, tile.shared_reciprocal = 4 : i64} : f32
// HOPPER-NOT: tile.mask
// HOPPER: scf.yield

// AMPERE: scf.for {{.*}}iter_args
// AMPERE: math.tanh %{{[^ ]*}} {attn.error_of_one = 5.000000e+01 : f64, tile.shared_reciprocal = 4 : i64} : f32
// AMPERE-NOT: tile.mask
// AMPERE: scf.for {{.*}}iter_args
// AMPERE: math.tanh %{{[^ ]*}} {attn.error_of_one = 5.000000e+01 : f64} : f32
// AMPERE: tile.mask

// Divisors saturate, and one reciprocal serves four.
// FULL-LABEL: .entry full
// FULL-COUNT-4: cvt.sat.f32.f32
// FULL-NOT: cvt.sat.f32.f32
// FULL-NOT: ex2.approx
// FULL: rcp.approx.ftz.f32

!q = tensor<?x?x4x64xbf16>
!lse = tensor<?x4x?xf32>

func.func @causal(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}

func.func @full(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %o, %lse = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, 50.0
      attn.yield %x : f32
    }
    : (!q, !q, !q) -> (!q, !lse)
  return %o, %lse : !q, !lse
}
