// Arguments may be called what the printer calls values, a function or a word of the language: no variable hides another.
// (Variables of a block hid arguments of their name, and kernels were wrong without a word.)
// RUN: attnc compile %s --target nvrtc:sm_80 --emit cuda | FileCheck %s
// RUN: attnc compile %s --target nvrtc:sm_80 --emit cuda | %python %S/find_hidden_names.py

// CHECK: __global__ void
// CHECK-DAG: {{.*}} x1 = {{.*}}arguments.word
// CHECK-DAG: {{.*}} smax2 = {{.*}}arguments.word
// CHECK-DAG: {{.*}} while2 = {{.*}}arguments.word
// CHECK-DAG: {{.*}} _2nd = {{.*}}arguments.word
func.func @f(%q: tensor<?x?x4x64xbf16> {attn.name = "q"}, %k: tensor<?x?x4x64xbf16> {attn.name = "lane"},
             %v: tensor<?x?x4x64xbf16> {attn.name = "i1"}, %a: f32 {attn.name = "x1"}, %b: f32 {attn.name = "smax"},
             %c: f32 {attn.name = "while"}, %d: f32 {attn.name = "2nd"}) -> tensor<?x?x4x64xbf16> {
  %o = attn.forward %q, %k, %v
    score (%s, %bi, %h, %i, %j) {
      %n = arith.index_cast %j : index to i32
      %m = arith.sitofp %n : i32 to f32
      %x = arith.mulf %m, %a : f32
      %y = arith.subf %s, %x : f32
      %z = arith.mulf %y, %b : f32
      %w = arith.maximumf %z, %c : f32
      %t = arith.addf %w, %d : f32
      attn.yield %t : f32
    }
    : (tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x64xbf16>) -> tensor<?x?x4x64xbf16>
  return %o : tensor<?x?x4x64xbf16>
}
