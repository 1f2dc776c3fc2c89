// Columns of a captured tensor of i64 come in pairs, as other columns do.
// RUN: attnc compile %s --target nvrtc:sm_90a --emit cuda | FileCheck %s
// RUN: attnc compile %s --target nvrtc:sm_80 --emit cuda | FileCheck %s

// CHECK: ulonglong2
func.func @f(%q: tensor<?x?x4x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x64xbf16>, %t: tensor<?x?xi64>, %u: tensor<?x?xi64>) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %x = attn.load %t[%b, %j] : tensor<?x?xi64>
      %y = attn.load %u[%i, %j] : tensor<?x?xi64>
      %n = arith.cmpi ugt, %x, %y : i64
      attn.yield %n : i1
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
