// RUN: attnc-opt %S/roundtrip.mlir > %t.text
// RUN: attnc-opt %S/roundtrip.mlir --emit-bytecode -o %t.bc
// RUN: attnc-opt %t.bc > %t.back
// RUN: diff %t.text %t.back

// Bytecode says what the text says: every operation and clause of roundtrip.mlir. (examples.test does the same with the
// examples.)
