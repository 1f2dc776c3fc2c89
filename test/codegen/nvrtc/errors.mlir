// RUN: attnc-opt %s --nvrtc-print -split-input-file -verify-diagnostics -o /dev/null

llvm.func @kernel() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %x = arith.constant 1.0 : f32
  // expected-error @+1 {{'math.erf' op has no form in CUDA C++}}
  %y = math.erf %x : f32
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.func' op is not a kernel whose threads are counted, which is all that CUDA C++ is made of}}
llvm.func @function() {
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.func' op has a '$' in its name, which NVRTC does not take}}
llvm.func @a$b() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}

// -----

llvm.func @kernel(%n: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  // expected-error @+1 {{'arith.trunci' op has no form in CUDA C++}}
  %y = arith.trunci %n : i64 to i24
  llvm.return
}
