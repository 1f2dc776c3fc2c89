"""What a call asks for, apart from its arrays, and the spec of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _mods
from ._core import Error
from ._frameworks import dtype_name
from ._jit import facts_of
from ._trace.capture import Captured, Trace
from ._trace.functions import lift
from ._trace.graph import COORDINATE, FLOAT, INT, float_text
from ._trace.spec import COORDINATES, Extra, Facts, Traced, as_result, begin, finish
from ._trace.values import Value

#: Arrays that a call may have after queries, keys and values, in the order in which they are passed on. Scale: one number, which
#: logits are multiplied by beside the scale that is compiled in. Rows and positions: of what lies anywhere. First rows: where the
#: first query of each batch entry stands.
ARRAYS = (
    "scale", "bias", "mask", "slopes", "q_segment_ids", "kv_segment_ids", "q_positions", "kv_positions", "first_rows",
    "used_keys", "query_seq_lengths", "key_value_seq_lengths", "q_offsets", "kv_offsets", "page_table", "softmax_aux",
    "dropout_seed",
)  # fmt: skip

#: Those that clauses name; regions read the others.
_OF_CLAUSES = (
    "query_seq_lengths", "key_value_seq_lengths", "q_offsets", "kv_offsets", "page_table", "softmax_aux", "dropout_seed",
)  # fmt: skip


class Rule(NamedTuple):
    """One thing that narrows a mask, of rows counted from 0: "causal" (offset), "window" (left, right, offset) or
    "chunk" (size, offset). A kernel computes it, and skips what it leaves out; a dense mask is made only when asked for."""

    kind: str
    numbers: tuple[int, ...]

    def keeps(self, row: Any, column: Any) -> Any:
        """Whether it keeps a key; of arrays or of traced values."""
        if self.kind == "causal":
            return column <= row + self.numbers[0]
        if self.kind == "window":
            left, right, offset = self.numbers
            return (column >= row + (offset - left)) & (column <= row + (offset + right))
        size, offset = self.numbers
        return (row // size == column // size) & (column <= row + offset)


class Options(NamedTuple):
    """What is compiled in."""

    names: tuple[str, ...]
    scale: float | None = None
    causal: bool = False
    #: Keys to the left and to the right; None for all of a side.
    window: tuple[int | None, int | None] | None = None
    softcap: float | None = None
    dropout: float = 0.0
    seed: int = 0
    align: str = "bottom_right"
    #: Of a MaskInfo: they count rows from 0, wherever queries stand.
    rules: tuple[Rule, ...] = ()
    #: `#attn.schedule<...>` for forward and for backward, in place of the compiler's.
    schedule: str | None = None
    backward_schedule: str | None = None
    #: Whether products of float32 may round to TF32.
    tf32: bool = False
    #: Of which of the scale, the bias and the slopes gradients are wanted, in the order of `ARRAYS`.
    learned: tuple[str, ...] = ()

    @property
    def packed(self) -> bool:
        """Whether sequences lie one behind the other, [T, H, D]."""
        return "q_offsets" in self.names

    @property
    def paged(self) -> bool:
        """Whether keys and values lie in pages, [P, rows, H, D]."""
        return "page_table" in self.names

    @property
    def differentiated(self) -> tuple[str, ...]:
        """The arrays that the kernel of gradients has results for after those of queries, keys and values, in that order."""
        return (*(name for name in self.names if name == "softmax_aux"), *self.learned)


def facts_of_arrays(options: Options, q: Any, k: Any, v: Any) -> Facts:
    """What is compiled in of the arrays."""
    shapes = [tuple(array.shape) for array in (q, k, v)]
    # As [B, S, H, D], of which heads and dims count.
    shapes = [(1, *shape[-3:]) if options.packed or options.paged else shape for shape in shapes]
    dtypes = (dtype_name(q), dtype_name(k), dtype_name(v))
    return facts_of((shapes[0], shapes[1], shapes[2]), dtypes, options.scale, options.align, options.tf32)


def trace(options: Options, q: Any, k: Any, v: Any, *arrays: Any, weights: bool = False) -> Traced:
    """The spec of a call with arrays, or shapes, such as these: [B, S, H, D] or packed, and what `options.names` says.
    weights: of the kernel that gives the weights alone."""
    given = dict(zip(options.names, arrays, strict=True))
    facts = facts_of_arrays(options, q, k, v)
    sizes = (q.shape[0], q.shape[1], k.shape[1])
    if options.packed:
        sizes = (given["q_offsets"].shape[0] - 1, q.shape[0], k.shape[0])
    page_rows = k.shape[1] if options.paged else 0
    if options.paged:
        sizes = (*sizes[:2], given["page_table"].shape[1] * page_rows)
    known = begin(facts, sizes, lambda array: any(array is given[name] for name in options.learned))
    b, h, i, j = (known.argument(name, INT, COORDINATE) for name in COORDINATES)
    captured = {name: Captured(known, name, array) for name, array in given.items() if name not in _OF_CLAUSES}
    score = _score(options, known, captured, b, h, i, j)
    mask = _mask(options, captured, b, h, i, j, _first_row(options, known, q, k))
    return finish(
        facts,
        known,
        None if score is None else as_result(known, score, "score_mod", "score"),
        None if mask is None else as_result(known, mask, "mask_mod", "mask"),
        _extra(options, given),
        weights,
        options.packed,
        page_rows,
    )


def _first_row(options: Options, known: Trace, q: Any, k: Any) -> Any:
    """Where the first query stands, if rules have to know. A number of the call: another length compiles nothing."""
    if not options.rules or options.align == "top_left" or q.shape[1] == k.shape[1]:
        return 0
    return known.number("first_row", k.shape[1] - q.shape[1])


def _score(options: Options, known: Trace, captured: dict[str, Captured], b: Any, h: Any, i: Any, j: Any) -> Value | None:
    """A bias is added before the cap, as in the formulas of those who have both."""
    if options.softcap is None and not any(name in captured for name in ("scale", "bias", "slopes")):
        return None
    score: Any = known.argument("%s", FLOAT)
    if "scale" in captured:
        score = score * captured["scale"][0]
    if "bias" in captured:
        score = score + captured["bias"][b, h, i, j]
    if options.softcap is not None:
        score = options.softcap * _mods.tanh(score / options.softcap)
    if "slopes" in captured:
        # Of ALiBi, as FlashAttention has it: after the cap.
        slopes = captured["slopes"]
        score = score - (slopes[h] if slopes.ndim == 1 else slopes[b, h]) * abs(i - j)
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
    if "first_rows" in captured:
        row = row + captured["first_rows"][b]
    if options.causal:
        kept.append(column <= row)
    if options.window is not None:
        left, right = options.window
        kept += [] if left is None else [row - column <= left]
        kept += [] if right is None else [column - row <= right]
    if "used_keys" in captured:
        kept.append(column < captured["used_keys"][b])
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
    for name, side in (("query_seq_lengths", "query"), ("key_value_seq_lengths", "key")):
        if name in given:
            tensors.append((name, "tensor<?xi32>", given[name]))
            lengths.append(f"{side} = %{name} : tensor<?xi32>")
    if lengths:
        clauses += f" lengths({', '.join(lengths)})"
    if options.packed:
        offsets = [name for name in ("q_offsets", "kv_offsets") if name in given]
        tensors += [(name, "tensor<?xi32>", given[name]) for name in offsets]
        sides = (f"{side} = %{name} : tensor<?xi32>" for side, name in zip(("query", "key"), offsets))
        clauses += f" varlen({', '.join(sides)})"
    if options.paged:
        tensors.append(("page_table", "tensor<?x?xi32>", given["page_table"]))
        clauses += " paged(%page_table : tensor<?x?xi32>)"
    if "softmax_aux" in given:
        sinks = given["softmax_aux"]
        element = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(dtype_name(sinks))
        if element is None:
            raise Error(f"argument 'softmax_aux': expected float32, float16 or bfloat16, got {dtype_name(sinks)}")
        type = f"tensor<{'x'.join(str(size) for size in sinks.shape)}x{element}>"
        tensors.append(("sinks", type, sinks))
        clauses += f" sinks(%sinks : {type})"
    if "dropout_seed" in given:
        words = given["dropout_seed"]
        type = f"tensor<{words.shape[0]}xi32>"
        tensors.append(("dropout_seed", type, words))
        clauses += f" dropout({float_text(options.dropout)}, %dropout_seed : {type})"
    elif options.dropout:
        clauses += f" dropout({float_text(options.dropout)}, %seed)"
        numbers.append(("seed", "i64", options.seed))
    return Extra(clauses, tuple(tensors), tuple(numbers))
