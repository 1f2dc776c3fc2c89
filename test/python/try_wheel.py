"""Computes causal attention by an installed wheel, and holds it against plain numpy. `tools/dev wheel` runs it."""

import sys
import time

start = time.perf_counter()
import attnc  # noqa: E402

seconds = time.perf_counter() - start
assert not {"numpy", "torch", "jax"} & set(sys.modules), "importing attnc imports a framework"

import numpy as np  # noqa: E402

SPEC = """
func.func @causal(%q: tensor<?x?x4x16xf32> {attn.name = "q"}, %k: tensor<?x?x2x16xf32> {attn.name = "k"},
                  %v: tensor<?x?x2x16xf32> {attn.name = "v"}) -> (tensor<?x?x4x16xf32> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}
"""

random = np.random.default_rng(0)
q = random.standard_normal((2, 33, 4, 16), dtype=np.float32)
k, v = random.standard_normal((2, 2, 45, 2, 16), dtype=np.float32)
out = attnc.compile(SPEC, "cpu")(q, k, v)

logits = np.einsum("bihd,bjhd->bhij", q, k.repeat(2, axis=2)) / 4
logits = np.where(np.arange(45) <= np.arange(33)[:, None] + 12, logits, -np.inf)
weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
expected = np.einsum("bhij,bjhd->bihd", weights, v.repeat(2, axis=2))
error = float(abs(out - expected).max())
assert error < 1e-5, error
print(f"attnc {attnc.__version__}: imported in {seconds * 1000:.0f} ms, off by {error:.1e}")
