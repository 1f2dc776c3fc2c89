// Sizes of the type: loops over queries have constant bounds, and their last step is written out after the others. It takes
// its tiles when the step before has given its own back.
// RUN: attnc verify %s --backward --target sim:sm_90a --shape B=1,Sk=5 | FileCheck %s
// CHECK: d_q {{.*}} right
// CHECK: d_k {{.*}} right
// CHECK: d_v {{.*}} right
func.func @static_queries(%q: tensor<?x65x2x64xbf16> {attn.name = "q"}, %k: tensor<?x?x1x64xbf16> {attn.name = "k"},
                          %v: tensor<?x?x1x64xbf16> {attn.name = "v"}) -> (tensor<?x65x2x64xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    : (tensor<?x65x2x64xbf16>, tensor<?x?x1x64xbf16>, tensor<?x?x1x64xbf16>) -> tensor<?x65x2x64xbf16>
  return %o : tensor<?x65x2x64xbf16>
}
