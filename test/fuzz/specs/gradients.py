"""What the gradients of a spec are, in numpy: the chain rule over the formulas of docs/spec.md on whole tensors at once.

Independent of dialect/reference/ReferenceBackward.cpp and of passes/attn/ScoreDerivative.cpp. Of functions no derivative is
written down: their slopes are central differences of the functions themselves, in fp64. With `Precision.BASELINE` the same
is done as plain kernels do it, from a saved LSE and a saved output.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from arrays import ArrayGenerator
from reference import (
    SEQUENTIAL, compute_keep, compute_logits, dropout_factors, gather, multiply_in_turn, power_of_machine, rounding_of,
    run_kernel, seed_words,
)
from regions import Arrays, Evaluator, Grid, make_grid, scalar
from scalars import FLOAT_BINARY, FLOAT_UNARY, Precision, is_float, round_to
from spec import Kernel, Load, Op, Spec, element_type, reads_captured, shape_of

# Where these have an end of their domain or a steep slope is 0: steps are fractions of the operand.
_FROM_ZERO = ("math.log", "math.log2", "math.log10", "math.sqrt", "math.rsqrt", "math.cbrt")
_STEPS = ("math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven")
_CHOICES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
Saved = dict[str, tuple[str, np.ndarray]]
# From here on an LSE in f32 leaves probabilities open.
HUGE = 1 << 12


def difference(function, x: np.ndarray, relative: bool) -> np.ndarray:
    """The slope of `function` at x by central differences of fourth order."""
    x = np.asarray(x, dtype=np.float64)
    step = 1e-3 * (np.where(x == 0, 1e-6, np.abs(x)) if relative else np.ones_like(x))
    near, far = (function(x + n * step) - function(x - n * step) for n in (1, 2))
    return (8 * near - far) / (12 * step)


class Slopes(Evaluator):
    """Evaluates a score region, and in fp64 the slope of each of its values by the logit, by what one load reads of a
    captured tensor, or by a scalar; none where it does not depend on it."""

    def __init__(self, spec: Spec, grid: Grid, inputs: Arrays, kernel: Kernel, precision: Precision, logits: np.ndarray,
                 captured: Load | str | None = None) -> None:
        assert kernel.score
        super().__init__(spec, grid, inputs, kernel.score, precision, logits)
        self.captured = captured
        self.slopes: Arrays = {} if captured else {kernel.score.arguments[0]: np.ones(logits.shape)}
        if isinstance(captured, str):
            self.slopes[captured] = np.ones((1, 1, 1, 1))

    def reads(self, op: Op) -> bool:
        return any(load is self.captured for load in op.loads)

    def run(self, op: Op) -> np.ndarray:
        result = super().run(op)
        if is_float(op.result_type) and (self.reads(op) or any(use in self.slopes for use in op.uses())):
            with np.errstate(all="ignore"):
                slope = self.slope(op, result)
            if slope is not None:
                self.slopes[op.result] = np.asarray(slope, dtype=np.float64)
        return result

    def partial(self, function, op: Op, place: int, relative: bool) -> np.ndarray | float:
        """The slope that comes by operand `place`, by differences."""
        if op.operands[place] not in self.slopes:
            return 0.0
        operands = [np.asarray(self.value(name), dtype=np.float64) for name in op.operands]
        vary = lambda x: function(*operands[:place], x, *operands[place + 1 :])
        return difference(vary, operands[place], relative) * self.slopes[op.operands[place]]

    def slope(self, op: Op, y: np.ndarray) -> np.ndarray | None:
        name = op.name
        of = lambda operand: self.slopes.get(operand, 0.0)
        values = [self.value(operand) for operand in op.operands]
        if name == "attn.load":
            return np.ones_like(y)
        if self.reads(op):
            return of(op.operands[0]) + (1.0 if name == "attn.bias" else -np.abs(values[1] - values[2]).astype(np.float64))
        if name == "arith.select":
            return np.where(values[0] != 0, of(op.operands[1]), of(op.operands[2]))
        if name in _STEPS:
            return None
        first = of(op.operands[0])
        if name in ("arith.extf", "arith.truncf", "attn.bias", "attn.alibi"):
            return first
        if name == "attn.softcap":
            cap = np.asarray(self.side(op, "cap"), dtype=np.float64)
            slope = difference(np.tanh, np.asarray(values[0], dtype=np.float64) / cap, False)
            return np.where(np.isinf(cap), 1.0, slope) * first
        if name in FLOAT_UNARY:
            if name == "arith.negf":
                return -first
            if name == "math.absf":
                return np.sign(values[0]) * first
            return self.partial(FLOAT_UNARY[name], op, 0, name in _FROM_ZERO)
        return self.slope_of_pair(op, y, values, [of(operand) for operand in op.operands])

    def slope_of_pair(self, op: Op, y: np.ndarray, values: list[np.ndarray], slopes: list) -> np.ndarray:
        name, a, b = op.name, values[0], values[1]
        if name == "arith.addf":
            return slopes[0] + slopes[1]
        if name == "arith.subf":
            return slopes[0] - slopes[1]
        if name in ("arith.mulf", "math.fma"):
            return slopes[0] * b + a * slopes[1] + (slopes[2] if len(slopes) > 2 else 0.0)
        if name == "arith.divf":
            return (slopes[0] - y * slopes[1]) / b
        if name == "arith.remf":
            return slopes[0] - np.trunc(a / b) * slopes[1]
        if name in _CHOICES:
            # The first of two that are equal.
            return np.where(y == a, slopes[0], slopes[1])
        if name == "math.clampf":
            raised = np.maximum(a, b)
            return np.where(y == raised, np.where(raised == a, slopes[0], slopes[1]), slopes[2])
        if name == "math.copysign":
            return np.where(np.signbit(a) == np.signbit(b), slopes[0], -np.asarray(slopes[0]))
        if name == "math.fpowi":
            return self.partial(lambda x, n: np.power(x, n), op, 0, True)
        function = FLOAT_BINARY[name]
        return self.partial(function, op, 0, name == "math.powf") + self.partial(function, op, 1, False)


# --- Names ------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Names:
    """How the function of the gradients calls what belongs to one kernel."""

    out: str
    lse: str
    d_out: str
    d_lse: str | None
    tensors: list[str]  # whose gradients `results` are
    results: list[str]


def names_of(spec: Spec) -> list[Names]:
    taken = list(spec.arguments)

    def take(wanted: str) -> str:
        found, number = wanted, 2
        while found in taken:
            found, number = f"{wanted}{number}", number + 1
        taken.append(found)
        return found

    names = []
    for kernel in spec.kernels:
        first = {value: name for value, name in reversed(spec.returns)}
        lse = first.get(kernel.results[1]) if len(kernel.results) > 1 else None
        out = first.get(kernel.results[0], "out")
        tensors = kernel.tensors + [name for name in spec.learned if reads_captured(kernel, name)]
        names.append(Names(take(out), take(lse or "lse"), take(f"d_{out}"), take(f"d_{lse}") if lse else None, tensors, []))
    for one in names:
        one.results = [take(f"d_{tensor}") for tensor in one.tensors]
    return names


def learnable(spec: Spec, inputs: Arrays, ordered: bool) -> list[str]:
    """The captured tensors that can have gradients; with `ordered`, gradients that are the same in every run: scores read
    them by coordinates, and always by the same, or once by a computed index as well."""
    others = {name for kernel in spec.kernels for name in [*kernel.tensors, kernel.clauses.get("sinks")]}
    axes: dict[str, list[dict[int, str]]] = {}
    for kernel in spec.kernels:
        grid = make_grid(spec, kernel, inputs)
        query, key = (inputs[name].shape[0 if kernel.packed else 1] for name in kernel.tensors[:2])
        sizes = {"b": -1 if kernel.packed else grid.batch, "h": grid.heads, "i": query, "j": key}
        seen: set[str] = set()
        for op in kernel.score.ops if kernel.score else ():
            for load in op.loads:
                shape, _ = shape_of(spec.arguments[load.tensor])
                coordinates = dict(zip(kernel.score.arguments[-4:], "bhij"))
                along = {n: coordinates.get("" if load.computed else index, "n") for n, index in enumerate(load.indices) if shape[n] != 1}
                found = list(along.values())
                whole = all(inputs[load.tensor].shape[n] == sizes.get(axis, inputs[load.tensor].shape[n]) for n, axis in along.items())
                once = len(set(found)) == len(found) and not (kernel.packed and {"i", "j"} <= set(found))
                if "n" in found:
                    size = shape[next(n for n, axis in along.items() if axis == "n")]
                    once = once and size is not None and size <= 1024 and not {"i", "j"} & set(found) and load.tensor not in seen
                seen.add(load.tensor)
                axes.setdefault(load.tensor, []).append(along if whole and (once or not ordered) else {-1: ""})
    # Of a scalar that is a cap, no slope is written down.
    ops = [op for kernel in spec.kernels if kernel.score for op in kernel.score.ops]
    scales = {kernel.clauses.get("scale") for kernel in spec.kernels}
    scalars = [name for name, kind in spec.arguments.items() if kind == "f32" and (name in scales or any(name in op.operands for op in ops))
               and not any(name in op.sides.values() for op in ops)]
    return scalars + [name for name, reads in axes.items() if name not in others and is_float(shape_of(spec.arguments[name])[1])
            and all((read == reads[0] or not ordered) and -1 not in read for read in reads)]


def is_differentiable(spec: Spec) -> bool:
    """Whether a backward can be derived of it; else it is refused."""
    returned = {value for value, _ in spec.returns}
    return all(kernel.kind == "forward" and kernel.results[0] in returned and len(set(kernel.tensors)) == 3 for kernel in spec.kernels)


# --- What a backward reads --------------------------------------------------------------------------------------------


def element_of(spec: Spec, kernel: Kernel) -> str:
    return shape_of(spec.arguments[kernel.tensors[0]])[1]


def saved_inputs(spec: Spec, inputs: Arrays, seed: int) -> Saved:
    """What forward has saved, and gradients of its results, by name with their element types. Gradients are those among
    `inputs`, or drawn."""
    saved: Saved = {}
    for number, (kernel, names) in enumerate(zip(spec.kernels, names_of(spec))):
        full = dataclasses.replace(kernel, results=[*kernel.results[:1], "lse"])
        out, lse = run_kernel(spec, full, inputs, Precision.EXACT).values()
        element = element_of(spec, kernel)
        # NaN stands where no query is (S11).
        past = np.zeros(lse.shape, dtype=bool)
        if not kernel.packed:
            lengths = make_grid(spec, kernel, inputs).query_lengths
            past = np.broadcast_to(np.arange(lse.shape[-1]) >= np.reshape(lengths, (-1, 1, 1)), lse.shape)
        arrays = ArrayGenerator((seed << 8) + number)
        size = (1.0, 1.0, 0.1, 8.0)[seed % 4]

        def draw(name: str, kind: str, like: np.ndarray, rows: np.ndarray) -> None:
            value = inputs[name] if name in inputs else np.where(rows, np.nan, arrays.normal(list(like.shape)) * size)
            saved[name] = (kind, round_to(value, kind).astype(np.float64))

        out_past = np.swapaxes(past, -1, -2)[..., None]
        with np.errstate(over="ignore"):
            saved[names.out] = (element, np.where(out_past, np.nan, round_to(out, element).astype(np.float64)))
        saved[names.lse] = ("f32", round_to(lse, "f32").astype(np.float64))
        draw(names.d_out, element, out, out_past)
        if names.d_lse:
            draw(names.d_lse, "f32", lse, past)
    return saved


# --- Gradients --------------------------------------------------------------------------------------------------------


def rows_of(kernel: Kernel, tensor: np.ndarray, starts: np.ndarray, rows: int, real: type) -> np.ndarray:
    """[B, H, S, D] of a tensor; what is no number lies where no row is, or has no weight."""
    return np.nan_to_num(gather(tensor, kernel, starts, rows, real), nan=0, posinf=0, neginf=0)


def lse_of(kernel: Kernel, tensor: np.ndarray, grid: Grid, real: type) -> np.ndarray:
    """[B, H, Sq, 1] of what has a number for each row."""
    if kernel.packed:
        return gather(tensor.T[:, :, None], kernel, grid.query_starts, grid.queries, real)
    return tensor.astype(real)[..., None]


def scatter(kernel: Kernel, rows: np.ndarray, like: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The reverse of `gather`: rows of all sequences, 0 where a tensor has none."""
    rows = rows.transpose(0, 2, 1, 3)
    if not kernel.packed:
        return rows
    result = np.zeros(like.shape, dtype=rows.dtype)
    for n, (start, length) in enumerate(zip(starts, lengths)):
        result[start : start + length] = rows[n, :length]
    return result


def key_lengths_of(kernel: Kernel, inputs: Arrays) -> np.ndarray:
    return np.diff(inputs[kernel.clauses["varlen"]["key"]]) if kernel.packed else np.zeros(0)


def reads_of(kernel: Kernel, tensor: str) -> list[Load | str]:
    """The loads of a captured tensor in the score, or a scalar as it is."""
    assert kernel.score
    loads: list[Load | str] = [load for op in kernel.score.ops for load in op.loads if load.tensor == tensor]
    return loads or [tensor]


def add_by_element(sums: np.ndarray, evaluator: Slopes, terms: np.ndarray) -> None:
    """Adds, to each element of a captured tensor, what has read it."""
    grid, load = evaluator.grid, evaluator.captured
    shape = (grid.batch, grid.heads, grid.queries, grid.keys)
    terms = np.broadcast_to(terms, shape)
    if not isinstance(load, Load) or not load.indices:
        sums += terms.sum(dtype=sums.dtype)
        return
    indices = (np.clip(index, 0, size - 1) for index, size in zip(evaluator.indices(load), sums.shape))
    np.add.at(sums, tuple(np.broadcast_to(index, shape) for index in indices), terms)


def multiply_by(left: np.ndarray, right: np.ndarray, variant: int) -> np.ndarray:
    return multiply_in_turn(left, right, variant) if variant >= SEQUENTIAL else left @ right


def run_kernel_backward(spec: Spec, kernel: Kernel, names: Names, inputs: Arrays, saved: Arrays, precision: Precision,
                        variant: int = 0) -> Arrays:
    """Gradients of one kernel's queries, keys, values and captured tensors. Variants of the baseline round and sum elsewhere."""
    exact = precision is Precision.EXACT
    real, element = (np.float64 if exact else np.float32), element_of(spec, kernel)
    grid = make_grid(spec, kernel, inputs)
    query, key, value = (inputs[name] for name in kernel.tensors)
    turned = lambda x: x.transpose(0, 1, 3, 2)
    narrow = lambda x: x if exact else round_to(x, element).astype(np.float32)
    rounded = rounding_of(spec, kernel, precision, variant)
    multiply = lambda left, right: multiply_by(rounded(left), rounded(right), variant)
    with np.errstate(all="ignore"):
        logits = compute_logits(spec, kernel, inputs, grid, precision, variant)
        scores, slopes = logits, np.ones_like(logits)
        captured = names.tensors[len(kernel.tensors) :]
        parts: dict[str, list[tuple[Slopes, np.ndarray]]] = {tensor: [] for tensor in captured}
        for read in (None, *(read for tensor in captured for read in reads_of(kernel, tensor))) if kernel.score else ():
            evaluator = Slopes(spec, grid, inputs, kernel, precision, logits, read)
            evaluator.library, evaluator.ulps = variant > 0, (0, 1, 0, -1)[variant % 4]
            for op in kernel.score.ops:
                evaluator.run(op)
            scores = evaluator.value(kernel.score.result)
            slope = evaluator.slopes.get(kernel.score.result, np.zeros(1, dtype=real))
            if read:
                parts[read.tensor if isinstance(read, Load) else read].append((evaluator, slope))
            else:
                slopes = slope
        keep = compute_keep(spec, kernel, inputs, grid)
        scores = np.where(keep, scores, -np.inf).astype(real)
        full = dataclasses.replace(kernel, results=["out", "lse"])
        lse = run_kernel(spec, full, inputs, precision)["lse"] if exact else saved[names.lse]
        lse = lse_of(kernel, lse, grid, real)
        power = np.exp if variant % 4 < 2 or exact else lambda x: power_of_machine(x, variant)
        weights = np.where((scores == -np.inf) | (lse == -np.inf), 0, power(np.minimum(scores - lse, 0)))
        if exact:
            # The LSE of huge scores is rounded in fp64 as well: of these, weights come by their maximum.
            weights = exact_weights(spec, kernel, inputs, grid, scores)
        factors: np.ndarray | float = 1.0
        if dropout := kernel.clauses.get("dropout"):
            probability, seed = dropout
            if isinstance(probability, str):
                probability = scalar(spec, inputs, probability)[0, 0, 0, 0]
            factors = dropout_factors(grid, np.float32(probability), seed_words(spec, inputs, seed)).astype(real)

        groups = grid.heads // key.shape[-2]
        q = rows_of(kernel, query, grid.query_starts, grid.queries, real)
        k, v = (rows_of(kernel, tensor, grid.key_starts, grid.keys, real).repeat(groups, axis=1) for tensor in (key, value))
        d_out = rows_of(kernel, saved[names.d_out], grid.query_starts, grid.queries, real)
        d_weights = multiply(d_out, turned(v)) * factors
        delta = (weights * d_weights).sum(axis=-1, keepdims=True)
        if not exact:
            delta = (rows_of(kernel, saved[names.out], grid.query_starts, grid.queries, real) * d_out).sum(axis=-1, keepdims=True)
        if names.d_lse:
            delta = delta - np.nan_to_num(lse_of(kernel, saved[names.d_lse], grid, real))
        d_scores = np.where(weights == 0, 0, weights * (d_weights - delta))
        d_logits = np.where(d_scores == 0, 0, d_scores * slopes).astype(real)
        # Plain code sums in one type or the other.
        real_of_sums = np.float64 if exact or variant % 2 == 0 else np.float32
        d_captured = [np.zeros(inputs[tensor].shape, dtype=real_of_sums) for tensor in captured]
        for tensor, sums in zip(captured, d_captured):
            for evaluator, slope in parts[tensor]:
                add_by_element(sums, evaluator, np.where(d_scores == 0, 0, d_scores * slope).astype(real))
            if tensor == kernel.clauses.get("scale"):
                plain = dataclasses.replace(kernel, clauses={**kernel.clauses, "scale": 1.0})
                products = compute_logits(spec, plain, inputs, grid, precision, variant)
                sums += np.where(d_logits == 0, 0, d_logits * products).sum(dtype=sums.dtype)
        scale = kernel.clauses.get("scale", 1 / np.sqrt(query.shape[-1]))
        scale = real(scalar(spec, inputs, scale)[0, 0, 0, 0] if isinstance(scale, str) else np.float32(scale) if "scale" in kernel.clauses else scale)
        before, after = (scale, real(1)) if variant % 2 == 0 else (real(1), scale)
        d_logits = narrow(d_logits * before)
        d_q = multiply(d_logits, k) * after
        d_k, d_v = multiply(turned(d_logits), q) * after, multiply(turned(narrow(weights * factors)), d_out)
        d_k, d_v = (x.reshape(grid.batch, -1, groups, *x.shape[2:]).sum(axis=2) for x in (d_k, d_v))
        key_lengths = key_lengths_of(kernel, inputs)
        results = [scatter(kernel, d_q, query, grid.query_starts, grid.query_lengths),
                   *(scatter(kernel, x, like, grid.key_starts, key_lengths) for x, like in ((d_k, key), (d_v, value)))]
        own = lambda tensor, x: np.atleast_1d(x if exact else round_to(x, element_type(spec.arguments[tensor])).astype(np.float32))
        return dict(zip(names.results, (own(tensor, result) for tensor, result in zip(names.tensors, results + d_captured))))


def exact_weights(spec: Spec, kernel: Kernel, inputs: Arrays, grid: Grid, scores: np.ndarray) -> np.ndarray:
    maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    sinks = np.zeros((1, grid.heads, 1, 0))
    if "sinks" in kernel.clauses:
        sinks = inputs[kernel.clauses["sinks"]].astype(np.float64)
        sinks = np.broadcast_to(sinks, (grid.heads, sinks.shape[-1])).reshape(1, grid.heads, 1, -1)
        maximum = np.maximum(maximum, sinks.max(axis=-1, keepdims=True, initial=-np.inf))
    empty = (maximum == -np.inf) | (scores == -np.inf)
    total = sum(np.exp(part - maximum).sum(axis=-1, keepdims=True) for part in (scores, sinks))
    return np.where(empty, 0, np.exp(scores - maximum) / total)


def run_spec_backward(spec: Spec, inputs: Arrays, saved: Arrays, precision: Precision = Precision.EXACT, variant: int = 0) -> Arrays:
    """All gradients by their names."""
    values: Arrays = {}
    for kernel, names in zip(spec.kernels, names_of(spec)):
        values.update(run_kernel_backward(spec, kernel, names, inputs, saved, precision, variant))
    return values


def has_huge_scores(spec: Spec, saved: Arrays) -> bool:
    lse = [saved[names.lse] for names in names_of(spec)]
    return any((np.abs(one[np.isfinite(one)]) > HUGE).any() for one in lse)


def is_well_conditioned(spec: Spec, inputs: Arrays, saved: Arrays, exact: Arrays) -> bool:
    """Whether plain computations agree on the gradients: no slope steps where rounding decides."""
    if any(not np.isfinite(value).all() for value in exact.values()):
        return False
    if has_huge_scores(spec, saved):
        return True
    units = {"f32": 2e-2 if spec.tf32 else 2e-4, "f16": 2e-2, "bf16": 1e-1}
    unit = max(units[element] for element in (element_of(spec, spec.kernels[0]), *(element_type(spec.arguments[name]) for name in spec.learned)))
    for variant in (0, 3):
        base = run_spec_backward(spec, inputs, saved, Precision.BASELINE, variant)
        for name, value in exact.items():
            if not (np.abs(value - base[name]) <= unit * max(1e-3, np.abs(value).max(initial=0))).all():
                return False
    return True
