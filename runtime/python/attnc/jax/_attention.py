"""The functions that users call."""

from __future__ import annotations

from typing import Any

import jax
from jax import numpy as jnp

from .._core import Error
from .._options import ARRAYS, Options
from .._remarks import warn_once
from . import _checks
from ._call import attend, weights_of
from ._configs import PLATFORMS, schedules_of
from ._explicit import placed_as
from ._mask import MaskInfo
from ._shardings import seed_of_part


def _options(given: dict[str, Any], options: dict[str, Any]) -> tuple[Options, list[Any]]:
    """What is compiled in, and the arrays of a call that come after queries, keys and values."""
    names = tuple(name for name in ARRAYS if given.get(name) is not None)
    return Options(names, **{"tf32": _checks.precision(None)} | options), [given[name] for name in names]


def _attend(q: Any, k: Any, v: Any, given: dict[str, Any], **options: Any) -> Any:
    """The output and the LSE; `given` are the arrays that are there."""
    compiled, arrays = _options(given, _of_head_dim(q, options))
    out, lse = attend(compiled, *(_padded(array) for array in (q, k, v)), *arrays)
    return out[..., : v.shape[3]], lse


def _padded(array: Any) -> Any:
    """With a head dim that kernels have, a multiple of 8: zeros add nothing to a product."""
    rest = -array.shape[3] % 8
    return jnp.pad(array, ((0, 0), (0, 0), (0, 0), (0, rest))) if rest else array


def _of_head_dim(q: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What is compiled in, with the scale that goes with the head dim before it is padded."""
    is_padded = q.shape[3] % 8 != 0 and options.get("scale") is None
    return options | {"scale": q.shape[3] ** -0.5} if is_padded else options


def _take_scale(given: dict[str, Any], options: dict[str, Any]) -> None:
    """Makes a scale that is traced one of the arrays: numbers of a call of XLA are known when it is traced."""
    scale = options["scale"]
    if isinstance(scale, jax.core.Tracer):
        given["scale"], options["scale"] = scale.astype(jnp.float32).reshape(1), 1.0


#: What masks of ejkernel hold, with an underline before it where it is not made when it is asked for.
_HELD = ("attention_mask", "q_segment_ids", "kv_segment_ids")


def _mask_arrays(mask_info: Any, mask: Any, q_ids: Any, kv_ids: Any, sizes: dict[str, int]) -> dict[str, Any]:
    """The mask and the segments of a call. A mask info is attnc's or ejkernel's: its dense mask counts, and its segments
    where it has none."""
    place, numbers = "", jnp.integer
    if mask_info is not None:
        for name, array in zip(_HELD, (mask, q_ids, kv_ids), strict=True):
            if array is not None:
                raise Error(f"mask_info and {name} are both given: expected one of them")
        held = [getattr(mask_info, f"_{name}" if hasattr(mask_info, f"_{name}") else name, None) for name in _HELD]
        if all(array is None for array in held):
            raise Error(f"mask_info: expected a MaskInfo with a mask or ids of segments, got {type(mask_info).__name__}")
        # Of floats, too: its methods make such masks.
        place, numbers = "mask_info.", jnp.number
        mask, q_ids, kv_ids = held if held[0] is None else (held[0], None, None)
    if (q_ids is None) != (kv_ids is None):
        raise Error("q_segment_ids and kv_segment_ids: expected both or neither, got one")
    found: dict[str, Any] = {}
    if mask is not None:
        found["mask"] = _checks.mask(f"{place}attention_mask", mask, sizes, numbers)
    if q_ids is not None:
        found["q_segment_ids"] = _checks.segments(f"{place}q_segment_ids", q_ids, "bi", sizes)
        found["kv_segment_ids"] = _checks.segments(f"{place}kv_segment_ids", kv_ids, "bj", sizes)
    return found


def _packed(query: Any, key: Any, cum_q: Any, cum_k: Any, has_segments: bool) -> dict[str, Any]:
    """Sequences that lie one behind the other in one batch entry, as segments, and rows' positions in them: the last query
    of a sequence stands at its last key."""
    if cum_q is None and cum_k is None:
        return {}
    if has_segments:
        raise Error("cum_seqlens_q, cum_seqlens_k and segment ids are both given: expected one of them")
    if cum_q is None or cum_k is None:
        raise Error("cum_seqlens_q and cum_seqlens_k: expected both or neither, got one")
    if query.shape[0] != 1:
        raise Error(f"argument 'query': expected one batch entry with cum_seqlens_q, got {query.shape[0]} [S11]")
    cum_q = _checks.cumulative("cum_seqlens_q", cum_q, query.shape[1])
    cum_k = _checks.cumulative("cum_seqlens_k", cum_k, key.shape[1])
    if cum_q.shape != cum_k.shape:
        raise Error(f"cum_seqlens_k: expected the shape of cum_seqlens_q, {cum_q.shape}, got {cum_k.shape} [S11]")

    def place(cumulative: Any, rows: int) -> tuple[Any, Any]:
        row = jnp.arange(rows)
        sequence = jnp.searchsorted(cumulative, row, side="right") - 1
        # What lies behind the last sequence belongs to none.
        return sequence, jnp.where(row < cumulative[-1], sequence, -1)

    q_sequence, q_ids = place(cum_q, query.shape[1])
    k_sequence, k_ids = place(cum_k, key.shape[1])
    longer = jnp.diff(cum_k) - jnp.diff(cum_q)
    q_positions = jnp.arange(query.shape[1]) - cum_q[q_sequence] + longer[q_sequence]
    k_positions = jnp.arange(key.shape[1]) - cum_k[k_sequence]
    named = {"q_segment_ids": q_ids, "kv_segment_ids": k_ids, "q_positions": q_positions, "kv_positions": k_positions}
    return {name: array[None].astype(jnp.int32) for name, array in named.items()}


def flash_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    cum_seqlens_q: jax.Array | None = None,
    cum_seqlens_k: jax.Array | None = None,
    softmax_aux: jax.Array | None = None,
    *,
    mask_info: Any = None,
    attention_mask: jax.Array | None = None,
    softmax_scale: float | None = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    dropout_seed: int | jax.Array | None = None,
    sliding_window: int | tuple[int, int] | None = None,
    logits_soft_cap: float | None = None,
    normalize_output: bool = True,
    precision: Any = None,
    logits_dtype: Any = jnp.float32,
    platform: str | None = None,
    q_segment_ids: jax.Array | None = None,
    kv_segment_ids: jax.Array | None = None,
    cfg: Any = None,
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    return_lse: bool = False,
) -> Any:
    """Attention of [B, S, H, D] arrays, with the surface of ejkernel's flash_attention.

    Where there are more keys than queries, the last query stands at the last key. The bias is added before the cap, sinks
    (softmax_aux) join each row's softmax once, packed sequences (cum_seqlens_q and _k) lie in one batch entry, a window of W
    is (W, W), rows that keep no key are 0. Logits are float32, whatever `logits_dtype` says. Without a `dropout_seed` it is 0,
    and each call drops the same.
    precision: "high" and "tensorfloat32" let products of float32 round to TF32 on GPUs; all others are exact. cfg: a
    FlashAttentionConfig, of which schedules are taken; `platform` chooses nothing: the device of the program decides.
    mesh, in_specs, out_specs: a shard_map over batch entries and heads; without in_specs, shardings are XLA's.
    """
    if not _checks.flag("normalize_output", normalize_output):
        warn_once("outputs are divided by the sum of their weights, whatever normalize_output says")
    _checks.choice("platform", "auto" if platform is None else platform, PLATFORMS)
    rounds = _checks.precision(precision)
    _checks.dtype("logits_dtype", logits_dtype)
    if platform not in (None, "auto") or getattr(cfg, "fwd_params", None) is not None:
        warn_once("platforms and block sizes are for other kernels, and mean nothing here")
    query, key, value = _inputs(query, key, value)
    given, options = _call_of(
        query, key, value, bias, softmax_aux, mask_info, attention_mask, q_segment_ids, kv_segment_ids, cum_seqlens_q,
        cum_seqlens_k, scale=softmax_scale, causal=causal, window=sliding_window, softcap=logits_soft_cap,
    )  # fmt: skip
    options |= {"dropout": _checks.probability("dropout_prob", dropout_prob), "tf32": rounds, **schedules_of(cfg)}
    _take_scale(given, options)
    if options["dropout"] or dropout_seed is not None:
        # As ejkernel has it.
        seed = _checks.seed(0 if dropout_seed is None else dropout_seed)
        given |= {"dropout_seed": seed} if options["dropout"] else {}
    return_lse = _checks.flag("return_lse", return_lse)
    _check_mesh(mesh)
    if in_specs is not None or out_specs is not None:
        return _sharded(query, key, value, given, options, mesh, in_specs, out_specs, return_lse)
    out, lse = _attend(query, key, value, given, **options)
    return (out, lse) if return_lse else out


def _inputs(query: Any, key: Any, value: Any) -> list[Any]:
    """Queries, keys and values as arrays of JAX."""
    return [_checks.array(name, given) for name, given in (("query", query), ("key", key), ("value", value))]


def _call_of(
    query: Any, key: Any, value: Any, bias: Any, softmax_aux: Any, mask_info: Any, attention_mask: Any, q_segment_ids: Any,
    kv_segment_ids: Any, cum_seqlens_q: Any = None, cum_seqlens_k: Any = None, *, scale: Any, causal: Any, window: Any,
    softcap: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """The arrays of a call with ejkernel's arguments, and what is compiled in."""
    _checks.inputs(query, key, value)
    sizes = _checks.sizes_of(query, key)
    given = _mask_arrays(mask_info, attention_mask, q_segment_ids, kv_segment_ids, sizes)
    if bias is not None:
        given["bias"] = _checks.bias(bias, sizes)
    if softmax_aux is not None:
        given["softmax_aux"] = _checks.sinks(softmax_aux, sizes)
    given |= _packed(query, key, cum_seqlens_q, cum_seqlens_k, "q_segment_ids" in given)
    return given, {
        "rules": mask_info.rules if isinstance(mask_info, MaskInfo) else (),
        "scale": _checks.scale("softmax_scale", scale),
        "causal": _checks.flag("causal", causal),
        "window": _checks.window("sliding_window", window),
        "softcap": _checks.cap("logits_soft_cap", softcap),
    }


def _check_mesh(mesh: Any) -> None:
    if not isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh, type(None))):
        raise Error(f"mesh: expected a mesh of JAX, got {_checks.said(mesh)}")


def _axes_of(name: str, spec: Any, mesh: Any) -> list[tuple[str, ...]]:
    """The axes that split each of four dimensions. Those of one device split nothing."""
    if not isinstance(spec, (jax.P, tuple, list, type(None))) or len(spec or ()) > 4:
        raise Error(f"{name}: expected a PartitionSpec of up to 4 dimensions, got {spec!r}")
    found = []
    for entry in (*(spec or ()), None, None, None, None)[:4]:
        axes = entry if isinstance(entry, tuple) else () if entry is None else (entry,)
        for axis in axes:
            if axis not in mesh.axis_names:
                raise Error(f"{name}: expected axes of the mesh, {', '.join(mesh.axis_names)}, got {axis!r}")
        found.append(tuple(axis for axis in axes if mesh.shape[axis] != 1))
    return found


def _sharded(
    query: Any, key: Any, value: Any, given: dict[str, Any], options: Any, mesh: Any, in_specs: Any, out_specs: Any,
    return_lse: bool,
) -> Any:  # fmt: skip
    """The call inside of a shard_map. in_specs: of queries, keys and values; a bias, masks and sinks follow the queries."""
    if mesh is None:
        raise Error("mesh: expected a mesh with in_specs and out_specs, got None")
    if in_specs is None or out_specs is None:
        raise Error("mesh: expected in_specs for queries, keys and values at least, and out_specs")
    if isinstance(in_specs, jax.P) or not isinstance(in_specs, (tuple, list)) or len(in_specs) < 3:
        raise Error(f"in_specs: expected a tuple of those of queries, keys and values at least, got {in_specs!r}")
    if return_lse:
        raise Error("mesh: the LSE is not returned here; call it inside of jax.shard_map")
    split = [_axes_of("in_specs", spec, mesh) for spec in in_specs[:3]]
    specs = [(*(spec or ()), None, None, None, None)[:4] for spec in in_specs[:3]]
    for name, spec, axes in zip(("query", "key", "value"), specs, split, strict=True):
        if axes[1] or axes[3]:
            raise Error(f"in_specs: expected a split of '{name}' by batch entries and heads alone, got {jax.P(*spec)}")
        # One key head serves all query heads. Of others each device needs those that its query heads go with.
        if axes[0] != split[0][0] or (axes[2] != split[0][2] and (axes[2] or key.shape[2] != 1)):
            raise Error(f"in_specs: expected a split of '{name}' as 'query' has, {jax.P(*specs[0])}, got {jax.P(*spec)}")
    if _axes_of("out_specs", out_specs, mesh) != split[0]:
        raise Error(f"out_specs: expected the split of 'query', {jax.P(*specs[0])}, got {out_specs!r}")
    batch, _, heads, _ = specs[0]
    # Dimensions of size 1 serve all.
    axes = {"b": batch, "h": heads}
    names = [name for name in ARRAYS if given.get(name) is not None]
    for name in names:
        shape = given[name].shape
        known = {"bias": "bhij", "mask": "bhij", "softmax_aux": "hn"[-len(shape) :], "dropout_seed": "w", "scale": "w"}
        dims = known.get(name, "bi")
        specs.append(tuple(axes.get(dim) if size != 1 else None for dim, size in zip(dims, shape, strict=True)))

    def local(q: Any, k: Any, v: Any, *arrays: Any) -> Any:
        local_given = dict(zip(names, arrays, strict=True))
        if "dropout_seed" in local_given:
            local_given["dropout_seed"] = seed_of_part(local_given["dropout_seed"], q, split[0][0], split[0][2])
        return _attend(q, k, v, local_given, **options)[0]

    in_specs = tuple(jax.P(*spec) for spec in specs)
    arrays = [query, key, value, *(given[name] for name in names)]
    if jax.sharding.AxisType.Explicit in mesh.axis_types:
        # shard_map takes what has its specs in its type, and gathers nothing by itself.
        arrays = [placed_as(array, jax.NamedSharding(mesh, spec)) for array, spec in zip(arrays, in_specs, strict=True)]
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)(*arrays)


def attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    dropout_rng: jax.Array | None = None,
    softmax_aux: jax.Array | None = None,
    *,
    mask_info: Any = None,
    attention_mask: jax.Array | None = None,
    init_bias: Any = None,
    deterministic: bool = True,
    softmax_scale: float | None = None,
    logits_soft_cap: float | None = None,
    dtype: Any = jnp.bfloat16,
    softmax_dtype: Any = None,
    dropout_prob: float = 0.0,
    causal: bool = False,
    sliding_window: int | tuple[int, int] | None = None,
) -> tuple[jax.Array, jax.Array]:
    """The output and the weights [B, H, Sq, Sk], of [B, S, H, D] arrays, with the surface of ejkernel's attention.

    dtype: what queries, keys and values are cast to; None leaves them. init_bias: called where there is neither a bias nor a
    mask. Weights are those that values are multiplied by, after dropout; a program that does not use them computes none
    under jit. They have no gradients.
    """
    if not callable(init_bias) and init_bias is not None:
        raise Error(f"init_bias: expected a function without arguments, got {_checks.said(init_bias)}")
    if bias is None and mask_info is None and attention_mask is None and init_bias is not None:
        bias = init_bias()
    _checks.dtype("dtype", dtype, _checks.FLOATS)
    _checks.dtype("softmax_dtype", softmax_dtype)
    query, key, value = _inputs(query, key, value)
    if dtype is not None:
        query, key, value = (array.astype(dtype) for array in (query, key, value))
    given, options = _call_of(
        query, key, value, bias, softmax_aux, mask_info, attention_mask, None, None, scale=softmax_scale, causal=causal,
        window=sliding_window, softcap=logits_soft_cap,
    )  # fmt: skip
    deterministic, probability = _checks.flag("deterministic", deterministic), _checks.probability("dropout_prob", dropout_prob)
    if probability and not deterministic:
        options["dropout"] = probability
        given["dropout_seed"] = _checks.seed_of_key(dropout_rng)
    _take_scale(given, options)
    compiled, arrays = _options(given, _of_head_dim(query, options))
    return _attend(query, key, value, given, **options)[0], weights_of(compiled, _padded(query), _padded(key), *arrays)


#: What jax.nn computes by. Here they choose nothing.
_IMPLEMENTATIONS = ("xla", "cudnn")


def dot_product_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    mask: jax.Array | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: jax.Array | None = None,
    key_value_seq_lengths: jax.Array | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Attention of [B, T, N, H] or [T, N, H] arrays, with the signature of jax.nn's. Query t stands at key t."""
    if implementation is not None:
        _checks.choice("implementation", implementation, _IMPLEMENTATIONS)
    query, key, value = _inputs(query, key, value)
    batched = query.ndim != 3
    query, key, value = (array[None] if array.ndim == 3 else array for array in (query, key, value))
    _checks.inputs(query, key, value)
    sizes = _checks.sizes_of(query, key)

    def whole(name: str, array: Any) -> Any:
        # As jax.nn has it: dimensions that are not there are the first ones.
        found = _checks.array(name, array)
        return found.reshape((1,) * (4 - found.ndim) + found.shape)

    given: dict[str, Any] = {}
    if bias is not None:
        given["bias"] = _checks.bias(whole("bias", bias), sizes)
    if mask is not None:
        given["mask"] = _checks.mask("mask", whole("mask", mask), sizes, None)
    for name, array in (("query_seq_lengths", query_seq_lengths), ("key_value_seq_lengths", key_value_seq_lengths)):
        if array is not None:
            given[name] = _checks.lengths(name, array, sizes)
    return_residual = _checks.flag("return_residual", return_residual)
    options = {
        "scale": _checks.scale("scale", scale), "causal": _checks.flag("is_causal", is_causal),
        "window": _checks.window("local_window_size", local_window_size), "align": "top_left",
    }  # fmt: skip
    _take_scale(given, options)
    out, lse = _attend(query, key, value, given, **options)
    # jax.nn has the LSE of a row where the row is.
    lse = lse.swapaxes(1, 2)
    if not batched:
        out, lse = out[0], lse[0]
    return (out, lse) if return_residual else out
