"""The text of a spec from a score and a mask function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .capture import Capture, Trace
from .errors import TraceError
from .functions import lift, to_type
from .graph import BOOL, FLOAT, Node, float_text
from .values import Value


class Facts(NamedTuple):
    """What is compiled in of queries, keys and values."""

    dtype: str
    query_heads: int
    key_heads: int
    head_dim: int
    value_head_dim: int
    scale: float | None
    align: str


class Traced(NamedTuple):
    """A spec, and what a call of its kernel takes after queries, keys and values."""

    text: str
    arrays: tuple[Any, ...]
    names: tuple[str, ...]
    numbers: tuple[int, ...]


_COORDINATES = ("%b", "%h", "%i", "%j")
_DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def trace(
    facts: Facts,
    score_mod: Callable[..., Any] | None,
    mask_mod: Callable[..., Any] | None,
    sizes: tuple[int, int, int],
) -> Traced:
    """The spec of score_mod(score, b, h, q_idx, kv_idx) and mask_mod(b, h, q_idx, kv_idx).

    sizes: of the batch, the queries and the keys of this call. The spec serves all others too, where captured arrays relate
    to them in the same way.
    """
    batch, queries, keys = sizes
    known = Trace(dict(zip(_COORDINATES, (batch, facts.query_heads, queries, keys), strict=True)))
    capture = Capture(known)
    coordinates = [known.argument(name, "index") for name in _COORDINATES]
    score = mask = None
    if score_mod is not None:
        result = _run(capture, score_mod, "score_mod", (known.argument("%s", FLOAT), *coordinates))
        score = _as_result(known, result, FLOAT, "score_mod", score_mod)
    if mask_mod is not None:
        result = _run(capture, mask_mod, "mask_mod", tuple(coordinates))
        mask = _as_result(known, result, BOOL, "mask_mod", mask_mod)
    return Traced(
        _write(facts, known, score, mask),
        tuple(tensor.array for tensor in known.tensors),
        tuple(tensor.name for tensor in known.tensors),
        tuple(known.sizes.values()),
    )


def _run(capture: Capture, function: Callable[..., Any], role: str, arguments: tuple[Value, ...]) -> Any:
    if not callable(function):
        raise TypeError(f"{role}: expected a function, got {type(function).__name__}")
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        names = "(b, h, q_idx, kv_idx)" if role == "mask_mod" else "(score, b, h, q_idx, kv_idx)"
        raise TypeError(f"{role}: expected a function of {names}, got one of {_signature(function)}") from None
    except ValueError:
        pass
    return capture.function(function)(*arguments)


def _signature(function: Callable[..., Any]) -> str:
    return str(inspect.signature(function))


def _as_result(known: Trace, result: Any, type: str, role: str, function: Callable[..., Any]) -> Node:
    """What a function returned, as its region yields it."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", role)
    if result is None or isinstance(result, (tuple, list)):
        raise TraceError(f"{role} '{name}' returned {_describe(result)}, expected one traced value")
    value = lift(known.graph, result)
    if type == BOOL and value.type != BOOL:
        raise TraceError(f"mask_mod '{name}' returned a number, expected a bool: compare it")
    if type == FLOAT and value.type == BOOL:
        raise TraceError(f"score_mod '{name}' returned a bool, expected a score: return attnc.where(keep, score, -inf)")
    return to_type(value, type).node


def _describe(result: Any) -> str:
    return "None" if result is None else f"a {type(result).__name__}"


def _write(facts: Facts, known: Trace, score: Node | None, mask: Node | None) -> str:
    element = _DTYPES[facts.dtype]

    def heads(count: int, size: int) -> str:
        return f"tensor<?x?x{count}x{size}x{element}>"

    query, key = heads(facts.query_heads, facts.head_dim), heads(facts.key_heads, facts.head_dim)
    value, out = heads(facts.key_heads, facts.value_head_dim), heads(facts.query_heads, facts.value_head_dim)
    lse = f"tensor<?x{facts.query_heads}x?xf32>"
    arguments = [f'%{name}: {type} {{attn.name = "{name}"}}' for name, type in zip("qkv", (query, key, value), strict=True)]
    types = {f"${tensor.name}$": known.tensor_type(tensor) for tensor in known.tensors}
    for tensor in known.tensors:
        arguments.append(f'%{tensor.name}: {types[f"${tensor.name}$"]} {{attn.name = "{tensor.name}"}}')
    arguments += [f'%{name}: index {{attn.name = "{name}"}}' for name in known.sizes]
    comma = ",\n                     "
    lines = [
        f"func.func @attention({comma.join(arguments)})",
        f'    -> ({out} {{attn.name = "out"}}, {lse} {{attn.name = "lse"}}) {{',
        "  %o, %lse = attn.forward %q, %k, %v" + ("" if facts.scale is None else f" scale({float_text(facts.scale)})"),
    ]
    if facts.align != "bottom_right":
        lines[-1] += f" align({facts.align})"
    for region, node, given in (("score", score, "%s, %b, %h, %i, %j"), ("mask", mask, "%b, %h, %i, %j")):
        if node is not None:
            lines += [f"    {region} ({given}) {{", *known.graph.write(node, "      "), "    }"]
    lines += [f"    : ({query}, {key}, {value}) -> ({out}, {lse})", f"  return %o, %lse : {out}, {lse}", "}", ""]
    text = "\n".join(lines)
    for place, type in types.items():
        text = text.replace(place, type)
    return text
