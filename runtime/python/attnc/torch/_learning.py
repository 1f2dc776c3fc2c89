"""Calls with gradients that are known: two kernels, without the dispatcher of torch.

What `_ops` has for every call takes some 200 microseconds of Python for a layer. Where nothing is captured and only autograd
looks on, a call and its gradients are two functions of the module.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _core, _frameworks
from .._jit import kernel_of
from ._direct import Plans, is_plain
from ._ops import Call, as_line, backward_of, first_derivative, forward_of


class Plan(NamedTuple):
    """The kernels of a call and of its gradients, on one device."""

    forward: _core.Kernel
    backward: _core.Kernel
    #: The DLPack type and number of the device.
    device: tuple[int, int]
    call: Call


_plans = Plans()


def find_plan(key: Hashable, query: Tensor) -> Plan | None:
    """What was made before with such a key, on the device of the query."""
    plan: Plan | None = _plans.find(key)
    return plan if plan is not None and plan.device == _frameworks.device_of(query) else None


def keep_plan(key: Hashable, query: Tensor, call: Call) -> Plan:
    """The kernels of a call, which are kept."""
    device = _frameworks.device_of(query)
    place = _frameworks.place_of(device)
    kernels = (kernel_of(text, backward).prepare(place) for text, backward in ((call.text, False), (call.backward_text, True)))
    plan = Plan(*kernels, device, call)
    _plans.keep(key, plan)
    return plan


class _Attention(torch.autograd.Function):
    """The output and the LSE of [B, H, S, D] tensors. It saves what `_ops` saves: what is computed again, for a checkpoint,
    may take the other way."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        heads_first = lies_heads_first(q)
        results = plan.forward.call(as_they_lie((q, k, v), heads_first), *plan.device, heads_first, True)
        if results is None:
            # Rows that lie apart, say.
            out, lse = forward_of(q, k, v, [], [], as_line(plan.call.text))
        else:
            # Not as a view of something else: who has it may change it in place.
            out, lse = as_they_lie(results[:1], heads_first)[0].detach(), results[1]
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.set_materialize_grads(False)
        ctx.plan = plan
        return out, lse

    @staticmethod
    def backward(ctx: Any, d_out: Tensor | None, d_lse: Tensor | None) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        return *first_derivative(_gradients, (d_out, d_lse, *ctx.saved_tensors), ctx.plan), None


def _gradients(tensors: tuple[Any, ...], plan: Plan) -> Sequence[Tensor]:
    """Those of queries, keys and values. tensors: d_out, d_lse, and what `_Attention` saved."""
    d_out, d_lse, q, k, v, out, lse = tensors
    d_out = torch.zeros_like(out) if d_out is None else d_out
    d_lse = torch.zeros_like(lse) if d_lse is None else d_lse.contiguous()
    plain = is_plain(d_out, d_lse)
    if plain and not torch.are_deterministic_algorithms_enabled():
        d_out = d_out if d_out.stride(-1) == 1 else d_out.contiguous()
        heads_first = lies_heads_first(q)
        rows_q, rows_k, rows_v, rows_out, rows_d_out = as_they_lie((q, k, v, out, d_out), heads_first)
        inputs = rows_q, rows_k, rows_v, rows_out, lse, rows_d_out, d_lse
        results = plan.backward.call(inputs, *plan.device, heads_first, True)
        if results is not None:
            return as_they_lie(results, heads_first)
    backward = backward_of if plain else torch.ops.attnc.backward
    return backward(q, k, v, [], [], as_line(plan.call.backward_text), out, lse, d_out, d_lse, [])  # type: ignore[no-any-return]


def lies_heads_first(query: Tensor) -> bool:
    """Whether [B, H, S, D] tensors lie so, and not as [B, S, H, D]. Results lie as queries do."""
    return query.stride(1) >= query.stride(2)


def as_they_lie(tensors: Sequence[Tensor], heads_first: bool) -> tuple[Tensor, ...]:
    """Of [B, H, S, D] tensors [B, S, H, D], and back; tensors as they are where `heads_first`."""
    return tuple(tensor if heads_first else tensor.transpose(1, 2) for tensor in tensors)


def attend_known(q: Tensor, k: Tensor, v: Tensor, plan: Plan) -> tuple[Tensor, Tensor]:
    """Attention of [B, H, S, D] tensors, with its gradients: the output and the LSE."""
    return _Attention.apply(q, k, v, plan)  # type: ignore[no-any-return, no-untyped-call]
