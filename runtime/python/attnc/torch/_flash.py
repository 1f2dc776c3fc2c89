"""The functions of FlashAttention's users, and ejkernel's flash_attention for tensors of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._core import Error
from .._remarks import warn_once
from . import _checks
from ._calls import call, drawn_seed, prepare
from ._direct import are_flags, are_numbers, is_plain, remember, run
from ._learning import Plan, attend_known, find_plan, keep_plan
from ._tf32 import rounds


def _cap(softcap: Any) -> float | None:
    """A soft cap as FlashAttention has it: 0 is none."""
    return _checks.number("softcap", softcap, "a number of 0 or more, where 0 is none", "S4", least=0) or None


#: What FlashAttention's users call arrays.
_CALLED = {
    "slopes": "alibi_slopes", "q_offsets": "cu_seqlens_q", "kv_offsets": "cu_seqlens_k", "page_table": "block_table",
    "key_value_seq_lengths": "cu_seqlens_k",
}  # fmt: skip


def _options(
    dropout_p: Any, softmax_scale: Any, causal: Any, window_size: Any, softcap: Any, deterministic: Any
) -> dict[str, Any]:
    """What functions of FlashAttention are told, as calls have it."""
    return {
        "dropout": _checks.probability("dropout_p", dropout_p), "scale": _checks.scale("softmax_scale", softmax_scale),
        "causal": _checks.flag("causal", causal), "window": _checks.sides("window_size", window_size), "softcap": _cap(softcap),
        "deterministic": _checks.flag("deterministic", deterministic),
    }  # fmt: skip


def _flash(
    query: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor | None], options: dict[str, Any],
    alibi_slopes: Any, return_attn_probs: bool, called: dict[str, str] = _CALLED,
) -> Any:  # fmt: skip
    """What the functions of FlashAttention share. called: what the caller calls arrays."""
    with_lse = _checks.flag("return_attn_probs", return_attn_probs)
    if alibi_slopes is not None:
        slopes = _checks.tensor("alibi_slopes", alibi_slopes, query)
        if slopes.dim() not in (1, 2) or slopes.dtype != torch.float32:
            raise Error(f"argument 'alibi_slopes': expected float32 of [H] or [B, H], got {slopes.dtype} of {list(slopes.shape)}")
    given = {**given, "slopes": alibi_slopes, "dropout_seed": drawn_seed(options["dropout"], query)}
    out, lse = call(query, key, value, given, called, **options)
    return (out, lse, None) if with_lse else out


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
    known = are_numbers(dropout_p, softmax_scale, window_size, softcap) and are_flags(causal, deterministic, return_attn_probs)
    if alibi_slopes is None and known and not dropout_p and not return_attn_probs and is_plain(q, k, v):
        kinds = q.shape, k.shape, v.shape, q.dtype, k.dtype, v.dtype
        key = ("flash", *kinds, softmax_scale, causal, window_size, softcap, deterministic, rounds(q))
        results = run(key, (q, k, v))
        if results is not None:
            return results[0]
        if torch.is_grad_enabled() and q.device == k.device == v.device:
            plan = find_plan(key, q)
            if plan is not None:
                return _by_plan(q, k, v, plan)
    _checks.inputs(("q", "k", "v"), (q, k, v), "B, S, H, D")
    options = _options(dropout_p, softmax_scale, causal, window_size, softcap, deterministic)
    if key is not None and q.shape[-1] % 8 == 0 and v.shape[-1] % 8 == 0:
        prepared = prepare(q, k, v, {}, **options)
        remember(key, prepared.text, q)
        if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
            return _by_plan(q, k, v, keep_plan(key, q, prepared))
    return _flash(q, k, v, {}, options, alibi_slopes, return_attn_probs)


def _by_plan(q: Tensor, k: Tensor, v: Tensor, plan: Plan) -> Tensor:
    """The output of a call with gradients that is known."""
    return attend_known(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), plan)[0].transpose(1, 2)


def _check_packed(name: str, given: Any, count: int, rows: str = "B, S") -> None:
    """Raises unless several tensors are packed as one. rows: the dimensions before those that say which."""
    found = _checks.tensor(name, given)
    place = rows.count(",") + 1
    if found.dim() != place + 3 or found.shape[place] != count:
        raise Error(f"argument '{name}': expected [{rows}, {count}, H, D], got {list(found.shape)}")
    if found.dtype not in _checks.FLOATS:
        raise Error(f"argument '{name}': expected float32, float16 or bfloat16, got {found.dtype}")


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

    The greatest lengths say nothing that a kernel here has to know. The LSE of return_attn_probs is [H, T]. block_table: of the
    pages [P, rows, H, D] that keys and values then lie in, [batch, pages of a sequence]; they have no gradients.
    """
    _checks.inputs(("q", "k", "v"), (q, k, v), "T, H, D", paged=block_table is not None)
    _checks.hint("max_seqlen_q", max_seqlen_q)
    _checks.hint("max_seqlen_k", max_seqlen_k)
    options = _options(dropout_p, softmax_scale, causal, window_size, softcap, deterministic)
    given = _checks.pair_of_offsets(("cu_seqlens_q", "cu_seqlens_k"), cu_seqlens_q, cu_seqlens_k, q)
    if block_table is not None:
        given = in_pages(("block_table", "k"), block_table, q, k, v, given, cu_seqlens_k.diff())
    return _flash(q, k, v, given, options, alibi_slopes, return_attn_probs)


def flash_attn_varlen_kvpacked_func(
    q: Tensor, kv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None, dropout_p: float = 0.0, softmax_scale: float | None = None, causal: bool = False,
    window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    """flash_attn_varlen_func of [T, 2, H, D] keys and values."""
    _check_packed("kv", kv, 2, "T")
    return flash_attn_varlen_func(
        q, kv[:, 0], kv[:, 1], cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, softmax_scale, causal, window_size,
        softcap, alibi_slopes, deterministic, return_attn_probs,
    )  # fmt: skip


def flash_attn_varlen_qkvpacked_func(
    qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int | None = None, dropout_p: float = 0.0, softmax_scale: float | None = None,
    causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Tensor | None = None,
    deterministic: bool = False, return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    """flash_attn_varlen_func of [T, 3, H, D] queries, keys and values, which have the same lengths."""
    _check_packed("qkv", qkv, 3, "T")
    q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
    _checks.inputs(("qkv", "qkv", "qkv"), (q, k, v), "T, H, D")
    _checks.hint("max_seqlen", max_seqlen)
    options = _options(dropout_p, softmax_scale, causal, window_size, softcap, deterministic)
    given = _checks.pair_of_offsets(("cu_seqlens", "cu_seqlens"), cu_seqlens, cu_seqlens, q)
    called = {**_CALLED, "q_offsets": "cu_seqlens", "kv_offsets": "cu_seqlens"}
    return _flash(q, k, v, given, options, alibi_slopes, return_attn_probs, called)


def in_pages(
    names: tuple[str, str], table: Any, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor | None], lengths: Tensor
) -> dict[str, Tensor | None]:
    """What a call of packed queries with keys in pages is given. names: of the table and of the keys."""
    table = _checks.pages(names[0], table, names[1], q, k, v, lengths.shape[0])
    return {"q_offsets": given["q_offsets"], "page_table": table, "key_value_seq_lengths": lengths}


def _dense(name: str, given: Any) -> Tensor | None:
    """A bias or a mask with four dimensions."""
    if given is None:
        return None
    found = _checks.tensor(name, given)
    if found.dim() not in (3, 4):
        raise Error(f"argument '{name}': expected [B, H, Sq, Sk], got {found.dim()} dimensions")
    return found if found.dim() == 4 else found[:, None]


def _mask_of(query: Any, mask_info: Any, mask: Any, q_ids: Any, kv_ids: Any) -> dict[str, Tensor | None]:
    """The mask and the ids of segments of a call."""
    if mask_info is not None:
        for name, array in (("attention_mask", mask), ("q_segment_ids", q_ids), ("kv_segment_ids", kv_ids)):
            if array is not None:
                raise Error(f"mask_info and {name} are both given: expected one of them")
        mask = getattr(mask_info, "attention_mask", None)
        if mask is None:
            q_ids, kv_ids = getattr(mask_info, "q_segment_ids", None), getattr(mask_info, "kv_segment_ids", None)
        if mask is None and q_ids is None:
            raise Error(
                "mask_info: expected what has attention_mask, or q_segment_ids and kv_segment_ids, "
                f"got {_checks.said(mask_info)}"
            )
    mask = _dense("attention_mask", mask)
    if mask is not None and mask.dtype.is_floating_point:
        # 0 would stand for what is kept as well: those that are added are biases.
        raise Error(f"argument 'attention_mask': expected bool or integers, got {mask.dtype}")
    if (q_ids is None) != (kv_ids is None):
        raise Error("q_segment_ids and kv_segment_ids: expected both or neither, got one")
    return {
        "mask": mask if mask is None or mask.dtype == torch.bool else mask != 0,
        "q_segment_ids": None if q_ids is None else _checks.integers("q_segment_ids", q_ids, query),
        "kv_segment_ids": None if kv_ids is None else _checks.integers("kv_segment_ids", kv_ids, query),
    }


#: What ejkernel's users call arrays.
_CALLED_THERE = {"mask": "attention_mask", "q_offsets": "cum_seqlens_q", "kv_offsets": "cum_seqlens_k"}
#: Platforms of ejkernel.
_PLATFORMS = ("auto", "triton", "pallas", "cuda", "xla", "cpu", "nvptx", "nvrtc")


def _check_unused(platform: Any, cfg: Any, logits_dtype: Any, others: dict[str, Any]) -> None:
    """Of what means nothing here, that it would mean something elsewhere."""
    for name in others:
        if name not in ("mesh", "in_specs", "out_specs"):
            raise TypeError(f"flash_attention() got an unexpected keyword argument '{name}'")
        if others[name] is not None:
            raise Error(
                f"{name}: expected none, since tensors of torch say themselves how they are split: call it with DTensors, "
                "which torch.distributed.tensor.distribute_tensor makes"
            )
    _checks.choice("platform", "auto" if platform is None else platform, _PLATFORMS)
    if cfg is not None and not (hasattr(cfg, "platform") and hasattr(cfg, "backend")):
        raise Error(f"cfg: expected a configuration of ejkernel or None, got {_checks.said(cfg)}")
    if logits_dtype is not None and not (isinstance(logits_dtype, torch.dtype) and logits_dtype.is_floating_point):
        raise Error(f"logits_dtype: expected a type of floats, torch.float32 say, got {_checks.said(logits_dtype)}")
    if cfg is not None or platform not in (None, "auto"):
        if not torch.compiler.is_compiling():
            warn_once("cfg and platform are for other kernels, and mean nothing here")


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
    **others: Any,
) -> Any:
    """Attention of [B, S, H, D] tensors, with the keywords of attnc.jax.flash_attention and their meaning.

    Gradients are those of queries, keys, values, the bias and sinks (softmax_aux). Packed sequences (cum_seqlens_q and _k) are
    [T, H, D], or lie in one batch entry. Logits are float32, whatever `precision` and `logits_dtype` say; `cfg` and `platform`
    choose nothing. DTensors that are split by batch entries and heads are computed where they lie.
    """
    _check_unused(platform, cfg, logits_dtype, others)
    _checks.precision(precision)
    if not _checks.flag("normalize_output", normalize_output) and not torch.compiler.is_compiling():
        warn_once("outputs are divided by the sum of their weights, whatever normalize_output says")
    # Both are checked where they are there, and a seed is wanted where something is dropped.
    probability = _checks.probability("dropout_prob", dropout_prob)
    seed = _checks.seed("dropout_seed", dropout_seed) if probability or dropout_seed is not None else 0
    options = {
        "scale": _checks.scale("softmax_scale", softmax_scale), "causal": _checks.flag("causal", causal),
        "window": _checks.window("sliding_window", sliding_window), "softcap": _checks.cap("logits_soft_cap", logits_soft_cap),
        "dropout": probability, "seed": seed,
    }  # fmt: skip
    with_lse = _checks.flag("return_lse", return_lse)
    _checks.tensor("query", query)
    given = _mask_of(query, mask_info, attention_mask, q_segment_ids, kv_segment_ids)
    given |= {"bias": _dense("bias", bias), "softmax_aux": softmax_aux}
    names = ("query", "key", "value")
    if cum_seqlens_q is None and cum_seqlens_k is None:
        _checks.inputs(names, (query, key, value), "B, S, H, D")
        out, lse = call(query, key, value, given, _CALLED_THERE, **options)
        return (out, lse) if with_lse else out
    if cum_seqlens_q is None or cum_seqlens_k is None:
        raise Error("cum_seqlens_q and cum_seqlens_k: expected both or neither, got one")
    for name in ("bias", "mask", "q_segment_ids"):
        if given[name] is not None:
            raise Error(f"cum_seqlens_q and {_CALLED_THERE.get(name, name)} are both given: expected one of them")
    in_batch = query.dim() == 4
    if in_batch:
        _checks.inputs(names, (query, key, value), "B, S, H, D")
        if query.shape[0] != 1:
            raise Error(f"argument 'query': expected one batch entry with cum_seqlens_q, got {query.shape[0]} [S11]")
        query, key, value = (tensor.squeeze(0) for tensor in (query, key, value))
    _checks.inputs(names, (query, key, value), "T, H, D")
    given |= _checks.pair_of_offsets(("cum_seqlens_q", "cum_seqlens_k"), cum_seqlens_q, cum_seqlens_k, query)
    out, lse = call(query, key, value, given, _CALLED_THERE, **options)
    if in_batch:
        out, lse = out[None], lse[None]
    return (out, lse) if with_lse else out
