// RUN: attnc-opt %s --attn-to-tile -split-input-file -verify-diagnostics

func.func @no_schedule(%q: tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32> {
  // expected-error@+1 {{expected a schedule; run attn-select-schedule first}}
  %o = attn.forward %q, %q, %q
    : (tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return %o : tensor<?x?x4x64xf32>
}
