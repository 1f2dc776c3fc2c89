"""What a call asks for, apart from its arrays, and the spec of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from .. import _mods
from .._core import Error
from .._jit import facts_of
from .._trace.capture import Captured, Trace
from .._trace.functions import lift
from .._trace.graph import COORDINATE, FLOAT, INT, float_text
from .._trace.spec import COORDINATES, Extra, Facts, Traced, as_result, begin, finish
from .._trace.values import Value
from ._mask import Rule

#: Arrays that a call may have after queries, keys and values, in the order in which they are passed on.
ARRAYS = (
    "bias", "mask", "q_segment_ids", "kv_segment_ids", "q_positions", "kv_positions", "q_lengths", "kv_lengths",
    "softmax_aux",
)  # fmt: skip


class Options(NamedTuple):
    """What is compiled in."""

    names: tuple[str, ...]
    scale: float | None = None
    causal: bool = False
    window: tuple[int, int] | None = None
    softcap: float | None = None
    dropout: float = 0.0
    seed: int = 0
    align: str = "bottom_right"
    #: Of a MaskInfo: they count rows from 0, wherever queries stand.
    rules: tuple[Rule, ...] = ()
    #: `#attn.schedule<...>` for forward and for backward, in place of the compiler's.
    schedule: str | None = None
    backward_schedule: str | None = None


def facts_of_arrays(options: Options, q: Any, k: Any, v: Any) -> Facts:
    """What is compiled in of the arrays."""
    dtypes = (str(q.dtype), str(k.dtype), str(v.dtype))
    return facts_of((q.shape, k.shape, v.shape), dtypes, options.scale, options.align)


def trace(options: Options, q: Any, k: Any, v: Any, *arrays: Any, weights: bool = False) -> Traced:
    """The spec of a call with arrays, or shapes, such as these: [B, S, H, D] and what `options.names` says. weights: of the
    kernel that gives the weights alone."""
    given = dict(zip(options.names, arrays, strict=True))
    facts = facts_of_arrays(options, q, k, v)
    known = begin(facts, (q.shape[0], q.shape[1], k.shape[1]))
    b, h, i, j = (known.argument(name, INT, COORDINATE) for name in COORDINATES)
    captured = {name: Captured(known, name, array) for name, array in given.items() if name != "softmax_aux"}
    score = _score(options, known, captured, b, h, i, j)
    mask = _mask(options, captured, b, h, i, j, _first_row(options, known, q, k))
    return finish(
        facts,
        known,
        None if score is None else as_result(known, score, "score_mod", "score"),
        None if mask is None else as_result(known, mask, "mask_mod", "mask"),
        _extra(options, given),
        weights,
    )


def _first_row(options: Options, known: Trace, q: Any, k: Any) -> Any:
    """Where the first query stands, if rules have to know. A number of the call: another length compiles nothing."""
    if not options.rules or options.align == "top_left" or q.shape[1] == k.shape[1]:
        return 0
    return known.number("first_row", k.shape[1] - q.shape[1])


def _score(options: Options, known: Trace, captured: dict[str, Captured], b: Any, h: Any, i: Any, j: Any) -> Value | None:
    """A bias is added before the cap, as in the formulas of those who have both."""
    if "bias" not in captured and options.softcap is None:
        return None
    score: Any = known.argument("%s", FLOAT)
    if "bias" in captured:
        score = score + captured["bias"][b, h, i, j]
    if options.softcap is not None:
        score = options.softcap * _mods.tanh(score / options.softcap)
    return lift(known.graph, score)


def _mask(
    options: Options, captured: dict[str, Captured], b: Any, h: Any, i: Any, j: Any, first_row: Any
) -> Any:
    kept = [rule.keeps(i - first_row, j) for rule in options.rules]
    if "q_positions" in captured:
        # Of rows that lie anywhere.
        row, column = captured["q_positions"][b, i], captured["kv_positions"][b, j]
    else:
        row, column = i, j
    if options.causal:
        kept.append(column <= row)
    if options.window is not None:
        left, right = options.window
        kept += [row - column <= left, column - row <= right]
    if "mask" in captured:
        kept.append(captured["mask"][b, h, i, j])
    if "q_segment_ids" in captured:
        query, key = captured["q_segment_ids"][b, i], captured["kv_segment_ids"][b, j]
        kept += [query == key, query >= 0]
    if not kept:
        return None
    result = kept[0]
    for condition in kept[1:]:
        result = result & condition
    return result


def _extra(options: Options, given: dict[str, Any]) -> Extra:
    clauses, tensors, numbers = "", [], []
    lengths = []
    for name, side in (("q_lengths", "query"), ("kv_lengths", "key")):
        if name in given:
            tensors.append((name, "tensor<?xi32>", given[name]))
            lengths.append(f"{side} = %{name} : tensor<?xi32>")
    if lengths:
        clauses += f" lengths({', '.join(lengths)})"
    if "softmax_aux" in given:
        sinks = given["softmax_aux"]
        element = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(str(sinks.dtype))
        if element is None:
            raise Error(f"argument 'softmax_aux': expected float32, float16 or bfloat16, got {sinks.dtype}")
        type = f"tensor<{'x'.join(str(size) for size in sinks.shape)}x{element}>"
        tensors.append(("sinks", type, sinks))
        clauses += f" sinks(%sinks : {type})"
    if options.dropout:
        clauses += f" dropout({float_text(options.dropout)}, %seed)"
        numbers.append(("seed", "i64", options.seed))
    return Extra(clauses, tuple(tensors), tuple(numbers))


def results_of(q: Any, v: Any) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    """The shapes of the output and of the LSE."""
    batch, rows, heads, _ = q.shape
    return (
        jax.ShapeDtypeStruct((batch, rows, heads, v.shape[3]), q.dtype),
        jax.ShapeDtypeStruct((batch, heads, rows), "float32"),
    )
