"""Makes a case that shows a fault small: a few lines that still show it.

attnc-reduce cuts IR alone. Here inputs go with the spec: sizes, heads and tensors shrink along with the text, and what is
left is checked to be well conditioned, so that the small case is as good a proof as the large one.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

import numpy as np

from builder import STEPS
from generate import Case
from reference import compute_logits, run_spec
from regions import Evaluator, make_grid
from scalars import Precision, is_float
from schedules import Schedule
from spec import Kernel, Op, Spec, shape_of, tensor_type


def is_sound(case: Case) -> bool:
    """Whether right answers to the case agree: numbers are finite, and nothing steps where rounding decides."""
    spec = case.spec
    try:
        exact, base = (run_spec(spec, case.inputs, precision) for precision in Precision)
        for kernel in spec.kernels:
            grid = make_grid(spec, kernel, case.inputs)
            for name, region in kernel.regions():
                evaluators = []
                for precision in Precision:
                    logits = compute_logits(spec, kernel, case.inputs, grid, precision) if name == "score" else None
                    evaluators.append(Evaluator(spec, grid, case.inputs, region, precision, logits))
                for op in region.ops:
                    first, second = (evaluator.run(op) for evaluator in evaluators)
                    if op.name in STEPS and not np.array_equal(first, second):
                        return False
    except (ValueError, IndexError, KeyError, FloatingPointError, OverflowError):
        return False
    for name, value in exact.items():
        empty = value == -np.inf
        if not np.isfinite(value[~empty]).all() or not np.array_equal(base[name] == -np.inf, empty):
            return False
        greatest = max(1.0, np.abs(value[~empty]).max(initial=0))
        if (np.abs(value[~empty] - base[name][~empty]) > 0.05 * greatest).any():
            return False
    case.expected = exact
    return not case.backward or case.compute_gradients()


def clone(case: Case) -> Case:
    return dataclasses.replace(case, spec=case.spec.copy(), inputs=dict(case.inputs), expected=dict(case.expected))


def settle(case: Case) -> Case:
    """Drops what the spec no longer reads."""
    case.spec.prune()
    case.inputs = {name: case.inputs[name] for name in case.spec.arguments}
    return case


# --- Sizes ------------------------------------------------------------------------------------------------------------


def places_of(spec: Spec, kernel: Kernel, axis: str) -> set[tuple[str, int]]:
    """The dimensions of arguments that have the size of an axis: "b", "h", "i" or "j"."""
    packed, places = kernel.packed, set()
    query, *others = kernel.tensors
    rows = 0 if packed else 1
    if axis == "i":
        places.add((query, rows))
    elif axis == "j":
        places.update((name, rows) for name in others)
    elif axis == "b" and not packed:
        places.update((name, 0) for name in kernel.tensors)
        places.update((name, 0) for name in kernel.clauses.get("lengths", {}).values())
    elif axis == "h":
        places.add((query, rows + 1))
        sinks = kernel.clauses.get("sinks")
        if isinstance(sinks, str) and len(shape_of(spec.arguments[sinks])[0]) == 2:
            places.add((sinks, 0))
    for _, region in kernel.regions():
        name = dict(zip("bhij", region.arguments[-4:]))[axis]
        for op in region.ops:
            for load in op.loads:
                places.update((load.tensor, dim) for dim, index in enumerate(load.indices) if index == name)
    return places


def cut(case: Case, name: str, dim: int, size: int, old: int) -> None:
    value = case.inputs[name]
    if value.shape[dim] != old:
        return
    case.inputs[name] = np.take(value, range(size), axis=dim)
    sizes, element = shape_of(case.spec.arguments[name])
    if sizes[dim] is not None:
        sizes[dim] = size
    case.spec.arguments[name] = tensor_type(sizes, element)


def with_axis(case: Case, axis: str, size: int) -> Case | None:
    """The case with fewer batch entries, heads, queries or keys."""
    small = clone(case)
    kernel = small.spec.kernels[0]
    query, key = (small.inputs[name] for name in kernel.tensors[:2])
    packed = kernel.packed
    rows = 0 if packed else 1
    old = {"b": query.shape[0], "h": query.shape[rows + 1], "i": query.shape[rows], "j": key.shape[rows]}[axis]
    # Pages are taken away as a whole (see `without_pages`), or stay.
    if (axis == "b" and packed) or (axis != "i" and kernel.page_table):
        return None
    if old <= size:
        return None
    places = set()
    for kernel in small.spec.kernels:
        places |= places_of(small.spec, kernel, axis)
        if axis == "h":
            heads = small.inputs[kernel.tensors[1]].shape[rows + 1]
            for name in kernel.tensors[1:]:
                cut(small, name, rows + 1, 1, heads)
        for clause in ("lengths", "varlen"):
            tensors = kernel.clauses.get(clause, {})
            side = {"i": "query", "j": "key"}.get(axis)
            if side in tensors:
                small.inputs[tensors[side]] = np.minimum(small.inputs[tensors[side]], size)
    for name, dim in places:
        cut(small, name, dim, size, old)
    return small


def with_dim(case: Case, size: int) -> Case | None:
    small = clone(case)
    for kernel in small.spec.kernels:
        for name in dict.fromkeys(kernel.tensors):
            if small.inputs[name].shape[-1] > size:
                cut(small, name, small.inputs[name].ndim - 1, size, small.inputs[name].shape[-1])
    return small if small.spec.arguments != case.spec.arguments else None


def without_pages(case: Case) -> Case | None:
    """With keys and values as they are, in no pages."""
    small = clone(case)
    tables = {kernel.clauses.pop("paged", None) for kernel in small.spec.kernels} - {None}
    if not tables or any(kernel.packed for kernel in small.spec.kernels):
        return None
    table = small.inputs[str(tables.pop())]
    for name in {name for kernel in small.spec.kernels for name in kernel.tensors[1:]}:
        value = small.inputs[name]
        rows = value[np.clip(table, 0, len(value) - 1)]
        small.inputs[name] = rows.reshape(len(table), -1, *value.shape[2:])
        (_, _, *others), element = shape_of(small.spec.arguments[name])
        small.spec.arguments[name] = tensor_type([None, None, *others], element)
    return settle(small)


# --- Steps ------------------------------------------------------------------------------------------------------------


def drops(case: Case) -> Iterator[Case]:
    """Without a result, a kernel, a clause or a region."""
    spec = case.spec
    for kernel in spec.kernels:
        if len(spec.kernels) > 1:
            small = clone(case)
            small.spec.returns = [one for one in spec.returns if one[0] not in kernel.results]
            if small.spec.returns:
                yield small
    for n in range(len(spec.returns)):
        if len(spec.returns) > 1:
            small = clone(case)
            del small.spec.returns[n]
            yield small
    for n, kernel in enumerate(spec.kernels):
        returned = {value for value, _ in spec.returns}
        if len(kernel.results) > 1 and kernel.results[1] not in returned:
            small = clone(case)
            del small.spec.kernels[n].results[1]
            yield small
        for name in ("score", "mask"):
            if getattr(kernel, name):
                small = clone(case)
                setattr(small.spec.kernels[n], name, None)
                yield small
        for name in kernel.clauses:
            if name not in ("varlen", "paged"):
                small = clone(case)
                del small.spec.kernels[n].clauses[name]
                yield small


def reschedules(case: Case) -> Iterator[Case]:
    """With a plainer schedule, or one instead of several."""
    for n, kernel in enumerate(case.spec.kernels):
        schedules = kernel.schedules
        if len(schedules) > 1:
            for one in schedules:
                fields = {name: value for name, value in one.fields.items() if name != "when"}
                small = clone(case)
                small.spec.kernels[n].clauses["schedule"] = [Schedule(fields, dict(one.pipeline))]
                yield small
        for place, one in enumerate(schedules):
            for other in one.plainer():
                small = clone(case)
                small.spec.kernels[n].schedules[place] = other
                yield small


def shrinks(case: Case) -> Iterator[Case]:
    if small := without_pages(case):
        yield small
    for axis in "bhij":
        for size in (1, 2, 16, 33, 64, 65, 100, 129, 200):
            if small := with_axis(case, axis, size):
                yield small
    for size in (8, 16, 64):
        if small := with_dim(case, size):
            yield small


def rewires(case: Case) -> Iterator[Case]:
    """With one value of a region for another: earlier ones, or constants."""
    for n, kernel in enumerate(case.spec.kernels):
        for name, region in kernel.regions():
            types = dict(zip(region.arguments[-4:], ["index"] * 4))
            if name == "score":
                types[region.arguments[0]] = "f32"
            before: list[dict[str, str]] = []
            for op in region.ops:
                before.append(dict(types))
                types[op.result] = op.result_type
            for place in reversed(range(len(region.ops))):
                op = region.ops[place]
                others = [other for other, kind in before[place].items() if kind == op.result_type]
                # Its own operands first: they keep most of what it says.
                others.sort(key=lambda other: other not in op.operands)
                for other in others[:6]:
                    small = clone(case)
                    target = getattr(small.spec.kernels[n], name)
                    for later in target.ops:
                        later.rename({op.result: other})
                    target.result = other if target.result == op.result else target.result
                    yield small
                if op.name != "arith.constant":
                    values = (0, -1) if op.result_type == "i1" else (0.0, 1.0) if is_float(op.result_type) else (0, 1, 5)
                    for value in values:
                        small = clone(case)
                        target = getattr(small.spec.kernels[n], name)
                        target.ops[place] = Op(op.result, "arith.constant", [], [op.result_type], value=value)
                        yield small


def simplify_values(case: Case) -> Iterator[Case]:
    """Smaller numbers, types without sizes, f32."""
    for name, type_name in case.spec.arguments.items():
        if type_name.startswith("tensor"):
            sizes, element = shape_of(type_name)
            rows = {name for kernel in case.spec.kernels for name in kernel.tensors}
            keep = 2 if name in rows else 0
            if any(size is not None for size in (sizes[:-keep] if keep else sizes)) and not name.startswith("sinks"):
                small = clone(case)
                head = [None] * (len(sizes) - keep)
                small.spec.arguments[name] = tensor_type(head + (sizes[-keep:] if keep else []), element)
                yield small
            if case.inputs[name].any() and name not in rows and "offsets" not in name:
                small = clone(case)
                small.inputs[name] = np.zeros_like(case.inputs[name])
                yield small
        else:
            for value in (0, 1, 2):
                if abs(float(case.inputs[name][0])) > value:
                    small = clone(case)
                    small.inputs[name] = np.array([value], dtype=case.inputs[name].dtype)
                    yield small
    for n, kernel in enumerate(case.spec.kernels):
        for name, region in kernel.regions():
            for place, op in enumerate(region.ops):
                if op.name == "arith.constant" and op.types[0] != "i1" and abs(op.value or 0) > 1:
                    for value in (0, 1, 2):
                        if abs(op.value or 0) > value:
                            small = clone(case)
                            getattr(small.spec.kernels[n], name).ops[place].value = type(op.value)(value)
                            yield small


def reduce(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case found in so many seconds for which `fails` still holds."""
    deadline, best = time.monotonic() + seconds, case
    plain = dataclasses.replace(case, layout="row-major")
    if case.layout != plain.layout and fails(plain):
        best = plain
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for steps in (drops, reschedules, shrinks, rewires, simplify_values):
            again = True
            while again and time.monotonic() < deadline:
                again = False
                for small in steps(best):
                    if time.monotonic() > deadline:
                        break
                    if small.spec.text() == settle(small).spec.text() == best.spec.text() and all(
                        np.array_equal(small.inputs[name], best.inputs[name], equal_nan=True) for name in small.inputs
                    ):
                        continue
                    if is_sound(small) and fails(small):
                        best, again, progress = small, True, True
                        break
    return best
