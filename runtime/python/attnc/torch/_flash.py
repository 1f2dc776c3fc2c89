"""The functions of FlashAttention's users, and ejkernel's flash_attention for tensors of torch."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor

from .._core import Error
from ._calls import call, check_tensors, prepare
from ._direct import are_numbers, is_plain, remember, run
from ._learning import Plan, attend_known, find_plan, keep_plan

_told: set[str] = set()


def _remark(name: str, text: str) -> None:
    """Says something once."""
    if name not in _told and not torch.compiler.is_compiling():
        _told.add(name)
        logging.getLogger("attnc").warning(text)


def side(name: str, value: Any) -> int | None:
    """A side of a window; -1, which stands for all, as None."""
    if not isinstance(value, int) or value < -1:
        raise Error(f"{name}: expected two numbers of 0 or more, or -1 for all, got {value!r} [S5]")
    return None if value == -1 else value


def sides(name: str, window: Any) -> tuple[int | None, int | None] | None:
    """A window as FlashAttention has it: (-1, -1) is none."""
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise Error(f"{name}: expected two numbers of 0 or more, or -1 for all, got {window!r} [S5]")
    left, right = (side(name, value) for value in window)
    return None if left is None and right is None else (left, right)


def _cap(softcap: Any) -> float | None:
    """A soft cap as FlashAttention has it: 0 is none."""
    if not isinstance(softcap, (int, float)) or softcap < 0:
        raise Error(f"softcap: expected a number of 0 or more, where 0 is none, got {softcap!r} [S4]")
    return float(softcap) or None


def _probability(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise Error(f"{name}: expected a number from 0 to 1, got {value!r} [S9]")
    return float(value)


def _drawn_seed(probability: float) -> int:
    """A seed by torch's generator on the CPU: torch.manual_seed decides what is dropped, and no GPU is waited for."""
    return int(torch.randint(2**62, (1,), device="cpu").item()) if probability else 0


def offsets(name: str, given: Any, query: Tensor) -> Tensor:
    """Cumulative lengths of packed sequences."""
    if not isinstance(given, Tensor):
        raise TypeError(f"argument '{name}': expected a tensor, got {type(given).__name__}")
    if given.dim() != 1 or given.shape[0] < 1 or given.dtype != torch.int32:
        raise Error(f"argument '{name}': expected int32 of shape [batch + 1], got {given.dtype} of {list(given.shape)} [S11]")
    if given.device != query.device:
        raise Error(f"argument '{name}': expected a tensor on {query.device}, as 'query' is, got one on {given.device}")
    return given


def pair_of_offsets(names: tuple[str, str], q: Any, k: Any, query: Tensor) -> dict[str, Tensor | None]:
    """Cumulative lengths of queries and keys."""
    found = offsets(names[0], q, query), offsets(names[1], k, query)
    if found[0].shape != found[1].shape:
        wanted, got = (given.shape[0] for given in found)
        raise Error(f"argument '{names[1]}': expected {wanted} elements, as '{names[0]}' has, got {got} [S11]")
    return {"q_offsets": found[0], "kv_offsets": found[1]}


def _flash(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], dropout_p: float, softmax_scale: Any,
    causal: bool, window_size: Any, softcap: float, alibi_slopes: Tensor | None, deterministic: bool, return_attn_probs: bool,
) -> Any:  # fmt: skip
    """What the functions of FlashAttention share."""
    probability = _probability("dropout_p", dropout_p)
    if not isinstance(alibi_slopes, (Tensor, type(None))):
        raise TypeError(f"argument 'alibi_slopes': expected a tensor, got {type(alibi_slopes).__name__}")
    if alibi_slopes is not None and (alibi_slopes.dim() not in (1, 2) or alibi_slopes.dtype != torch.float32):
        raise Error(f"alibi_slopes: expected float32 of [H] or [B, H], got {alibi_slopes.dtype} of {list(alibi_slopes.shape)}")
    out, lse = call(
        query, key, value, {**given, "slopes": alibi_slopes}, scale=softmax_scale, causal=bool(causal),
        window=sides("window_size", window_size), softcap=_cap(softcap), dropout=probability,
        seed=_drawn_seed(probability), deterministic=bool(deterministic),
    )  # fmt: skip
    return (out, lse, None) if return_attn_probs else out


def flash_attn_func(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
    window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    """Attention of [B, S, H, D] tensors, with the signature of FlashAttention's. The last query stands at the last key.

    deterministic: gradients with the same bits in every run, as under torch.use_deterministic_algorithms.
    return_attn_probs: a tuple with the LSE, [B, H, S], and None for the probabilities.
    """
    key: Any = None
    numbers = are_numbers(dropout_p, softmax_scale, causal, window_size, softcap, deterministic)
    if alibi_slopes is None and numbers and not dropout_p and not return_attn_probs and is_plain(q, k, v):
        kinds = q.shape, k.shape, v.shape, q.dtype, k.dtype, v.dtype
        key = ("flash", *kinds, softmax_scale, causal, window_size, softcap, deterministic)
        results = run(key, (q, k, v))
        if results is not None:
            return results[0]
        if torch.is_grad_enabled() and q.device == k.device == v.device:
            plan = find_plan(key, q)
            if plan is not None:
                return _by_plan(q, k, v, plan)
    check_tensors(q, k, v, "B, S, H, D")
    if key is not None:
        prepared = prepare(
            q, k, v, {}, dropout=0.0, scale=softmax_scale, causal=bool(causal), softcap=_cap(softcap),
            window=sides("window_size", window_size), deterministic=bool(deterministic),
        )  # fmt: skip
        remember(key, prepared.text, q)
        if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
            return _by_plan(q, k, v, keep_plan(key, q, prepared))
    return _flash(
        q, k, v, {}, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic, return_attn_probs
    )  # fmt: skip


def _by_plan(q: Tensor, k: Tensor, v: Tensor, plan: Plan) -> Tensor:
    """The output of a call with gradients that is known."""
    return attend_known(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), plan)[0].transpose(1, 2)


def _check_packed(name: str, given: Any, count: int) -> None:
    """Raises unless several tensors are packed as one."""
    if not isinstance(given, Tensor):
        raise TypeError(f"argument '{name}': expected a tensor, got {type(given).__name__}")
    if given.dim() != 5 or given.shape[2] != count:
        raise Error(f"argument '{name}': expected [B, S, {count}, H, D], got {list(given.shape)}")


def flash_attn_kvpacked_func(q: Tensor, kv: Tensor, *others: Any, **options: Any) -> Any:
    """flash_attn_func of [B, S, 2, H, D] keys and values."""
    _check_packed("kv", kv, 2)
    return flash_attn_func(q, kv[:, :, 0], kv[:, :, 1], *others, **options)


def flash_attn_qkvpacked_func(qkv: Tensor, *others: Any, **options: Any) -> Any:
    """flash_attn_func of [B, S, 3, H, D] queries, keys and values."""
    _check_packed("qkv", qkv, 3)
    return flash_attn_func(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], *others, **options)


def flash_attn_varlen_func(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
    window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False, block_table: Tensor | None = None,
) -> Any:  # fmt: skip
    """Attention of packed [T, H, D] tensors by cumulative lengths, with the signature of FlashAttention's.

    The greatest lengths say nothing that a kernel here has to know. The LSE of return_attn_probs is [H, T].
    """
    check_tensors(q, k, v, "T, H, D")
    if block_table is not None:
        raise Error("block_table: expected None, since keys in pages are not read yet")
    given = pair_of_offsets(("cu_seqlens_q", "cu_seqlens_k"), cu_seqlens_q, cu_seqlens_k, q)
    return _flash(
        q, k, v, given, dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic, return_attn_probs
    )  # fmt: skip


def _window(sliding_window: Any) -> tuple[int, int] | None:
    if sliding_window is None:
        return None
    both = (sliding_window, sliding_window) if isinstance(sliding_window, int) else tuple(sliding_window)
    if len(both) != 2 or any(not isinstance(number, int) or number < 0 for number in both):
        raise Error(f"sliding_window: expected a number of 0 or more, or two of them, got {sliding_window!r} [S5]")
    return both


def _dense(name: str, tensor: Tensor | None) -> Tensor | None:
    """A bias or a mask with four dimensions."""
    if tensor is None or tensor.dim() == 4:
        return tensor
    if tensor.dim() != 3:
        raise Error(f"argument '{name}': expected [B, H, Sq, Sk], got {tensor.dim()} dimensions")
    return tensor[:, None]


def _mask_of(mask_info: Any, mask: Tensor | None, q_ids: Tensor | None, kv_ids: Tensor | None) -> dict[str, Tensor | None]:
    """The mask and the ids of segments of a call."""
    if mask_info is not None:
        if mask is not None or q_ids is not None:
            raise Error("mask_info and attention_mask or q_segment_ids are both given: expected one of them")
        mask = getattr(mask_info, "attention_mask", None)
        if mask is None:
            q_ids, kv_ids = getattr(mask_info, "q_segment_ids", None), getattr(mask_info, "kv_segment_ids", None)
        if mask is None and q_ids is None:
            raise Error(
                "mask_info: expected what has attention_mask, or q_segment_ids and kv_segment_ids, "
                f"got {type(mask_info).__name__}"
            )
    mask = _dense("attention_mask", mask)
    if (q_ids is None) != (kv_ids is None):
        raise Error("q_segment_ids and kv_segment_ids: expected both or neither, got one")
    return {
        "mask": mask if mask is None or mask.dtype == torch.bool else mask != 0,
        "q_segment_ids": None if q_ids is None else q_ids.to(torch.int32),
        "kv_segment_ids": None if kv_ids is None else kv_ids.to(torch.int32),
    }


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    cum_seqlens_q: Tensor | None = None,
    cum_seqlens_k: Tensor | None = None,
    softmax_aux: Tensor | None = None,
    *,
    mask_info: Any = None,
    attention_mask: Tensor | None = None,
    softmax_scale: float | None = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    dropout_seed: int | None = None,
    sliding_window: int | tuple[int, int] | None = None,
    logits_soft_cap: float | None = None,
    normalize_output: bool = True,
    precision: Any = None,
    logits_dtype: Any = torch.float32,
    platform: str | None = None,
    q_segment_ids: Tensor | None = None,
    kv_segment_ids: Tensor | None = None,
    cfg: Any = None,
    return_lse: bool = False,
) -> Any:
    """Attention of [B, S, H, D] tensors, with the keywords of attnc.jax.flash_attention and their meaning.

    Gradients are those of queries, keys, values, the bias and sinks (softmax_aux). Packed sequences (cum_seqlens_q and _k) are
    [T, H, D], or lie in one batch entry. Logits are float32, whatever `precision` and `logits_dtype` say; `cfg` and `platform` choose
    nothing. DTensors that are split by batch entries and heads are computed where they lie.
    """
    if not normalize_output:
        raise Error("normalize_output=False is not there: outputs are divided by the sum of their weights")
    if cfg is not None or platform not in (None, "auto"):
        _remark("cfg", "cfg and platform are for other kernels, and mean nothing here")
    probability = _probability("dropout_prob", dropout_prob)
    if probability and not isinstance(dropout_seed, int):
        raise Error(f"dropout_seed: expected an integer, got {type(dropout_seed).__name__}")
    if logits_soft_cap is not None and not logits_soft_cap > 0:
        raise Error(f"logits_soft_cap: expected a number above 0, got {logits_soft_cap!r} [S4]")
    given = _mask_of(mask_info, attention_mask, q_segment_ids, kv_segment_ids)
    given |= {"bias": _dense("bias", bias), "softmax_aux": softmax_aux}
    options = {
        "scale": softmax_scale, "causal": causal, "window": _window(sliding_window), "softcap": logits_soft_cap,
        "dropout": probability, "seed": dropout_seed or 0,
    }  # fmt: skip
    if cum_seqlens_q is None and cum_seqlens_k is None:
        check_tensors(query, key, value, "B, S, H, D")
        out, lse = call(query, key, value, given, **options)
        return (out, lse) if return_lse else out
    if cum_seqlens_q is None or cum_seqlens_k is None:
        raise Error("cum_seqlens_q and cum_seqlens_k: expected both or neither, got one")
    for name in ("bias", "mask", "q_segment_ids"):
        if given[name] is not None:
            raise Error(f"cum_seqlens_q and {'attention_mask' if name == 'mask' else name} are both given: expected one of them")
    in_batch = query.dim() == 4
    if in_batch:
        if query.shape[0] != 1:
            raise Error(f"argument 'query': expected one batch entry with cum_seqlens_q, got {query.shape[0]} [S11]")
        query, key, value = (tensor.squeeze(0) for tensor in (query, key, value))
    check_tensors(query, key, value, "T, H, D")
    given |= pair_of_offsets(("cum_seqlens_q", "cum_seqlens_k"), cum_seqlens_q, cum_seqlens_k, query)
    out, lse = call(query, key, value, given, **options)
    if in_batch:
        out, lse = out[None], lse[None]
    return (out, lse) if return_lse else out
