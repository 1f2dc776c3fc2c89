"""Calls with gradients that are known: two kernels, without the dispatcher of torch.

What `_ops` has for every call takes some 200 microseconds of Python for a layer. Where nothing is captured, tensors lie as
[B, S, H, D] or [B, H, S, D] and only autograd looks on, a call and its gradients are two functions of the module.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _core, _frameworks
from .._jit import kernel_of
from ._direct import is_plain
from ._ops import Call, as_line, backward_of, first_derivative, forward_of


class Plan(NamedTuple):
    """The kernels of a call and of its gradients, on one device."""

    forward: _core.Kernel
    backward: _core.Kernel
    #: The DLPack type and number of the device.
    device: tuple[int, int]
    call: Call


_plans: dict[Hashable, Plan] = {}
_MOST = 4096


def find_plan(key: Hashable, query: Tensor) -> Plan | None:
    """What was made before with such a key, on the device of the query."""
    try:
        plan = _plans.get(key)
    except TypeError:
        # Options that were never checked, a list say.
        return None
    return plan if plan is not None and plan.device == _frameworks.device_of(query) else None


def keep_plan(key: Hashable, query: Tensor, call: Call) -> Plan:
    """The kernels of a call, which are kept."""
    device = _frameworks.device_of(query)
    place = "cpu" if device[0] == _frameworks.CPU else f"cuda:{device[1]}"
    kernels = (kernel_of(text, backward).prepare(place) for text, backward in ((call.text, False), (call.backward_text, True)))
    plan = Plan(*kernels, device, call)
    if len(_plans) >= _MOST:
        _plans.clear()
    try:
        _plans[key] = plan
    except TypeError:
        pass
    return plan


class _Attention(torch.autograd.Function):
    """The output and the LSE of [B, S, H, D] tensors, or [B, H, S, D] where `heads_first`."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, plan: Plan, heads_first: bool
    ) -> tuple[Tensor, Tensor]:
        results = plan.forward.call((q, k, v), *plan.device, heads_first, True)
        if results is None:
            # Rows that lie apart, say.
            by_heads = _by_heads((q, k, v), heads_first)
            out, lse = forward_of(*by_heads, [], [], as_line(plan.call.text))
            results = *_by_heads((out,), heads_first), lse
        # The same as `_ops` saves: what is computed again, for checkpoints, may take the other way.
        ctx.save_for_backward(*_by_heads((q, k, v, results[0]), heads_first), results[1])
        ctx.set_materialize_grads(False)
        ctx.plan, ctx.heads_first = plan, heads_first
        return results  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, d_out: Tensor | None, d_lse: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        saved = ctx.saved_tensors
        return *first_derivative(_gradients, (d_out, d_lse, *saved), ctx.plan, ctx.heads_first), None, None


def _gradients(tensors: tuple[Any, ...], plan: Plan, heads_first: bool) -> tuple[Tensor, ...]:
    """Those of queries, keys and values, laid as `_Attention` has them. tensors: d_out so laid, d_lse, and what was saved."""
    d_out, d_lse, *by_heads, lse = tensors
    q, k, v, out = _by_heads(by_heads, heads_first)
    d_out = torch.zeros_like(out) if d_out is None else d_out
    d_lse = torch.zeros_like(lse) if d_lse is None else d_lse.contiguous()
    plain = is_plain(d_out, d_lse)
    if plain and not torch.are_deterministic_algorithms_enabled():
        d_out = d_out if d_out.stride(-1) == 1 else d_out.contiguous()
        results = plan.backward.call((q, k, v, out, lse, d_out, d_lse), *plan.device, heads_first, True)
        if results is not None:
            return results  # type: ignore[no-any-return]
    q, k, v, out = by_heads
    (d_out,) = _by_heads((d_out,), heads_first)
    backward = backward_of if plain else torch.ops.attnc.backward
    return _by_heads(backward(q, k, v, [], [], as_line(plan.call.backward_text), out, lse, d_out, d_lse, []), heads_first)


def _by_heads(tensors: Iterable[Tensor], heads_first: bool) -> tuple[Tensor, ...]:
    """Of [B, S, H, D] tensors [B, H, S, D], and back; tensors as they are where they are that."""
    return tuple(tensor if heads_first else tensor.transpose(1, 2) for tensor in tensors)


def attend_known(q: Tensor, k: Tensor, v: Tensor, plan: Plan, heads_first: bool) -> tuple[Tensor, Tensor]:
    """Attention of [B, S, H, D] tensors, or [B, H, S, D] where `heads_first`, with its gradients: the output and the LSE."""
    return _Attention.apply(q, k, v, plan, heads_first)  # type: ignore[no-any-return, no-untyped-call]
