"""Kernels as operators of torch: `attnc::forward` and `attnc::backward`.

Tensors are [B, H, S, D], or [T, H, D] of packed sequences; `captured` and `numbers` are what the spec takes after queries,
keys and values, and `spec` is its text on one line (`as_line`). The operators are defined, not wrapped in torch.library.custom_op, which costs several microseconds more in
each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from .._frameworks import READ_AS, dtype_name
from .._jit import facts_of, kernel_of
from .._trace.capture import Caller, WantsGradient
from .._trace.spec import DETERMINISTIC, Facts, Traced, deterministic, trace
from ._direct import is_plain
from ._tf32 import rounds

# Results lie as queries do: a compiler that lays queries out differently has to know.
_TAGS = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
_library = torch.library.Library("attnc", "DEF")
_inputs = "Tensor q, Tensor k, Tensor v, Tensor[] captured, SymInt[] numbers, str spec"
_library.define(f"forward({_inputs}) -> (Tensor, Tensor)", tags=_TAGS)
_library.define(
    # `spec` is that of gradients, and `others` says which of the captured tensors have one, in its order: their places.
    f"backward({_inputs}, Tensor out, Tensor lse, Tensor d_out, Tensor d_lse, int[] others) -> Tensor[]",
    tags=_TAGS,
)


def as_line(text: str) -> str:
    """A spec as the operators take it. Inductor writes what an operator takes into comments, which end with their line."""
    return text.replace("\n", "\t")


def _from_line(spec: str) -> str:
    return spec.replace("\t", "\n")


def laid_like(tensor: Tensor, last: int | None = None) -> Tensor:
    """A tensor for results, its dimensions in the order in which those of `tensor` lie in memory, but the last one last."""
    last = tensor.shape[-1] if last is None else last
    if tensor.dim() == 3:
        return tensor.new_empty((*tensor.shape[:2], last))
    batch, heads, rows, _ = tensor.shape
    if tensor.stride(1) < tensor.stride(2):
        return tensor.new_empty((batch, rows, heads, last)).transpose(1, 2)
    return tensor.new_empty((batch, heads, rows, last))


def _rows(tensor: Tensor) -> Tensor:
    """As kernels take it: [B, S, H, D] or [T, H, D], with elements of a row side by side."""
    tensor = tensor if tensor.stride(-1) == 1 else tensor.contiguous()
    return tensor.transpose(1, 2) if tensor.dim() == 4 else tensor


def padded(tensor: Tensor) -> Tensor:
    """With a head dim that kernels have, a multiple of 8: zeros add nothing to products."""
    rest = -tensor.shape[-1] % 8
    return functional.pad(tensor, (0, rest)) if rest else tensor


def _values(q: Tensor, k: Tensor, v: Tensor, captured: list[Tensor], numbers: list[int]) -> tuple[Any, ...]:
    return _rows(q), _rows(k), _rows(v), *(_with_dimension(tensor) for tensor in captured), *numbers


def _with_dimension(tensor: Tensor) -> Tensor:
    """As kernels take captured tensors: one without dimensions is one of one element."""
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


#: The launch of a kernel, by the text of its spec, whether it is of gradients, and the device.
_launches: dict[tuple[str, bool, torch.device], Any] = {}
_MOST = 4096


def _launch(spec: str, backward: bool, values: tuple[Any, ...], results: tuple[Tensor, ...]) -> None:
    device = values[0].device
    launch = _launches.get((spec, backward, device))
    if launch is None:
        launch = _prepare(spec, backward, device)
    launch((*values, *results))


def _prepare(spec: str, backward: bool, device: torch.device) -> Any:
    """The launch of a kernel that did not run yet."""
    place = "cpu" if device.type == "cpu" else f"cuda:{device.index or 0}"
    launch = kernel_of(_from_line(spec), backward).prepare(place).launch
    if len(_launches) >= _MOST:
        _launches.clear()
    _launches[spec, backward, device] = launch
    return launch


def forward_of(
    q: Tensor, k: Tensor, v: Tensor, captured: list[Tensor], numbers: list[int], spec: str
) -> tuple[Tensor, Tensor]:
    """The operator `attnc::forward`."""
    out, lse = _forward_results(q, k, v, captured, numbers, spec)
    _launch(spec, False, _values(q, k, v, captured, numbers), (_rows(out), lse))
    return out, lse


def _forward_results(
    q: Tensor, k: Tensor, v: Tensor, captured: list[Tensor], numbers: list[int], spec: str
) -> tuple[Tensor, Tensor]:
    sizes = q.shape[:3] if q.dim() == 4 else (q.shape[1], q.shape[0])
    return laid_like(q, v.shape[-1]), q.new_empty(sizes, dtype=torch.float32)


def backward_of(
    q: Tensor, k: Tensor, v: Tensor, captured: list[Tensor], numbers: list[int], spec: str,
    out: Tensor, lse: Tensor, d_out: Tensor, d_lse: Tensor, others: list[int],
) -> list[Tensor]:  # fmt: skip
    """The operator `attnc::backward`."""
    results = _backward_results(q, k, v, captured, numbers, spec, out, lse, d_out, d_lse, others)
    if torch.are_deterministic_algorithms_enabled() and DETERMINISTIC not in spec:
        spec = as_line(deterministic(_from_line(spec)))
    saved = _rows(out), lse, _rows(d_out), d_lse
    written = (*(_rows(result) for result in results[:3]), *(_with_dimension(result) for result in results[3:]))
    _launch(spec, True, (*_values(q, k, v, captured, numbers), *saved), written)
    return results


def _backward_results(q: Tensor, k: Tensor, v: Tensor, captured: list[Tensor], *given: Any) -> list[Tensor]:
    learned = (captured[place] for place in given[-1])
    return [laid_like(q), laid_like(k), laid_like(v), *(tensor.new_empty(tensor.shape) for tensor in learned)]


for _device in ("CPU", "CUDA"):
    _library.impl("forward", forward_of, _device)
    _library.impl("backward", backward_of, _device)
torch.library.register_fake("attnc::forward", _forward_results, lib=_library)
torch.library.register_fake("attnc::backward", _backward_results, lib=_library)


class _Attention(torch.autograd.Function):
    """Forward, and the gradients of queries, keys, values and some of the captured tensors."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, specs: tuple[str, str], numbers: list[int], others: list[int],
        *captured: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        # Where nobody else has to see the operators, they are called without torch's dispatcher.
        forward = forward_of if is_plain(q, k, v, *captured) else torch.ops.attnc.forward
        out, lse = forward(q, k, v, list(captured), numbers, specs[0])
        ctx.save_for_backward(q, k, v, out, lse, *captured)
        ctx.spec, ctx.numbers, ctx.others = specs[1], numbers, others
        return out, lse

    @staticmethod
    def backward(ctx: Any, d_out: Tensor, d_lse: Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        saved = ctx.saved_tensors
        found = first_derivative(_gradients, (d_out, d_lse, *saved), ctx.spec, ctx.numbers, ctx.others)
        gradients: list[Tensor | None] = [None] * (len(saved) - 5)
        for place, gradient in zip(ctx.others, found[3:], strict=True):
            gradients[place] = gradient
        return (*found[:3], None, None, None, *gradients)


def _gradients(tensors: tuple[Tensor, ...], spec: str, numbers: list[int], others: list[int]) -> list[Tensor]:
    """Those of queries, keys, values and some captured tensors. tensors: d_out, d_lse, and what `_Attention` saved."""
    d_out, d_lse, q, k, v, out, lse, *captured = tensors
    backward = backward_of if is_plain(q, k, v, *captured, d_out, d_lse) else torch.ops.attnc.backward
    return backward(q, k, v, captured, numbers, spec, out, lse, d_out, d_lse.contiguous(), others)  # type: ignore[no-any-return]


class _FirstDerivative(torch.autograd.Function):
    """Gradients that depend on others, as autograd is told, which have no gradients of their own."""

    @staticmethod
    def forward(ctx: Any, gradients: Sequence[Tensor], *others: Tensor | None) -> tuple[Tensor, ...]:  # type: ignore[override]
        return tuple(gradient.view_as(gradient) for gradient in gradients)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Any:  # type: ignore[override]
        raise RuntimeError("attnc: gradients of attention have no gradients of their own")


def first_derivative(gradients: Callable[..., Sequence[Tensor]], tensors: tuple[Tensor | None, ...], *others: Any) -> Any:
    """What `gradients(tensors, *others)` returns; where a graph is made of it, one that cannot be differentiated, and says so."""
    if not torch.is_grad_enabled():
        return gradients(tensors, *others)
    with torch.no_grad():
        found = gradients(tensors, *others)
    return _FirstDerivative.apply(found, *tensors)  # type: ignore[no-untyped-call]


def facts_of_tensors(query: Tensor, key: Tensor, value: Tensor, scale: Any) -> Facts:
    """What is compiled in of [B, H, S, D] tensors."""
    query_shape, key_shape, value_shape = (
        (shape[0], shape[2], shape[1], shape[3]) for shape in (query.shape, key.shape, value.shape)
    )
    dtypes = (dtype_name(query), dtype_name(key), dtype_name(value))
    return facts_of((query_shape, key_shape, value_shape), dtypes, scale, "top_left", rounds(query))


def trace_call(query: Tensor, key: Tensor, value: Tensor, score_mod: Any, mask_mod: Any, scale: Any) -> Traced:
    """The spec of [B, H, S, D] tensors with a score and a mask function."""
    sizes = query.shape[0], query.shape[2], key.shape[2]
    facts = facts_of_tensors(query, key, value, scale)
    return trace(facts, score_mod, mask_mod, sizes, wants_gradient(), caller_of(query, key))


def caller_of(query: Tensor, key: Tensor) -> Caller:
    """What traced functions have to know of a call: scores are those of the queries and the keys."""
    return Caller("torch", torch.is_grad_enabled() and (query.requires_grad or key.requires_grad))


def _is_learned(array: Any) -> bool:
    return isinstance(array, Tensor) and array.requires_grad


def wants_gradient() -> WantsGradient | None:
    """Which captured tensors are learned; None where gradients are off."""
    return _is_learned if torch.is_grad_enabled() else None


class Call(NamedTuple):
    """The texts of the kernels of a call and of its gradients, and what they take after queries, keys and values."""

    text: str
    backward_text: str
    names: tuple[str, ...]
    captured: tuple[Tensor, ...]
    numbers: tuple[int, ...]
    #: The captured tensors that the kernel of gradients has results for.
    differentiated: tuple[str, ...]

    def with_captured(self, name: str, tensor: Tensor) -> Call:
        """The same with another tensor of the same kind."""
        captured = tuple(tensor if own == name else given for own, given in zip(self.names, self.captured, strict=True))
        return self._replace(captured=captured)


_READ_AS = {getattr(torch, name): getattr(torch, read) for name, read in READ_AS.items()}


def as_read(tensor: Tensor) -> Tensor:
    """A captured tensor of a type that kernels have. Gradients go back to its own."""
    kind = _READ_AS.get(tensor.dtype)
    return tensor if kind is None else tensor.to(kind)


def call_of(traced: Traced, captured: tuple[Tensor, ...] | None = None) -> Call:
    """A call with what functions captured, or with other tensors in its place."""
    captured = traced.arrays if captured is None else captured
    parts = zip(captured, traced.chosen, traced.passed, strict=True)
    captured = tuple(_part(tensor, chosen, passed) for tensor, chosen, passed in parts)
    return Call(traced.text, traced.backward_text, traced.names, captured, traced.numbers, traced.differentiated)


def _part(tensor: Tensor, chosen: dict[int, int], passed: tuple[int, ...] | None) -> Tensor:
    """What a kernel sees of a captured tensor: a view or a copy, through which the gradient finds its place."""
    for dim in sorted(chosen, reverse=True):
        tensor = tensor.select(dim, chosen[dim])
    for dim, size in enumerate(passed or ()):
        tensor = tensor.narrow(dim, 0, size)
    return as_read(tensor)


def _all_different(tensors: list[Tensor]) -> list[Tensor]:
    """The same tensors, of which none is there twice: Dynamo does not trace functions of autograd that are given one twice,
    as lengths of queries and keys often are."""
    found: list[Tensor] = []
    for tensor in tensors:
        found.append(tensor.view_as(tensor) if any(tensor is other for other in found) else tensor)
    return found


def attend(q: Tensor, k: Tensor, v: Tensor, call: Call) -> tuple[Tensor, Tensor]:
    """Attention, with gradients where they are wanted."""
    captured, numbers = list(call.captured), list(call.numbers)
    spec = as_line(call.text)
    if torch.autograd.forward_ad._current_level >= 0:
        # Forward mode: an operator would drop the tangents, and the function of autograd says that there are none.
        return _Attention.apply(q, k, v, (spec, spec), numbers, [], *captured)  # type: ignore[no-any-return, no-untyped-call]
    if torch.is_grad_enabled():
        others = [call.names.index(name) for name in call.differentiated]
        if q.requires_grad or k.requires_grad or v.requires_grad or any(captured[place].requires_grad for place in others):
            specs = spec, as_line(call.backward_text)
            if specs[1] != spec and not torch.compiler.is_dynamo_compiling():
                # What has no gradient is refused here, where the functions are, and not when gradients are computed.
                if q.device.type in ("cpu", "cuda") and (specs[1], True, q.device) not in _launches:
                    _prepare(specs[1], True, q.device)
            if torch.compiler.is_dynamo_compiling():
                q, k, v, *captured = _all_different([q, k, v, *captured])
            return _Attention.apply(q, k, v, specs, numbers, others, *captured)  # type: ignore[no-any-return, no-untyped-call]
    return torch.ops.attnc.forward(q, k, v, captured, numbers, spec)  # type: ignore[no-any-return]
