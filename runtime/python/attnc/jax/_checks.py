"""What callers give, checked where they give it: an error names their argument, what was expected and what came."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from .. import _checks as shared
from .._core import Error

#: Types that kernels compute with.
FLOATS = ("float32", "float16", "bfloat16")
_TYPES = tuple(jnp.dtype(name) for name in FLOATS)
#: Dimensions of a call, as messages call them.
_WORDS = {"b": "batch entries", "h": "heads", "i": "queries", "j": "keys"}
#: The greatest head dim that kernels have.
_GREATEST_DIM = 256


def said(value: Any) -> str:
    """A value as messages show it."""
    if _is_key(value):
        return "a key of JAX"
    if isinstance(value, jax.core.Tracer):
        return "a value that is traced"
    if isinstance(value, (jax.Array, np.ndarray)):
        return f"an array of {value.dtype} {list(value.shape)}"
    return shared.said(value)


def _plain(value: Any) -> Any:
    """A number without an array around it. What is traced has none."""
    is_array = isinstance(value, (jax.Array, np.ndarray)) and value.shape == () and not isinstance(value, jax.core.Tracer)
    return value.item() if (is_array and not _is_key(value)) or isinstance(value, np.generic) else value


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


_shared = shared.Checks(_plain, said)
flag, integer, number, cap = _shared.flag, _shared.integer, _shared.number, _shared.cap
window, probability, choice = _shared.window, _shared.probability, _shared.choice


def scale(name: str, value: Any) -> Any:
    """A number that is compiled in, None, or one number that is traced."""
    if isinstance(value, jax.core.Tracer) and value.shape == () and jnp.issubdtype(value.dtype, jnp.number):
        if not jnp.issubdtype(value.dtype, jnp.complexfloating):
            return value
    return _shared.scale(name, value)


def seed(value: Any) -> jax.Array:
    """An integer, traced or not, as the words of a seed. What lies on a device is not waited for."""
    chosen = None if isinstance(value, jax.Array) else integer(value)
    if chosen is not None and -(2**63) <= chosen < 2**63:
        return jnp.asarray(np.append(np.array([chosen], np.int64).view(np.int32), np.zeros(2, np.int32)))
    if not isinstance(value, jax.Array) or value.shape != () or not jnp.issubdtype(value.dtype, jnp.integer):
        hint = ": jax.random.bits(key) draws one" if _is_key(value) else ""
        raise Error(f"dropout_seed: expected an integer of 64 bits, got {said(value)}{hint} [S9]")
    if value.dtype.itemsize == 8:
        halves = lax.bitcast_convert_type(value, jnp.int32)
    else:
        low = value.astype(jnp.int32)
        halves = jnp.stack([low, low >> 31 if jnp.issubdtype(value.dtype, jnp.signedinteger) else low * 0])
    return jnp.concatenate([halves, jnp.zeros(2, jnp.int32)])


def seed_of_key(key: Any) -> jax.Array:
    """The words of a seed that a key of JAX draws, traced or not."""
    if key is None:
        raise Error("dropout_rng: expected a key of JAX with deterministic=False, got None")
    try:
        halves = jax.random.bits(key, (2,), "uint32")
    except (TypeError, ValueError):
        raise Error(f"dropout_rng: expected a key of JAX, got {said(key)}") from None
    return jnp.concatenate([lax.bitcast_convert_type(halves, jnp.int32), jnp.zeros(2, jnp.int32)])


def precision(value: Any) -> bool:
    """Whether products of float32 may round to TF32, as "high", "tensorfloat32" and the algorithm TF32_TF32_F32 say, or where
    there is none jax_default_matmul_precision. Raises unless lax takes it: None, a precision or a name of one, a pair of them, or
    an algorithm."""

    def known(part: Any) -> Any:
        if not isinstance(part, str):
            is_one = part is None or isinstance(part, (lax.Precision, lax.DotAlgorithm, lax.DotAlgorithmPreset))
            return part if is_one else said(part)
        try:
            return lax.DotAlgorithmPreset[part] if part in lax.DotAlgorithmPreset.__members__ else lax.Precision(part)
        except ValueError:
            return said(part)

    pair = isinstance(value, (tuple, list)) and len(value) == 2
    parts = [known(part) for part in (value if pair else (value,))]
    if any(isinstance(part, str) for part in parts):
        raise Error(f"precision: expected a precision of JAX or its name, or two of them, got {said(value)}")
    if parts == [None]:
        parts = [known(jax.config.jax_default_matmul_precision)]
    return all(part in (lax.Precision.HIGH, lax.DotAlgorithmPreset.TF32_TF32_F32) for part in parts)


def dtype(name: str, value: Any, known: tuple[str, ...] = (*FLOATS, "float64")) -> None:
    """Raises unless it is None or one of the types of floats."""
    try:
        found = None if value is None else jnp.dtype(value).name
    except TypeError:
        found = ""
    if found is not None and found not in known:
        raise Error(f"{name}: expected {', '.join(known[:-1])} or {known[-1]}, got {found or said(value)}")


# --- Arrays --------------------------------------------------------------------------------------------------------------


def array(name: str, value: Any) -> Any:
    """An array as JAX has it."""
    if isinstance(value, jax.Array):
        return value
    if not isinstance(value, (np.ndarray, np.generic)) and not hasattr(value, "__jax_array__"):
        raise TypeError(f"argument '{name}': expected an array, got {type(value).__name__}")
    return jnp.asarray(value)


def floats(name: str, value: Any) -> Any:
    """An array that kernels compute with."""
    found = array(name, value)
    if found.dtype not in _TYPES:
        raise Error(f"argument '{name}': expected {', '.join(FLOATS[:-1])} or {FLOATS[-1]}, got {found.dtype}")
    return found


def added(name: str, value: Any) -> Any:
    """An array of floats that logits are computed with. One of 64 bits is read as float32; gradients go back to its own type."""
    found = array(name, value)
    return floats(name, found.astype(jnp.float32) if found.dtype == jnp.float64 else found)


def integers(name: str, value: Any) -> Any:
    found = array(name, value)
    if not jnp.issubdtype(found.dtype, jnp.integer):
        raise Error(f"argument '{name}': expected integers, got {found.dtype}")
    return found


def inputs(query: Any, key: Any, value: Any) -> None:
    """Raises where queries, keys and values do not go together."""
    dtype = floats("query", query).dtype
    for name, given in (("query", query), ("key", key), ("value", value)):
        if given.ndim != 4:
            raise Error(f"argument '{name}': expected 4 dimensions, [B, S, H, D], got {given.ndim}")
        if given.dtype != dtype:
            raise Error(f"argument '{name}': expected {dtype}, as 'query' has, got {given.dtype}")
    (batch, _, heads, dim), (key_batch, keys, key_heads, key_dim), (value_batch, values, value_heads, _) = (
        array.shape for array in (query, key, value)
    )
    for name, given in (("query", query), ("value", value)):
        if not 0 < given.shape[3] <= _GREATEST_DIM:
            raise Error(f"argument '{name}': expected a head dim from 1 to {_GREATEST_DIM}, got {given.shape[3]} [S14]")
    if key_heads == 0 or heads % key_heads != 0:
        raise Error(f"argument 'key': expected a number of heads that divides the {heads} of 'query', got {key_heads} [S10]")
    for name, got, axis, wanted in (
        ("key", key_batch, "batch entries", batch), ("value", value_batch, "batch entries", batch),
        ("key", key_dim, "for the head dim", dim), ("value", values, "keys", keys), ("value", value_heads, "heads", key_heads),
    ):  # fmt: skip
        if got != wanted:
            raise Error(f"argument '{name}': expected {wanted} {axis}, got {got}")


def sizes_of(query: Any, key: Any) -> dict[str, int]:
    """The size of each dimension of a call."""
    return {"b": query.shape[0], "h": query.shape[2], "i": query.shape[1], "j": key.shape[1]}


def shape(name: str, given: Any, dims: str, sizes: dict[str, int], *, shared: bool = True, longer: bool = False) -> None:
    """Raises unless an array has the dimensions of a call. shared: those of size 1 serve all. longer: it may go on behind the
    queries and the keys."""
    if given.ndim != len(dims):
        letters = {"b": "B", "h": "H", "i": "Sq", "j": "Sk"}
        raise Error(f"argument '{name}': expected [{', '.join(letters[dim] for dim in dims)}], got {given.ndim} dimensions")
    for dim, size in zip(dims, given.shape, strict=True):
        whole = sizes[dim]
        if size != whole and not (shared and size == 1) and not (longer and dim in "ij" and size > whole):
            raise Error(f"argument '{name}': expected {'1 or ' * shared}{whole} for the {_WORDS[dim]}, got {size}")


def bias(given: Any, sizes: dict[str, int]) -> Any:
    """A bias of four dimensions, without what is behind the last query and the last key: gradients are of what is read."""
    found = dense(added("bias", given))
    shape("bias", found, "bhij", sizes, longer=True)
    rows, columns = sizes["i"], sizes["j"]
    return found[:, :, :rows, :columns] if found.shape[2] > rows or found.shape[3] > columns else found


def mask(name: str, given: Any, sizes: dict[str, int], numbers: Any = jnp.integer) -> Any:
    """A mask of booleans, of four dimensions. numbers: what else it may be of, 0 for what is left out."""
    found = dense(array(name, given))
    if found.dtype != jnp.bool_ and (numbers is None or not jnp.issubdtype(found.dtype, numbers)):
        # Of floats, 0 would stand for what is kept as well: those that are added are biases.
        raise Error(f"argument '{name}': expected bool{' or integers' if numbers else ''}, got {found.dtype}")
    shape(name, found, "bhij", sizes)
    return found if found.dtype == jnp.bool_ else found != 0


def dense(found: Any) -> Any:
    """An array with heads, if it had none."""
    return found[:, None] if found.ndim == 3 else found


def segments(name: str, given: Any, dims: str, sizes: dict[str, int]) -> Any:
    """Ids of segments, of one dimension for batch entries and one for rows."""
    found = integers(name, given)
    shape(name, found, dims, sizes)
    return found.astype(jnp.int32)


def lengths(name: str, given: Any, sizes: dict[str, int]) -> Any:
    found = integers(name, given)
    shape(name, found, "b", sizes, shared=False)
    return found.astype(jnp.int32)


def sinks(given: Any, sizes: dict[str, int]) -> Any:
    """Logits of sinks, [H, n] or [n]."""
    found = added("softmax_aux", given)
    if found.ndim not in (1, 2) or (found.ndim == 2 and found.shape[0] != sizes["h"]):
        raise Error(f"argument 'softmax_aux': expected [{sizes['h']}, n] or [n], got {list(found.shape)} [S6]")
    return found


def cumulative(name: str, given: Any, rows: int) -> Any:
    """Cumulative lengths of packed sequences. What they hold is looked at where it is known without waiting for a device."""
    found = integers(name, given)
    if found.ndim != 1 or found.shape[0] < 2:
        raise Error(f"argument '{name}': expected [sequences + 1], got {list(found.shape)} [S11]")
    if jax.default_backend() == "cpu" and not isinstance(found, jax.core.Tracer):
        held = np.asarray(found)
        if held[0] != 0 or (np.diff(held) < 0).any() or held[-1] > rows:
            raise Error(f"argument '{name}': expected numbers from 0 up to at most {rows}, none below the one before it [S11]")
    return found.astype(jnp.int32)
