"""scaled_dot_product_attention and torch's varlen_attn by kernels of attnc, once they are activated:

    torch.nn.attention.activate_flash_attention_impl("attnc")

torch's own operators get other kernels. What these do not take (float64, head dims beyond 256) goes on to torch's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import register_flash_attention_impl

from .._core import Error
from . import _checks
from ._calls import drawn_seed, prepare
from ._ops import Call, as_line, attend, padded, wants_gradient
from ._varlen import used_keys

#: What users of scaled_dot_product_attention call arrays.
_CALLED = {"mask": "attn_mask", "bias": "attn_mask"}


def _takes(*tensors: Tensor) -> bool:
    """Whether there are kernels for such tensors."""
    return all(tensor.dtype in _checks.FLOATS and tensor.shape[-1] <= 256 for tensor in tensors)


def _collapsed(mask: Tensor, rank: int = 4) -> Tensor:
    """A mask with all dimensions, and with one element where one stands for all."""
    is_leaf = mask.requires_grad and mask.is_leaf
    mask = mask.reshape((1,) * (rank - mask.dim()) + tuple(mask.shape))
    # Whatever spread a mask sums up its gradient; a mask that nothing spread has one for each element.
    for dim in () if is_leaf else range(rank):
        if mask.stride(dim) == 0 and mask.shape[dim] > 1:
            mask = mask.narrow(dim, 0, 1)
    return mask


def _dense(
    q: Tensor, k: Tensor, v: Tensor, is_causal: bool, scale: float | None, mask: Tensor | None = None, dropout_p: float = 0.0,
    seed: Tensor | None = None,
) -> Call:  # fmt: skip
    """The spec of [B, H, S, D] tensors. Query i stands at key i."""
    if isinstance(scale, float):
        _checks.scale("scale", scale)
    given: dict[str, Tensor | None] = {"dropout_seed": seed}
    if mask is not None:
        given["mask" if mask.dtype == torch.bool else "bias"] = _collapsed(mask)
    return prepare(
        *(padded(tensor).transpose(1, 2) for tensor in (q, k, v)), given, _CALLED, align="top_left", causal=is_causal,
        scale=q.shape[-1] ** -0.5 if scale is None else scale, dropout=dropout_p,
    )  # fmt: skip


def _forward(prepared: Call, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    captured, numbers = list(prepared.captured), list(prepared.numbers)
    out, lse = torch.ops.attnc.forward(padded(q), padded(k), padded(v), captured, numbers, as_line(prepared.text))
    return out[..., : v.shape[-1]], lse


def _backward(
    prepared: Call, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, d_out: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    captured, numbers = list(prepared.captured), list(prepared.numbers)
    inputs = (padded(tensor) for tensor in (q, k, v))
    found = torch.ops.attnc.backward(
        *inputs, captured, numbers, as_line(prepared.text), padded(out), lse, padded(d_out), torch.zeros_like(lse), []
    )
    d_q, d_k, d_v = (gradient[..., : tensor.shape[-1]] for gradient, tensor in zip(found, (q, k, v), strict=True))
    return d_q, d_k, d_v


def _state(seed: Tensor | None, q: Tensor) -> tuple[Tensor, Tensor]:
    """What torch hands from the forward to the backward: the words of the seed, which nobody reads where nothing is dropped."""
    state = q.new_empty((2,), dtype=torch.uint64) if seed is None else seed.view(torch.uint64)
    return state, q.new_empty((), dtype=torch.uint64)


def _seed_of(state: Tensor, dropout_p: float) -> Tensor | None:
    return state.view(torch.int32) if dropout_p else None


def _sdpa_cpu(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v) or dropout_p:
        return NotImplemented
    out, lse = _forward(_dense(q, k, v, is_causal, scale, attn_mask), q, k, v)
    return out, lse


def _sdpa_cpu_backward(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, dropout_p: float, is_causal: bool, *,
    attn_mask: Tensor | None = None, scale: float | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v) or dropout_p:
        return NotImplemented
    return _backward(_dense(q, k, v, is_causal, scale, attn_mask), q, k, v, out, lse, d_out)


def _sdpa_of_all(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """scaled_dot_product_attention itself. On CPUs torch asks none of the operators above of a mask that requires grad, and on
    GPUs of any mask or of float32, and where it prefers cuDNN."""
    wants = wants_gradient()
    is_learned = attn_mask is not None and wants is not None and wants(attn_mask)
    if not is_learned and not q.is_cuda or (attn_mask is not None and is_causal):
        return NotImplemented
    if dropout_p and not q.is_cuda:
        # On CPUs torch drops in no kernel of its own.
        return NotImplemented
    if torch._C._functorch.peek_interpreter_stack() is not None:
        # Gradients as functions of functions are torch's own.
        return NotImplemented
    if not torch.backends.cuda.flash_sdp_enabled() or not _takes(q, k, v) or any(x.dim() != 4 for x in (q, k, v)):
        return NotImplemented
    if q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3] or (q.shape[1] != k.shape[1] and not enable_gqa):
        return NotImplemented
    call = _dense(q, k, v, is_causal, scale, attn_mask, dropout_p, drawn_seed(dropout_p, q))
    out, _ = attend(padded(q), padded(k), padded(v), call)
    return out[..., : v.shape[-1]]


def _sdpa(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, is_causal: bool = False, return_debug_mask: bool = False, *,
    scale: float | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v) or return_debug_mask:
        return NotImplemented
    seed = drawn_seed(dropout_p, q)
    out, lse = _forward(_dense(q, k, v, is_causal, scale, None, dropout_p, seed), q, k, v)
    return out, lse, None, None, q.shape[2], k.shape[2], *_state(seed, q), q.new_empty(0)


def _sdpa_backward(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, cum_q: Any, cum_k: Any, max_q: int, max_k: int,
    dropout_p: float, is_causal: bool, seed: Tensor, offset: Tensor, *, scale: float | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v):
        return NotImplemented
    call = _dense(q, k, v, is_causal, scale, None, dropout_p, _seed_of(seed, dropout_p))
    return _backward(call, q, k, v, out, lse, d_out)


def _flash_prepared(
    q: Tensor, k: Tensor, v: Tensor, cum_q: Tensor | None, cum_k: Tensor | None, dropout_p: float, is_causal: bool,
    scale: float | None, left: int | None, right: int | None, used: Tensor | None, slopes: Tensor | None, seed: Tensor | None,
) -> Call:  # fmt: skip
    """The spec of [B, S, H, D] or packed tensors, as FlashAttention has them: the last query stands at the last key."""
    _checks.inputs(("query", "key", "value"), (q, k, v), "B, S, H, D" if cum_q is None else "T, H, D")
    given: dict[str, Tensor | None] = {"slopes": slopes, "dropout_seed": seed}
    align = "bottom_right"
    if cum_q is not None:
        given |= _checks.pair_of_offsets(("cum_seq_q", "cum_seq_k"), cum_q, cum_k, q)
        if used is not None:
            given |= used_keys("seqused_k", given, used)
            align = "top_left"
    elif used is not None:
        raise Error("seqused_k: expected None without cumulative lengths")
    window = (None if left in (None, -1) else left, None if right in (None, -1) else right)
    return prepare(q, k, v, given, align=align, causal=is_causal, window=window, scale=scale, dropout=dropout_p)


def _as_operators(tensor: Tensor) -> Tensor:
    return tensor.transpose(1, 2) if tensor.dim() == 4 else tensor


def _flash(
    q: Tensor, k: Tensor, v: Tensor, cum_q: Tensor | None, cum_k: Tensor | None, max_q: int, max_k: int, dropout_p: float,
    is_causal: bool, return_debug_mask: bool, *, scale: float | None = None, window_size_left: int | None = None,
    window_size_right: int | None = None, seqused_k: Tensor | None = None, alibi_slopes: Tensor | None = None,
    block_table: Tensor | None = None, num_splits: int | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v) or return_debug_mask or block_table is not None or (q.shape[-1] | v.shape[-1]) % 8:
        return NotImplemented
    seed = drawn_seed(dropout_p, q)
    prepared = _flash_prepared(
        q, k, v, cum_q, cum_k, dropout_p, is_causal, scale, window_size_left, window_size_right, seqused_k, alibi_slopes, seed
    )
    out, lse = _forward(prepared, *(_as_operators(tensor) for tensor in (q, k, v)))
    return _as_operators(out), lse, *_state(seed, q), q.new_empty(0)


def _flash_backward(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, cum_q: Tensor | None, cum_k: Tensor | None,
    max_q: int, max_k: int, dropout_p: float, is_causal: bool, rng_state: Tensor, unused: Tensor, *,
    scale: float | None = None, window_size_left: int | None = None, window_size_right: int | None = None,
) -> Any:  # fmt: skip
    if not _takes(q, k, v) or (q.shape[-1] | v.shape[-1]) % 8:
        return NotImplemented
    seed = _seed_of(rng_state, dropout_p)
    prepared = _flash_prepared(
        q, k, v, cum_q, cum_k, dropout_p, is_causal, scale, window_size_left, window_size_right, None, None, seed
    )
    tensors = [_as_operators(tensor) for tensor in (q, k, v, out)]
    found = _backward(prepared, *tensors, lse, _as_operators(d_out))
    return tuple(_as_operators(gradient) for gradient in found)


#: Operators of torch, the dispatch key, and what runs in their place.
_KERNELS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("scaled_dot_product_attention", "AutogradCPU", _sdpa_of_all),
    ("scaled_dot_product_attention", "AutogradCUDA", _sdpa_of_all),
    ("scaled_dot_product_attention", "CUDA", _sdpa_of_all),
    ("_scaled_dot_product_flash_attention_for_cpu", "CPU", _sdpa_cpu),
    ("_scaled_dot_product_flash_attention_for_cpu_backward", "CPU", _sdpa_cpu_backward),
    ("_flash_attention_forward", "CPU", _flash),
    ("_flash_attention_backward", "CPU", _flash_backward),
    ("_scaled_dot_product_flash_attention", "CUDA", _sdpa),
    ("_scaled_dot_product_flash_attention_backward", "CUDA", _sdpa_backward),
    ("_flash_attention_forward", "CUDA", _flash),
    ("_flash_attention_backward", "CUDA", _flash_backward),
)


class _Handle:
    """Kernels that are in place until `remove`."""

    def __init__(self) -> None:
        self._library: Any = torch.library.Library("aten", "IMPL")
        for name, key, function in _KERNELS:
            self._library.impl(name, _or_else(name, key, function), key, with_keyset=True, allow_override=True)
        _forget_kernels()

    def remove(self) -> None:
        self._library._destroy()
        self._library = None
        _forget_kernels()


def _forget_kernels() -> None:
    """Tracing keeps which kernel an operator has in Python, and does not see that others were registered."""
    for name in {name for name, _, _ in _KERNELS}:
        operators = getattr(torch.ops.aten, name)
        for overload in operators.overloads():
            getattr(getattr(operators, overload), "_dispatch_cache", {}).clear()


def _or_else(name: str, key: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, and torch's own kernel where it returns NotImplemented."""
    try:
        original = torch.library.get_kernel(f"aten::{name}", key)
    except RuntimeError:
        original = None

    def kernel(keys: Any, *inputs: Any, **options: Any) -> Any:
        result = function(*inputs, **options)
        if result is not NotImplemented:
            return result
        if original is None:
            raise Error(f"{name}: expected float32, float16 or bfloat16, head dims up to 256 in steps of 8, and no pages of keys")
        return original.call_boxed(keys, *inputs, **options)

    return kernel


register_flash_attention_impl("attnc", register_fn=_Handle)
