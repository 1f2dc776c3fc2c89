"""Tensors and options that no function of attnc.torch takes: errors name them."""

import re

import numpy as np
import pytest
import torch
from torch_reference import DEVICE as DEVICE

import attnc
from attnc.torch import (
    _checks,
    create_block_mask,
    flash_attention,
    flash_attn_func,
    flash_attn_with_kvcache,
    flex_attention,
    varlen_attn,
)

q = torch.randn(1, 8, 2, 16)
offsets = torch.tensor([0, 8], dtype=torch.int32)
#: The function, the inputs that it is called with, and what it calls queries and keys.
SURFACES = {
    "flex_attention": (flex_attention, (q, q, q), ("query", "key")),
    "flash_attention": (flash_attention, (q, q, q), ("query", "key")),
    "flash_attn_func": (flash_attn_func, (q, q, q), ("q", "k")),
    "flash_attn_with_kvcache": (flash_attn_with_kvcache, (q, q, q), ("q", "k_cache")),
    "varlen_attn": (varlen_attn, (q[0], q[0], q[0], offsets, offsets), ("query", "key")),
    "jit": (attnc.jit(), (q, q, q), ("q", "k")),
}


@pytest.mark.parametrize("name", SURFACES)
def test_sparse_tensors(name):
    function, inputs, names = SURFACES[name]
    # A call of the same sizes that is known is none of sparse tensors.
    for _ in range(2):
        function(*inputs)
        for place, argument in enumerate(names):
            given = list(inputs)
            given[place] = given[place].to_sparse()
            with pytest.raises(attnc.Error, match=f"argument '{argument}': expected a dense tensor, got one of torch.sparse_coo"):
                function(*given)


@pytest.mark.parametrize("given", [None, [1.0], "q", np.zeros((1, 8, 2, 16), np.float32)], ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("name", [name for name in SURFACES if name != "jit"])
def test_what_is_no_tensor(name, given):
    function, inputs, names = SURFACES[name]
    for place, argument in enumerate(names):
        with pytest.raises(TypeError, match=f"argument '{argument}': expected a tensor, got {type(given).__name__}"):
            function(*inputs[:place], given, *inputs[place + 1 :])


@pytest.mark.parametrize("name", [name for name in SURFACES if name != "jit"])
def test_tensors_without_elements(name):
    function, inputs, names = SURFACES[name]
    with pytest.raises(attnc.Error, match=f"expected a tensor on meta, as '{names[0]}' is|as queries are"):
        function(inputs[0].to("meta"), *inputs[1:])


def test_captured_tensors_of_jit():
    def score(table):
        return lambda s, b, h, i, j: s + table[h]

    with pytest.raises(attnc.Error, match="argument 'table': expected a dense tensor, got one of torch.sparse_coo"):
        attnc.jit(score(torch.ones(2).to_sparse()))(q, q, q)
    with pytest.raises(attnc.Error, match="argument 'table': expected a tensor on the CPU or an NVIDIA GPU, got one on meta"):
        attnc.jit(score(torch.ones(2, device="meta")))(q, q, q)


def test_captured_tensors():
    table = torch.ones(2)
    assert _checks.captured("table", table, q) is table
    for given, message in (
        (table.to("meta"), f"expected a tensor on {q.device}, as queries are, got one on meta"),
        (table.to_sparse(), "expected a dense tensor, got one of torch.sparse_coo"),
        (table.tolist(), "expected a tensor of torch, got list"),
    ):
        with pytest.raises(attnc.Error, match=f"captured array 'table': {message}"):
            _checks.captured("table", given, q)


def test_captured_tensors_of_another_device():
    table = torch.ones(2, device="meta")
    query = q.transpose(1, 2)
    # A call whose tensor lies where queries do is none that is known of others.
    assert flex_attention(query, query, query, lambda s, b, h, i, j, table=torch.ones(2): s + table[h]).shape == query.shape
    with pytest.raises(attnc.Error, match=f"captured array 'table': expected a tensor on {q.device}, as queries are, got one on meta"):
        flex_attention(query, query, query, lambda s, b, h, i, j: s + table[h])


def test_precision_of_flash_attention():
    flash_attention(q, q, q, precision="high")
    with pytest.raises(attnc.Error, match="precision: expected a precision of JAX or its name, or two of them, got 123"):
        flash_attention(q, q, q, precision=123)


@pytest.mark.parametrize("value", [None, "high", "F32_F32_F32", ("default", "highest"), (None, None)], ids=str)
def test_precisions(value):
    _checks.precision(value)
    torch._dynamo.reset()
    compiled = torch.compile(lambda q: flash_attention(q, q, q, precision=value), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(q), flash_attention(q, q, q))


@pytest.mark.parametrize("value", [123, "nonsense", True, ("high",) * 3, ("high", 3), torch.float32, ()], ids=str)
def test_wrong_precisions(value):
    said = re.escape(_checks.said(value))
    with pytest.raises(attnc.Error, match=f"precision: expected a precision of JAX or its name, or two of them, got {said}"):
        _checks.precision(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(device="nowhere"), "device: expected a device of torch or None, got 'nowhere'"),
        (dict(device=0.5), "device: expected a device of torch or None, got 0.5"),
        (dict(_compile="yes"), "_compile: expected True or False, got 'yes'"),
        (dict(separate_full_blocks=None), "separate_full_blocks: expected True or False, got None"),
        (dict(dq_kv_order=torch.zeros(2)), "dq_kv_order: expected True or False, got a tensor"),
    ],
)
def test_options_of_block_masks(options, message):
    with pytest.raises(attnc.Error, match=message):
        create_block_mask(lambda b, h, i, j: i >= j, None, None, 8, 8, **options)


def test_devices_of_block_masks():
    for device in (None, "cuda", "cuda:3", "meta", torch.device("cpu")):
        assert create_block_mask(lambda b, h, i, j: i >= j, None, None, 8, 8, device=device).shape == (1, 1, 8, 8)


def test_precisions_of_jax():
    lax = pytest.importorskip("jax").lax
    for name in (*lax.DotAlgorithmPreset.__members__, "default", "fastest", "high", "highest", "bfloat16", "tensorfloat32"):
        _checks.precision(name)
    _checks.precision((lax.Precision.HIGH, lax.DotAlgorithmPreset.TF32_TF32_F32))
    with pytest.raises(attnc.Error, match="precision: expected"):
        _checks.precision(lax.conv_dimension_numbers)
