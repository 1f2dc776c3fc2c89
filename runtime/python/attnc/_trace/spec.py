"""The text of a spec from a score and a mask function."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from . import activations as _activations  # noqa: F401  # puts what others are made of into the table
from . import choices as _choices  # noqa: F401  # the same
from . import memo
from .autograd import refusal_of_torch
from .capture import Caller, Trace, WantsGradient
from .copies import Capture
from .errors import TraceError, Watch, refusal_of_jax
from .functions import lift, to_type
from .graph import BOOL, FLOAT, Node, float_text
from .values import Value
from .vectors import vector_of


#: What a spec says whose gradients have the same bits in every run.
DETERMINISTIC, TF32 = "attn.deterministic", "attn.tf32"
_ATTRIBUTES_OF_TF32 = f"attributes {{{TF32}}}"


class Facts(NamedTuple):
    """What is compiled in of queries, keys and values."""

    dtype: str
    query_heads: int
    key_heads: int
    head_dim: int
    value_head_dim: int
    scale: float | None
    align: str
    #: Whether products of float32 may round to TF32.
    tf32: bool = False


class Extra(NamedTuple):
    """What a kernel has apart from score and mask: clauses, and the arguments that they name."""

    clauses: str = ""
    #: Name, type and array of tensors, which come after those of the functions; name, type and value of scalars.
    tensors: tuple[tuple[str, str, Any], ...] = ()
    numbers: tuple[tuple[str, str, int], ...] = ()


class Traced(NamedTuple):
    """A spec, and what a call of its kernel takes after queries, keys and values."""

    text: str
    arrays: tuple[Any, ...]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    #: Whether it asks which batch entry, or which head, it computes.
    asks_batch: bool = False
    asks_head: bool = False
    #: The tensors that the kernel of gradients has results for after those of queries, keys and values, in that order.
    differentiated: tuple[str, ...] = ()
    #: Of each of the arrays the dimensions that a number has indexed, with their numbers: the kernel does not see them.
    chosen: tuple[dict[int, int], ...] = ()
    #: How many elements of each of the others are passed, or None for all.
    passed: tuple[tuple[int, ...] | None, ...] = ()
    #: The text that this kernel is made of: of captured tensors that nobody learns there is no gradient.
    backward_text: str = ""


#: The batch entry, the query head, the query and the key, as regions name them.
COORDINATES = ("%b", "%h", "%i", "%j")
_DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def trace(
    facts: Facts,
    score_mod: Callable[..., Any] | None,
    mask_mod: Callable[..., Any] | None,
    sizes: tuple[int, int, int],
    wants_gradient: WantsGradient | None = None,
    caller: Caller | None = None,
) -> Traced:
    """The spec of score_mod(score, b, h, q_idx, kv_idx) and mask_mod(b, h, q_idx, kv_idx).

    sizes: of the batch, the queries and the keys of this call. The spec serves all others too, where captured arrays relate
    to them in the same way. wants_gradient: which captured arrays are learned; None for none of them.
    """
    owner = score_mod if score_mod is not None else mask_mod
    # Functions without an identity of their own, methods say, are traced each time.
    key = (facts, sizes, mask_mod if isinstance(mask_mod, types.FunctionType) else None, wants_gradient, caller)
    if owner is None:
        return _plain(facts)
    remembered = isinstance(owner, types.FunctionType) and (mask_mod is None or key[2] is not None)
    if remembered and (found := memo.find(owner, key)) is not None:
        return found  # type: ignore[no-any-return]
    traced, reads = _trace(facts, score_mod, mask_mod, sizes, wants_gradient, caller)
    if remembered:
        memo.keep(owner, key, reads, traced)
    return traced


@functools.lru_cache(maxsize=256)
def _plain(facts: Facts) -> Traced:
    """The spec without functions."""
    return _trace(facts, None, None, (2, 2, 2), None)[0]


def _trace(
    facts: Facts,
    score_mod: Callable[..., Any] | None,
    mask_mod: Callable[..., Any] | None,
    sizes: tuple[int, int, int],
    wants_gradient: WantsGradient | None,
    caller: Caller | None = None,
) -> tuple[Traced, memo.Reads]:
    """The spec, and what the functions read."""
    known = begin(facts, sizes, wants_gradient, caller)
    capture = Capture(known)
    coordinates = [known.argument(name, "index") for name in COORDINATES]
    score = mask = None
    if score_mod is not None:
        result = _run(capture, score_mod, "score_mod", (known.argument("%s", FLOAT), *coordinates))
        score = as_result(known, result, "score_mod", _name(score_mod))
    if mask_mod is not None:
        result = _run(capture, mask_mod, "mask_mod", tuple(coordinates))
        mask = as_result(known, result, "mask_mod", _name(mask_mod))
    if wants_gradient is not None:
        for array, answer in known.asked:
            capture.reads.answer(wants_gradient, array, answer)
    return finish(facts, known, score, mask), capture.reads


def finish(
    facts: Facts, known: Trace, score: Node | None, mask: Node | None, extra: Extra = Extra(), weights: bool = False,
    packed: bool = False, page_rows: int = 0,
) -> Traced:  # fmt: skip
    """The spec of what functions returned. weights: of the kernel that gives the weights alone. packed: of [T, H, D] tensors.
    page_rows: of the pages that keys and values lie in, or 0."""
    asked = known.graph.arguments([node for node in (score, mask) if node is not None])
    learned = () if score is None else tuple(tensor.name for tensor in known.learned(score))
    text = _write(facts, known, score, mask, extra, weights, packed, page_rows, None)
    is_other = bool(learned) or (score is not None and known.graph.stops(score))
    return Traced(
        text,
        (*(tensor.array for tensor in known.tensors), *(array for _, _, array in extra.tensors)),
        (*(tensor.name for tensor in known.tensors), *(name for name, _, _ in extra.tensors)),
        (*known.sizes.values(), *(value for _, _, value in extra.numbers)),
        "%b" in asked,
        "%h" in asked,
        # Gradients of sinks are there whether they are wanted or not.
        (*(name for name, _, _ in extra.tensors if name == "sinks"), *learned),
        (*(tensor.chosen for tensor in known.tensors), *({} for _ in extra.tensors)),
        (
            *(None if tensor.passed == list(tensor.sizes) else tuple(tensor.passed) for tensor in known.tensors),
            *(None for _ in extra.tensors),
        ),
        _write(facts, known, score, mask, extra, weights, packed, page_rows, learned) if is_other else text,
    )


def begin(
    facts: Facts, sizes: tuple[int, int, int], wants_gradient: WantsGradient | None = None, caller: Caller | None = None
) -> Trace:
    """A trace in which nothing has been computed yet."""
    batch, queries, keys = sizes
    rows = max(queries, keys) if facts.align == "bottom_right" else queries
    return Trace(dict(zip(COORDINATES, (batch, facts.query_heads, queries, keys), strict=True)), rows, wants_gradient, caller)


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
    with Watch():
        try:
            return capture.function(function)(*arguments)
        except (TypeError, RuntimeError) as error:
            refusal = (refusal_of_jax(error) if isinstance(error, TypeError) else None) or refusal_of_torch(error)
            if refusal is None:
                raise
            raise refusal from error


def _signature(function: Callable[..., Any]) -> str:
    return str(inspect.signature(function))


def _name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def as_result(known: Trace, result: Any, role: str, name: str) -> Node:
    """What the score_mod or mask_mod `name` returned, as its region yields it."""
    type = BOOL if role == "mask_mod" else FLOAT
    if result is None or isinstance(result, (tuple, list)):
        raise TraceError(f"{role} '{name}' returned {_describe(result)}, expected one traced value")
    vector = vector_of(result)
    if vector is not None:
        raise TraceError(f"{role} '{name}' returned a row of {len(vector)} elements, expected one traced value")
    value = lift(known.graph, result)
    if type == BOOL and value.type != BOOL:
        raise TraceError(f"mask_mod '{name}' returned a number, expected a bool: compare it")
    if type == FLOAT and value.type == BOOL:
        raise TraceError(f"score_mod '{name}' returned a bool, expected a score: return attnc.where(keep, score, -inf)")
    return to_type(value, type).node


def deterministic(text: str) -> str:
    """The same spec, whose gradients have the same bits in every run."""
    if f") {_ATTRIBUTES_OF_TF32} {{\n" in text:
        return text.replace(_ATTRIBUTES_OF_TF32, f"attributes {{{DETERMINISTIC}, {TF32}}}", 1)
    # The only line before the body that ends so: the results of the function.
    return text.replace(") {\n", f") attributes {{{DETERMINISTIC}}} {{\n", 1)


def _describe(result: Any) -> str:
    return "None" if result is None else f"a {type(result).__name__}"


def _write(
    facts: Facts, known: Trace, score: Node | None, mask: Node | None, extra: Extra, weights: bool, packed: bool,
    page_rows: int, differentiated: tuple[str, ...] | None,
) -> str:  # fmt: skip
    """The text. differentiated: of the kernel of gradients, the captured tensors that it asks those of."""
    learned = differentiated or ()
    element = _DTYPES[facts.dtype]

    rows = "" if packed else "?x"
    key_rows = f"{page_rows}x" if page_rows else rows

    def heads(rows: str, count: int, size: int) -> str:
        return f"tensor<?x{rows}{count}x{size}x{element}>"

    query, key = heads(rows, facts.query_heads, facts.head_dim), heads(key_rows, facts.key_heads, facts.head_dim)
    value, out = heads(key_rows, facts.key_heads, facts.value_head_dim), heads(rows, facts.query_heads, facts.value_head_dim)
    lse = f"tensor<{'' if packed else '?x'}{facts.query_heads}x?xf32>"
    arguments = [f'%{name}: {type} {{attn.name = "{name}"}}' for name, type in zip("qkv", (query, key, value), strict=True)]
    if weights:
        del arguments[2]
    types = {f"${tensor.name}$": known.tensor_type(tensor, tensor.name in learned) for tensor in known.tensors}
    for tensor in known.tensors:
        mark = ", attn.requires_grad" if tensor.name in learned else ""
        arguments.append(f'%{tensor.name}: {types[f"${tensor.name}$"]} {{attn.name = "{tensor.name}"{mark}}}')
    arguments += [f'%{name}: {type} {{attn.name = "{name}"}}' for name, type, _ in extra.tensors]
    arguments += [f'%{name}: index {{attn.name = "{name}"}}' for name in known.sizes]
    arguments += [f'%{name}: {type} {{attn.name = "{name}"}}' for name, type, _ in extra.numbers]
    comma = ",\n                     "
    if weights:
        named = {"%w": ("weights", f"tensor<?x{facts.query_heads}x?x?x{element}>")}
        call, operands = "attn.weights %q, %k", (query, key)
    else:
        named = {"%o": ("out", out), "%lse": ("lse", lse)}
        call, operands = "attn.forward %q, %k, %v", (query, key, value)
    results = ", ".join(type for _, type in named.values())
    described = ", ".join(f'{type} {{attn.name = "{name}"}}' for name, type in named.values())
    lines = [
        f"func.func @attention({comma.join(arguments)})",
        f"    -> ({described}) {_ATTRIBUTES_OF_TF32 + ' ' if facts.tf32 else ''}{{",
        f"  {', '.join(named)} = {call}" + ("" if facts.scale is None else f" scale({float_text(facts.scale)})"),
    ]
    if facts.align != "bottom_right":
        lines[-1] += f" align({facts.align})"
    lines[-1] += extra.clauses
    for region, node, given in (("score", score, "%s, %b, %h, %i, %j"), ("mask", mask, "%b, %h, %i, %j")):
        if node is not None:
            lines += [f"    {region} ({given}) {{", *known.graph.write(node, "      ", differentiated is not None), "    }"]
    returned = results if weights else f"({results})"
    lines += [f"    : ({', '.join(operands)}) -> {returned}", f"  return {', '.join(named)} : {results}", "}", ""]
    text = "\n".join(lines)
    for place, type in types.items():
        text = text.replace(place, type)
    return text
