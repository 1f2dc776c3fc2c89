"""attnc.explain: texts and pictures of what the compiler decides."""

import numpy as np
import pytest

import attnc

TEXT = """
func.func @causal(%q: tensor<?x?x4x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x16xf32>) -> tensor<?x?x4x16xf32> {
  %o = attn.forward %q, %k, %v
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x4x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) -> tensor<?x?x4x16xf32>
  return %o : tensor<?x?x4x16xf32>
}
"""
SHAPE = "B=1,Sq=512,Sk=512"


def test_text():
    explanation = attnc.explain(TEXT, target="cpu")
    assert "mask     j ≤ i" in str(explanation) and "expected B=…,Sq=…,Sk=… in the shape" in explanation.text
    assert explanation.svg is None
    assert explanation._repr_html_().startswith("<pre>spec     @causal") and "<svg" not in explanation._repr_html_()


def test_sizes():
    explanation = attnc.explain(TEXT, target="cpu", shape=SHAPE)
    assert "tiles    B=1, Sq=512, Sk=512" in explanation.text
    assert explanation.svg is not None and explanation.svg.startswith("<svg")
    assert explanation._repr_html_().endswith(explanation.svg)


def test_gpus_need_not_be_here():
    text = attnc.explain(TEXT, target="nvptx:sm_90a", backward=True).text
    assert "target nvptx:sm_90a" in text and "kernel   attn.backward" in text


def test_kernels():
    kernel = attnc.compile(TEXT, "cpu", schedule="#attn.schedule<query_tile = 32, key_tile = 8, panel = 16>")
    assert "schedule query tile 32, key tile 8" in attnc.explain(kernel).text
    assert attnc.explain(kernel, shape=SHAPE).text.splitlines()[:4] == kernel.explain(shape=SHAPE).text.splitlines()[:4]


def test_traced_functions():
    bias, scale = np.zeros((1, 40), np.float32), np.float32(2)
    attention = attnc.jit(lambda score, b, h, i, j: score * scale + bias[h * 0, j], lambda b, h, i, j: i >= j)
    q = np.zeros((2, 30, 4, 16), np.float32)
    k = np.zeros((2, 40, 4, 16), np.float32)
    explanation = attnc.explain(attention, q, k, k)
    assert "bias[" in explanation.text and "tiles    B=2, Sq=30, Sk=40" in explanation.text
    assert "target cpu" in explanation.text
    assert "kernel   attn.backward" in attnc.explain(attention, q, k, k, backward=True).text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attnc.explain(3), "what: expected the text of a spec, a kernel or what jit returns, got int"),
        (lambda: attnc.explain(attnc.jit()), "inputs: expected queries, keys and values, got 0"),
        (lambda: attnc.explain(TEXT, np.zeros(1)), "inputs: expected none with a spec or a kernel, got 1; shape= gives sizes"),
        (lambda: attnc.explain(attnc.jit(), entry="f"), "entry and schedule: expected neither, since only the text of a spec"),
        (lambda: attnc.explain(attnc.compile(TEXT), backward=True), "backward: expected False, since a kernel is of one kind"),
        (lambda: attnc.explain(TEXT, shape="B=1,Sq=1,Sk=-1"), "expected NAME=SIZE"),
        (lambda: attnc.explain(TEXT, target="cpu", shape="B=1,Sq=1,Sx=1"), "unknown size 'Sx'; this spec has B, Sq, Sk"),
        (lambda: attnc.explain(TEXT + "nonsense"), "spec:11"),
        (lambda: attnc.explain(TEXT, entry="other"), "other"),
        (lambda: attnc.explain(TEXT, shape=3), "shape: expected a text, got int"),
        (lambda: attnc.explain(attnc.jit(), *[np.zeros((1, 2, 1, 8), np.float32)] * 3, target=3), "target: expected a text, got int"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises((attnc.Error, TypeError)) as caught:
        call()
    assert message in str(caught.value)
