"""flex_attention, with the signature of torch's."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import AuxOutput, AuxRequest, FlexKernelOptions

from .._core import Error
from .._mods import MaskMod, ScoreMod, times
from .._remarks import warn_once
from .._trace.spec import Traced
from . import _checks
from ._block_mask import mask_mod_of
from ._calls import fixed
from ._direct import are_flags, are_numbers, is_plain, remember, run
from ._dtensor import has_dtensor, on_mesh
from ._learning import as_they_lie, attend_known, find_plan, keep_plan, lies_heads_first
from ._ops import as_read, attend, call_of, padded, trace_call
from ._tf32 import rounds

try:
    from ._compiled import compiled_attention
except ImportError:
    # torch keeps what that stands on to itself: without it, a compiled program calls what others call, between two graphs.
    def compiled_attention(
        query: Tensor, key: Tensor, value: Tensor, score_mod: Any, mask_mod: Any, scale: float | None
    ) -> tuple[Tensor, Tensor]:
        call = torch.compiler.disable(_attention)
        return call(query, key, value, score_mod, mask_mod, scale)  # type: ignore[no-any-return]

#: What torch's kernels are told, with and without `fwd_` and `bwd_`. Nothing of it means anything here.
_KERNEL_OPTIONS = {
    "BACKEND", "BLOCKS_ARE_CONTIGUOUS", "BLOCK_M", "BLOCK_M1", "BLOCK_M2", "BLOCK_N", "BLOCK_N1", "BLOCK_N2",
    "FLOAT32_PRECISION", "FORCE_USE_FLEX_ATTENTION", "INT64_INDEXING", "IS_DIVISIBLE", "OUTPUT_LOGSUMEXP", "OUTPUT_MAX",
    "PRESCALE_QK", "ROWS_GUARANTEED_SAFE", "SPARSE_KV_BLOCK_SIZE", "SPARSE_Q_BLOCK_SIZE", "SPLIT_KV", "USE_TMA",
    "WRITE_DQ", "kpack", "matrix_instr_nonkdim", "num_buffers_warp_spec", "num_consumer_groups", "num_stages",
    "num_warps", "waves_per_eu", *FlexKernelOptions.__annotations__,
}  # fmt: skip
#: What scores are multiplied by so that their LSE is their maximum: all others of n keys add no more than log(n) / 2^30.
_APART = 2.0**30
_LARGE = 2.0**60
#: The dimensions of queries, keys and values: see `on_mesh`.
_LAYOUTS = ("bhid", "bgjd", "bgje")


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: Any = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention of [B, H, S, D] tensors with a score and a mask function; torch.nn.attention.flex_attention's signature.

    block_mask: one of attnc or of torch. Of create_block_mask the function counts; of BlockMask.from_kv_blocks the blocks, and
    mask_mod in those that are not full.
    Numbers that the functions read are compiled in, tensors are data, and have gradients where they require grad.
    kernel_options: torch's are accepted, and mean nothing here. Returns the output, [B, Hq, Sq, Dv]; with return_lse a tuple
    with the LSE, [B, Hq, Sq], a natural logarithm; with return_aux a tuple with torch's AuxOutput.
    """
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        for name, given in (("query", query), ("key", key), ("value", value)):
            _checks.tensor(name, given)
    # Of tensors without elements autocast knows nothing.
    if query.device.type != "meta" and torch.is_autocast_enabled(query.device.type):
        query, key, value = (_cast(tensor) for tensor in (query, key, value))
    # What was computed before with tensors of these sizes, and without functions, is right to be computed again.
    plan = None
    if score_mod is None and block_mask is None and kernel_options is None and return_aux is None:
        same_batch = is_plain(query, key, value) and query.shape[:1] == key.shape[:1] == value.shape[:1]
        if same_batch and are_numbers(scale) and are_flags(enable_gqa, return_lse):
            kinds = query.shape, key.shape, value.shape, query.dtype, key.dtype, value.dtype
            plan = ("flex", *kinds, scale, enable_gqa, rounds(query))
            results = _known(plan, query, key, value)
            if results is not None:
                return results if return_lse else results[0]
    _check(query, key, value, enable_gqa, kernel_options, return_lse, return_aux)
    scale = fixed(_checks.scale("scale", scale))
    if query.shape[0] > 1:
        key, value = (
            tensor.expand(query.shape[0], -1, -1, -1) if tensor.shape[0] == 1 else tensor for tensor in (key, value)
        )
    mask_mod = mask_mod_of(block_mask, query, key)
    columns = value.shape[-1]
    if query.shape[-1] % 8 != 0 or columns % 8 != 0:
        scale = fixed(query.shape[-1]) ** -0.5 if scale is None else scale
        query, key, value = (padded(tensor) for tensor in (query, key, value))
        plan = None
    attention = _compiled_attention if torch.compiler.is_dynamo_compiling() else _attention
    if plan is not None:
        # Before anything is computed: what is computed again goes the same way.
        _keep(plan, query, key, value, trace_call(query, key, value, None, None, scale))
    out, lse = attention(query, key, value, score_mod, mask_mod, scale)
    out = out if out.shape[-1] == columns else out[..., :columns]
    if return_aux is not None:
        most = None
        if return_aux.max_scores:
            most = _max_scores(attention, query, key, value, score_mod, mask_mod, scale, lse.detach())
        return out, AuxOutput(lse=lse if return_aux.lse else None, max_scores=most)
    return (out, lse) if return_lse else out


def _cast(tensor: Tensor) -> Tensor:
    """As the operators of torch that autocast knows take their operands."""
    kind = torch.get_autocast_dtype(tensor.device.type)
    return tensor.to(kind) if tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor


def _compiled_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None, mask_mod: MaskMod | None, scale: float | None
) -> tuple[Tensor, Tensor]:
    if not has_dtensor((query, key, value)):
        return compiled_attention(query, key, value, score_mod, mask_mod, scale)

    def local(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return compiled_attention(query, key, value, score_mod, mask_mod, scale)

    # Which places functions ask for is not known before they are traced.
    split = "bh" if score_mod is None and mask_mod is None else ""
    out, lse = on_mesh(local, (query, key, value), _LAYOUTS, ("bhie", "bhi"), split)
    return out, lse


def _max_scores(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None, mask_mod: MaskMod | None,
    scale: float | None, lse: Tensor,
) -> Tensor:  # fmt: skip
    """The greatest score of each query, [B, Hq, Sq], without a gradient, as torch has it; -inf where no key is kept.

    A kernel of its own: that of the output looks for no maxima that it can do without (docs/rationale/online-softmax.md).
    The LSE of scores that are far apart is the greatest of them.
    """
    with torch.no_grad():
        # Nobody asks for its output: some columns of the values do.
        most = attention(query, key, value[..., :8], times(score_mod, _APART), mask_mod, scale)[1] / _APART
        # What would overflow is so large that the logarithm of a number of keys is nothing beside it.
        return torch.where(lse.abs() > _LARGE, lse, most)


def _attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None, mask_mod: MaskMod | None, scale: float | None
) -> tuple[Tensor, Tensor]:
    if has_dtensor((query, key, value)):
        return _on_mesh(query, key, value, score_mod, mask_mod, scale)
    traced = trace_call(query, key, value, score_mod, mask_mod, scale)
    inputs = query, key, value, *_tensors(traced, query)
    if is_plain(*inputs):
        inputs = query, key, value, *(as_read(tensor) for tensor in inputs[3:])
        # Texts stand for themselves. They are kept before anything is computed: what is computed again goes the same way.
        plan = traced.text, traced.backward_text
        results = _known(plan, *inputs, *traced.numbers)
        if results is None:
            _keep(plan, query, key, value, traced)
            results = _known(plan, *inputs, *traced.numbers)
        if results is not None:
            return results
    return attend(query, key, value, call_of(traced))


def _known(plan: Hashable, query: Tensor, key: Tensor, value: Tensor, *others: Any) -> tuple[Tensor, Tensor] | None:
    """The results of a call that was made before with such a key; None where there was none.

    others: what the kernel takes after queries, keys and values.
    """
    heads_first = lies_heads_first(query)
    results = run(plan, (*as_they_lie((query, key, value), heads_first), *others), heads_first)
    if results is not None:
        return *as_they_lie(results[:1], heads_first), results[1]
    if torch.is_grad_enabled() and query.device == key.device == value.device:
        learned = find_plan(plan, query)
        return None if learned is None else attend_known(query, key, value, learned)
    return None


def _keep(plan: Hashable, query: Tensor, key: Tensor, value: Tensor, traced: Traced) -> None:
    """Keeps the kernels of a call, of its gradients where these are wanted and nothing is captured."""
    remember(plan, traced.text, query)
    learns = query.requires_grad or key.requires_grad or value.requires_grad
    if learns and torch.is_grad_enabled() and not traced.arrays and not traced.numbers:
        keep_plan(plan, query, call_of(traced))


def _on_mesh(
    query: Tensor, key: Tensor, value: Tensor, score_mod: ScoreMod | None, mask_mod: MaskMod | None, scale: float | None
) -> tuple[Tensor, Tensor]:
    """Of DTensors. What the functions read is whole on each device, so that they may not ask for what is split."""

    whole = trace_call(query, key, value, score_mod, mask_mod, scale)
    split = ("" if whole.asks_batch else "b") + ("" if whole.asks_head else "h")

    def local(query: Tensor, key: Tensor, value: Tensor, *captured: Tensor) -> tuple[Tensor, Tensor]:
        # The same tensors in the same order, as this device has them.
        return attend(query, key, value, call_of(trace_call(query, key, value, score_mod, mask_mod, scale), captured))

    captured = _tensors(whole, query)
    layouts = (*_LAYOUTS, *("t" * tensor.dim() for tensor in captured))
    out, lse = on_mesh(local, (query, key, value, *captured), layouts, ("bhie", "bhi"), split)
    return out, lse


def _tensors(traced: Traced, query: Tensor) -> tuple[Tensor, ...]:
    """What the functions read."""
    return tuple(_checks.captured(name, array, query) for name, array in zip(traced.names, traced.arrays, strict=True))


def _check(
    query: Tensor, key: Tensor, value: Tensor, enable_gqa: Any, kernel_options: Any, return_lse: Any, return_aux: Any
) -> None:  # fmt: skip
    _checks.inputs(("query", "key", "value"), (query, key, value), "B, H, S, D", one_batch=True)
    _checks.grouped(("query", "key"), query, key, 1, enable_gqa)
    _checks.flag("return_lse", return_lse)
    if not isinstance(return_aux, (AuxRequest, type(None))):
        raise TypeError(f"return_aux: expected an AuxRequest, got {type(return_aux).__name__}")
    if not isinstance(kernel_options, (dict, type(None))):
        raise TypeError(f"kernel_options: expected a dict, got {type(kernel_options).__name__}")
    if return_aux is not None:
        if return_lse:
            raise Error("return_lse and return_aux are both given: AuxRequest(lse=True) is enough")
    for option in kernel_options or ():
        if str(option).removeprefix("fwd_").removeprefix("bwd_") not in _KERNEL_OPTIONS:
            raise Error(f"kernel_options: there is no '{option}'")
    if kernel_options and not torch.compiler.is_compiling():
        warn_once("kernel_options are for other kernels, and mean nothing here")


__all__ = ["AuxOutput", "AuxRequest", "FlexKernelOptions", "flex_attention"]
