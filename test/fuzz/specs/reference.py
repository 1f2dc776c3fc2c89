"""What a spec means, in numpy: the formulas of docs/spec.md on whole tensors at once.

Independent of dialect/reference/Reference*.cpp, which is held against it. With `Precision.BASELINE` the same is done in the
types of the inputs and f32, which tells how well conditioned a spec is.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from scalars import (
    FLOAT_BINARY, FLOAT_PREDICATES, FLOAT_TESTS, FLOAT_UNARY, INTEGER_BINARY, INTEGER_PREDICATES, INTEGER_UNARY,
    Precision, bits_to_float, cut_to_tf32, float_to_bits, is_float, multiply_add, multiply_to_tf32, round_to, round_to_tf32, to_float,
    to_integer, truth,
    unsigned, width_of, wrap,
)
from spec import Kernel, Load, Op, Region, Spec, shape_of

Arrays = dict[str, np.ndarray]


@dataclasses.dataclass
class Grid:
    """Every logit of a kernel, as arrays that broadcast to [B, H, Sq, Sk]; packed sequences are laid out side by side."""

    batch: int
    heads: int
    queries: int
    keys: int
    b: np.ndarray
    h: np.ndarray
    i: np.ndarray  # position of the query
    j: np.ndarray  # position of the key
    row: np.ndarray  # of the query's tensor
    column: np.ndarray  # of the key's tensor
    inside: np.ndarray  # whether both lie in the sequence
    query_lengths: np.ndarray
    query_starts: np.ndarray
    key_starts: np.ndarray


def key_rows(kernel: Kernel, inputs: Arrays) -> int:
    """Rows that are stored of the keys of a padded sequence, or of all packed ones."""
    key = inputs[kernel.tensors[1]]
    if kernel.page_table:
        return inputs[kernel.page_table].shape[1] * key.shape[1]
    return key.shape[0 if kernel.packed else 1]


def make_grid(spec: Spec, kernel: Kernel, inputs: Arrays) -> Grid:
    query = inputs[kernel.tensors[0]]
    heads = query.shape[-2]
    offsets, lengths = (kernel.clauses.get(name, {}) for name in ("varlen", "lengths"))
    batch = len(inputs[offsets["query"]]) - 1 if kernel.packed else query.shape[0]

    def side(name: str, rows: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Where the rows of each sequence start, how many there are, and how many are laid out."""
        if name in offsets:
            starts, counts = inputs[offsets[name]][:-1], np.diff(inputs[offsets[name]])
            return starts, counts, int(max(counts, default=0))
        return np.zeros(batch, dtype=np.int64), inputs[lengths[name]] if name in lengths else np.full(batch, rows), rows

    query_starts, query_lengths, queries = side("query", query.shape[0 if kernel.packed else 1])
    key_starts, key_lengths, keys = side("key", key_rows(kernel, inputs))
    column4 = lambda values: np.asarray(values, dtype=np.int64).reshape(-1, 1, 1, 1)
    r = np.arange(queries, dtype=np.int64).reshape(1, 1, -1, 1)
    c = np.arange(keys, dtype=np.int64).reshape(1, 1, 1, -1)
    shift = column4(key_lengths) - column4(query_lengths)
    if kernel.clauses.get("align", "bottom_right") == "top_left":
        shift = np.zeros_like(shift)
    offset = kernel.clauses.get("q_offset")
    if isinstance(offset, str):
        shift = shift + scalar(spec, inputs, offset)
    return Grid(
        batch, heads, queries, keys, column4(np.arange(batch)), np.arange(heads, dtype=np.int64).reshape(1, -1, 1, 1),
        r + shift, c, column4(query_starts) + r, column4(key_starts) + c,
        (r < column4(query_lengths)) & (c < column4(key_lengths)),
        np.asarray(query_lengths), np.asarray(query_starts), np.asarray(key_starts),
    )


def scalar(spec: Spec, inputs: Arrays, name: str) -> np.ndarray:
    """A captured scalar or constant as an array of one element."""
    for op in spec.constants:
        if op.result == name:
            return constant(op)
    return np.asarray(inputs[name]).reshape(1, 1, 1, 1)


def constant(op: Op) -> np.ndarray:
    type_name = op.types[0]
    if is_float(type_name):
        return round_to(np.full((1, 1, 1, 1), op.value), type_name).astype(np.float64)
    number = int(op.value or 0) & ((1 << 64) - 1)
    value = np.full((1, 1, 1, 1), number - (1 << 64) if number >> 63 else number, dtype=np.int64)
    return wrap(value, width_of(type_name))


class Evaluator:
    """Evaluates a region's operations in turn."""

    library = False  # whether functions are those of a library for f32
    ulps = 0  # by how much those are off beside

    def __init__(self, spec: Spec, grid: Grid, inputs: Arrays, region: Region, precision: Precision,
                 logits: np.ndarray | None) -> None:
        self.spec, self.grid, self.inputs, self.precision = spec, grid, inputs, precision
        names = region.arguments[-4:]
        self.values: Arrays = dict(zip(names, (grid.b, grid.h, grid.i, grid.j)))
        self.types = dict.fromkeys(names, "index")
        self.stored = dict(zip(names, (grid.b, grid.h, grid.row, grid.column)))
        if logits is not None:
            self.values[region.arguments[0]], self.types[region.arguments[0]] = logits, "f32"

    def value(self, name: str) -> np.ndarray:
        if name not in self.values:
            # Captured from the function.
            value = scalar(self.spec, self.inputs, name)
            type_name = next((op.types[0] for op in self.spec.constants if op.result == name), None)
            self.types[name] = type_name or self.spec.arguments[name]
            self.values[name] = self.to_precision(value, self.types[name])
        return self.values[name]

    def to_precision(self, value: np.ndarray, type_name: str) -> np.ndarray:
        if not is_float(type_name):
            return value
        return value.astype(np.float64) if self.precision is Precision.EXACT else round_to(value, type_name)

    def indices(self, load: Load) -> list[np.ndarray]:
        """Rows as stored where a coordinate addresses them, else numbers to clamp."""
        return [self.stored[name] if name in self.stored and not load.computed else self.value(name) for name in load.indices]

    def load(self, load: Load) -> np.ndarray:
        tensor = self.inputs[load.tensor]
        indices = [np.clip(index, 0, size - 1) for index, size in zip(self.indices(load), tensor.shape, strict=True)]
        element = tensor[tuple(indices)] if indices else tensor.reshape(1, 1, 1, 1)
        return self.to_precision(element, shape_of(self.spec.arguments[load.tensor])[1])

    def side(self, op: Op, name: str) -> np.ndarray | int | float | None:
        side = op.sides.get(name)
        return self.value(side) if isinstance(side, str) else side

    def shift(self, result: np.ndarray) -> np.ndarray:
        """What a function gives that is off by `ulps`, as libraries for f32 may be by one or two."""
        return result * (1 + self.ulps * 2.0**-23) if self.ulps else result

    def sugar(self, op: Op) -> np.ndarray:
        real = np.float64 if self.precision is Precision.EXACT else np.float32
        operands = [self.value(name) for name in op.operands]
        if op.name == "attn.load":
            return self.load(op.loads[0])
        if op.name == "attn.softcap":
            cap = self.side(op, "cap")
            cap = cap.astype(real) if isinstance(cap, np.ndarray) else real(np.float32(cap))
            return np.where(np.isinf(cap), operands[0], cap * self.shift(np.tanh(operands[0] / cap))).astype(real)
        if op.name == "attn.bias":
            return operands[0] + self.load(op.loads[0]).astype(real)
        if op.name == "attn.alibi":
            distance = np.abs(operands[1] - operands[2]).astype(real)
            return operands[0] - self.load(op.loads[0]).astype(real) * distance
        if op.name == "attn.causal":
            return truth(operands[1] <= operands[0])
        if op.name == "attn.window":
            i, j = operands
            keep = np.ones(np.broadcast_shapes(i.shape, j.shape), dtype=bool)
            # A side may be anywhere: compare distances with it. A computed one counts as 0 where it is negative.
            if (left := self.side(op, "left")) is not None:
                keep = keep & ((i - j <= np.maximum(left, 0)) | (np.asarray(left) >= 1 << 31))
            if (right := self.side(op, "right")) is not None:
                keep = keep & ((j - i <= np.maximum(right, 0)) | (np.asarray(right) >= 1 << 31))
            return truth(keep)
        if op.name == "attn.same_segment":
            queries, keys = self.load(op.loads[0]), self.load(op.loads[1])
            return truth((queries == keys) & (queries >= 0))
        assert op.name == "attn.prefix", op.name
        return truth(operands[0] < self.load(op.loads[0]))

    def compute(self, op: Op) -> np.ndarray:
        name = op.name
        if name == "arith.constant":
            return self.to_precision(constant(op), op.types[0])
        if name.startswith("attn."):
            return self.sugar(op)
        a, *others = (self.value(operand) for operand in op.operands)
        source, target = op.types[0], op.result_type
        if name in INTEGER_BINARY:
            return INTEGER_BINARY[name](a, others[0], width_of(source))
        if name in INTEGER_UNARY:
            return INTEGER_UNARY[name](a, width_of(source))
        if name == "arith.cmpi":
            return truth(INTEGER_PREDICATES[op.predicate](a, others[0], width_of(source)))
        if name == "arith.cmpf":
            return truth(FLOAT_PREDICATES[op.predicate](a, others[0]))
        if name in FLOAT_TESTS:
            return truth(FLOAT_TESTS[name](a))
        if name == "arith.select":
            return np.where(a != 0, others[0], others[1])
        if name in ("arith.extsi", "arith.trunci", "arith.index_cast"):
            return wrap(a, width_of(target))
        if name in ("arith.extui", "arith.index_castui"):
            return wrap(unsigned(a, width_of(source)), width_of(target))
        if name in ("arith.sitofp", "arith.uitofp"):
            return to_float(a, width_of(source), target, name == "arith.sitofp", self.precision)
        if name in ("arith.fptosi", "arith.fptoui"):
            return to_integer(a, width_of(target), name == "arith.fptosi")
        if name == "arith.bitcast":
            if is_float(source) == is_float(target):
                return a
            return bits_to_float(a, target, self.precision) if is_float(target) else float_to_bits(a, source)
        return self.compute_float(op, a, others)

    def compute_float(self, op: Op, a: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
        name, target = op.name, op.result_type
        # One rounding at the end of each operation; functions of a library for f32 have an error of their own.
        wide = [a, *others]
        if self.precision is Precision.BASELINE and not self.library:
            wide = [x.astype(np.float64) for x in wide]
        if name in FLOAT_UNARY:
            result = FLOAT_UNARY[name](wide[0])
            if name not in EXACT_FUNCTIONS:
                result = self.shift(result)
        elif name in FLOAT_BINARY:
            result = FLOAT_BINARY[name](*wide)
        elif name == "math.fma":
            result = wide[0] * wide[1] + wide[2] if self.precision is Precision.EXACT else multiply_add(*wide, target)
        elif name == "math.clampf":
            result = np.minimum(np.maximum(wide[0], wide[1]), wide[2])
        elif name == "math.fpowi":
            result = np.power(wide[0], wide[1].astype(np.float64))
        elif name == "arith.extf":
            result = wide[0]
        elif name == "arith.truncf":
            # What the operand's type holds exactly is rounded as machines do, also where nothing else is.
            is_held = round_to(wide[0], self.types[op.operands[0]]) == wide[0]
            result = np.where(is_held, round_to(wide[0], target), wide[0])
        else:
            raise NotImplementedError(f"no meaning for '{name}'")
        return result if self.precision is Precision.EXACT else round_to(result, target)

    def run(self, op: Op) -> np.ndarray:
        with np.errstate(all="ignore"):
            result = self.compute(op)
        self.values[op.result], self.types[op.result] = result, op.result_type
        return result


# Functions that every machine computes to the last place.
EXACT_FUNCTIONS = ("arith.negf", "math.absf", "math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc", "math.sqrt")

# The first variant of the baseline that sums one product after the other.
SEQUENTIAL = 100
# The first that sums as tensor cores do: eight or sixteen products at a time, cut off and not rounded. (Of TF32 they take
# half as many, which no result shows beside the rounding of what is multiplied.)
TENSOR_CORES = 200

# --- Attention --------------------------------------------------------------------------------------------------------


def gather_keys(kernel: Kernel, number: int, inputs: Arrays, grid: Grid, real: type) -> np.ndarray:
    """Keys or values, tensor `number` of the kernel, as [B, H, S, D]; those of a page that is none are of some other."""
    tensor = inputs[kernel.tensors[number]]
    if not kernel.page_table:
        return gather(tensor, kernel, grid.key_starts, grid.keys, real)
    pages = tensor[np.clip(inputs[kernel.page_table], 0, len(tensor) - 1)]
    rows = pages.reshape(grid.batch, grid.keys, *tensor.shape[2:])
    # No query sees what lies behind a length.
    seen = grid.inside.any(axis=(1, 2)).reshape(grid.batch, -1, 1, 1) if grid.queries else np.zeros((grid.batch, 1, 1, 1), dtype=bool)
    return np.ascontiguousarray(np.where(seen, rows, 0).astype(real).transpose(0, 2, 1, 3))


def gather(tensor: np.ndarray, kernel: Kernel, starts: np.ndarray, rows: int, real: type) -> np.ndarray:
    """Rows of every sequence as [B, H, S, D]; what lies behind a packed sequence is some other row."""
    if kernel.packed:
        places = starts[:, None] + np.arange(rows)[None, :]
        tensor = tensor[np.clip(places, 0, max(len(tensor) - 1, 0))] if len(tensor) else np.zeros(
            (len(starts), rows, *tensor.shape[1:]))
    return np.ascontiguousarray(tensor.astype(real).transpose(0, 2, 1, 3))


def multiply_in_turn(left: np.ndarray, right: np.ndarray, variant: int) -> np.ndarray:
    """left @ right, summed one product after the other, in an order that `variant` says."""
    if variant >= TENSOR_CORES:
        return multiply_by_tensor_cores(left, right, variant - TENSOR_CORES)
    terms = left.shape[-1]
    order = np.random.default_rng(variant).permutation(terms) if variant > SEQUENTIAL else range(terms)
    result = np.zeros((*left.shape[:-1], right.shape[-1]), dtype=left.dtype)
    for term in order:
        result += left[..., term, None] * right[..., None, term, :]
    return result


def multiply_by_tensor_cores(left: np.ndarray, right: np.ndarray, generation: int) -> np.ndarray:
    """left @ right as tensor cores sum: the sum before and so many products are cut off where the last bit of the greatest
    of them is, and the new sum is cut to 24 bits.

    After M. Fasi et al., Numerical behavior of NVIDIA tensor cores (PeerJ CS, 2021): eight at a time and one bit more
    (Ampere), or sixteen and two (Hopper).
    """
    together, more = 8 << generation, 1 + generation
    result = np.zeros((*left.shape[:-1], right.shape[-1]))

    def cut(numbers: np.ndarray, exponent: np.ndarray, bits: int) -> np.ndarray:
        unit = np.ldexp(1.0, np.clip(exponent - bits, -1000, 900))
        return np.trunc(numbers / unit) * unit

    for first in range(0, left.shape[-1], together):
        # Products of 16-bit numbers, and of TF32, are exact in f64.
        products = left[..., :, None, first : first + together].astype(np.float64) * np.swapaxes(right, -1, -2)[..., None, :, first : first + together]
        terms = np.concatenate([products, result[..., None]], axis=-1)
        exponent = np.frexp(np.abs(terms).max(axis=-1))[1]
        total = cut(terms, exponent[..., None], 24 + more).sum(axis=-1)
        total = np.where(np.isfinite(terms).all(axis=-1), total, terms.sum(axis=-1))
        result = np.where(np.isfinite(total), cut(total, np.frexp(total)[1], 24), total)
    return result.astype(left.dtype)


def rounding_of(spec: Spec, kernel: Kernel, precision: Precision, variant: int) -> Callable[[np.ndarray], np.ndarray]:
    """What products do to their operands first. Odd variants cut TF32 off, as tensor cores do with what nobody has rounded;
    those of tensor cores round as our kernels do."""
    if precision is not Precision.BASELINE or not spec.rounds_to_tf32(kernel):
        return lambda x: x
    if variant >= TENSOR_CORES:
        return multiply_to_tf32
    return cut_to_tf32 if variant % 2 else round_to_tf32


def compute_logits(spec: Spec, kernel: Kernel, inputs: Arrays, grid: Grid, precision: Precision,
                   variant: int = 0) -> np.ndarray:
    """S1. Variants sum the products in other orders: up to `SEQUENTIAL` in as many parts as their number says, from
    there on one after the other, in an order of their own."""
    real = np.float64 if precision is Precision.EXACT else np.float32
    query = gather(inputs[kernel.tensors[0]], kernel, grid.query_starts, grid.queries, real)
    key = gather_keys(kernel, 1, inputs, grid, real)
    key = np.repeat(key, grid.heads // key.shape[1], axis=1)
    query, key = map(rounding_of(spec, kernel, precision, variant), (query, key))
    scale = kernel.clauses.get("scale", 1 / np.sqrt(query.shape[-1]))
    if isinstance(scale, str):
        scale = float(scalar(spec, inputs, scale)[0, 0, 0, 0])
    elif "scale" in kernel.clauses:
        scale = float(np.float32(scale))
    with np.errstate(all="ignore"):
        if variant >= TENSOR_CORES:
            return multiply_in_turn(query, key.transpose(0, 1, 3, 2), variant) * real(scale)
        if variant:
            # Some terms after the others, and the scale first.
            dims = query.shape[-1]
            query = query * real(scale)
            logits = np.zeros((*query.shape[:-1], key.shape[-2]), dtype=real)
            if variant >= SEQUENTIAL:
                return multiply_in_turn(query, key.transpose(0, 1, 3, 2), variant)
            for part in range(variant):
                chosen = range(part, dims, variant)
                logits = logits + query[..., chosen] @ key[..., chosen].transpose(0, 1, 3, 2)
            return logits
        return (query @ key.transpose(0, 1, 3, 2)) * real(scale)


def seed_words(spec: Spec, inputs: Arrays, name: str) -> np.ndarray:
    """The words of a seed of dropout, which is a number or a tensor."""
    return inputs[name] if name in inputs else scalar(spec, inputs, name)


def dropout_factors(grid: Grid, probability: np.float32, words: np.ndarray) -> np.ndarray:
    """S9: Philox4x32-7 of the seed and the place, rows counted from the sequence's first; eight elements share a call.
    words: the seed; or its two halves, the low one first; or these and the numbers of the first batch entry and head."""
    parts = [int(part) for part in words.reshape(-1)]
    seed = parts[0] if len(parts) == 1 else (parts[0] & 0xFFFFFFFF) | (parts[1] & 0xFFFFFFFF) << 32
    first_batch, first_head = parts[2:] or (0, 0)
    shape = (grid.batch, grid.heads, grid.queries, grid.keys)
    low = np.uint64(0xFFFFFFFF)
    i, j = np.arange(grid.queries).reshape(1, 1, -1, 1), np.arange(grid.keys).reshape(1, 1, 1, -1)
    places = ((grid.b + first_batch) & 0xFFFFFFFF, (grid.h + first_head) & 0xFFFFFFFF, i // 16 * 8 + i % 8, j // 16 * 4 + j % 8 // 2)
    counter = [np.broadcast_to(place, shape).astype(np.uint64) for place in places]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64((seed >> 32) & 0xFFFFFFFF)]
    for _ in range(7):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> np.uint64(32)) ^ counter[1] ^ key[0], second & low,
                   (first >> np.uint64(32)) ^ counter[3] ^ key[1], first & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    word = np.choose(np.broadcast_to(i // 8 % 2 * 2 + j // 8 % 2, shape), counter)
    number = np.where(j % 2 == 0, word & np.uint64(0xFFFF), word >> np.uint64(16)).astype(np.int64)
    dropped = int(np.rint(65536 * float(probability)))
    return np.where(number >= dropped, 0.0 if dropped == 65536 else 65536 / (65536 - dropped), 0.0)


def evaluate_region(spec: Spec, grid: Grid, inputs: Arrays, region: Region, precision: Precision,
                    logits: np.ndarray | None = None, variant: int = 0) -> np.ndarray:
    evaluator = Evaluator(spec, grid, inputs, region, precision, logits)
    evaluator.library = variant > 0
    evaluator.ulps = (0, 1, 0, -1)[variant % 4]
    for op in region.ops:
        evaluator.run(op)
    return evaluator.value(region.result)


def compute_keep(spec: Spec, kernel: Kernel, inputs: Arrays, grid: Grid) -> np.ndarray:
    """S3, S11: the keys that each query sees."""
    keep = np.broadcast_to(grid.inside, (grid.batch, grid.heads, grid.queries, grid.keys))
    if kernel.mask:
        keep = keep & (evaluate_region(spec, grid, inputs, kernel.mask, Precision.EXACT) != 0)
    return keep


def power_of_machine(x: np.ndarray, variant: int) -> np.ndarray:
    """e^x as kernels take it in f32: a power of 2 of a product that is rounded, by an instruction whose error, up to 2
    ulp, is the same where its operand is, and another in each variant."""
    octaves = x * np.float32(np.log2(np.e))
    wide = octaves.astype(np.float64)
    return (np.exp2(wide) * (1 + 2.0**-22 * np.where(np.isfinite(wide), np.sin(1e5 * wide + variant), 0))).astype(np.float32)


def add_up(weights: np.ndarray, variant: int) -> np.ndarray:
    """The sums of rows. Variants from `SEQUENTIAL` on add one weight after the other, in some lanes: where weights are all
    alike, each addition rounds the same way."""
    if variant < SEQUENTIAL or weights.shape[-1] == 0:
        return weights.sum(axis=-1, keepdims=True)
    lanes = 1 << variant % 4
    return sum(np.add.accumulate(weights[..., lane::lanes], axis=-1)[..., -1:] for lane in range(min(lanes, weights.shape[-1])))


def reference_below_maximum(variant: int) -> float:
    """How far below the maximum of its row the reference of its weights lies.

    Kernels take a maximum of earlier keys, or round it in octaves: where all logits of a row are alike, its weights are not
    1 but any number, all cut to the same 8 or 11 bits. Just above 1 that takes most: half a unit of bf16 or of f16.
    """
    if variant % 2 == 0 or variant == 1:
        return 0.0
    return {3: np.log1p(0.98 * 2.0**-8), SEQUENTIAL + 1: np.log1p(0.98 * 2.0**-11)}.get(variant, variant * 0.618 % 1)


def run_kernel(spec: Spec, kernel: Kernel, inputs: Arrays, precision: Precision, variant: int = 0) -> Arrays:
    """The results of a kernel by their names. Variants of the baseline are as plain, and round elsewhere."""
    real = np.float64 if precision is Precision.EXACT else np.float32
    grid = make_grid(spec, kernel, inputs)
    with np.errstate(all="ignore"):
        scores = compute_logits(spec, kernel, inputs, grid, precision, variant)
        if kernel.score:
            scores = evaluate_region(spec, grid, inputs, kernel.score, precision, scores, variant)
        scores = np.where(compute_keep(spec, kernel, inputs, grid), scores, -np.inf).astype(real)
        maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        sinks = np.full((1, grid.heads, 1, 0), 0.0, dtype=real)
        if "sinks" in kernel.clauses:
            sinks = inputs[kernel.clauses["sinks"]].astype(real)
            sinks = np.broadcast_to(sinks, (grid.heads, sinks.shape[-1])).reshape(1, grid.heads, 1, -1)
            maximum = np.maximum(maximum, sinks.max(axis=-1, keepdims=True, initial=-np.inf))
        # Queries at or behind their length are empty, sinks or not.
        rows = np.arange(grid.queries).reshape(1, 1, -1, 1) < grid.query_lengths.reshape(-1, 1, 1, 1)
        empty = (maximum == -np.inf) | ~rows
        power = functools.partial(power_of_machine, variant=variant) if variant % 4 >= 2 else np.exp
        below = real(reference_below_maximum(variant)) if precision is Precision.BASELINE else real(0)
        total = sum(add_up(power(part - maximum + below), variant) for part in (scores, sinks))
        weights = np.where(empty, 0, power(scores - maximum + below) / total)
        lse = np.where(empty, -np.inf, maximum + (np.log(total) - below))[..., 0]
        element = shape_of(spec.arguments[kernel.tensors[0]])[1]
        if dropout := kernel.clauses.get("dropout"):
            probability, seed = dropout
            if isinstance(probability, str):
                probability = scalar(spec, inputs, probability)[0, 0, 0, 0]
            weights = weights * dropout_factors(grid, np.float32(probability), seed_words(spec, inputs, seed))
        if precision is Precision.BASELINE and variant % 2:
            # Before they are divided: where a row's weights are all alike, they are all rounded alike, well or badly.
            weights = np.where(empty, 0, round_to(weights * total, element) / total)
        elif precision is Precision.BASELINE:
            weights = round_to(weights, element)
        if kernel.kind == "weights":
            return {kernel.results[0]: weights}
        value = gather_keys(kernel, 2, inputs, grid, real)
        # What has no weight takes no part, even where it is no number.
        value = np.where(np.isfinite(value), value, 0)
        value = np.repeat(value, grid.heads // value.shape[1], axis=1)
        weights, value = map(rounding_of(spec, kernel, precision, variant), (weights, value))
        out = multiply_in_turn(weights, value, variant) if variant >= SEQUENTIAL else weights @ value
        out = out.transpose(0, 2, 1, 3)
    if not kernel.packed:
        results = [out, lse]
    else:
        total_rows = inputs[kernel.tensors[0]].shape[0]
        packed_out = np.zeros((total_rows, *out.shape[2:]), dtype=real)
        packed_lse = np.zeros((grid.heads, total_rows), dtype=real)
        for n, (start, length) in enumerate(zip(grid.query_starts, grid.query_lengths)):
            packed_out[start : start + length] = out[n, :length]
            packed_lse[:, start : start + length] = lse[n, :, :length]
        results = [packed_out, packed_lse]
    return dict(zip(kernel.results, results))


def run_spec(spec: Spec, inputs: Arrays, precision: Precision = Precision.EXACT, variant: int = 0) -> Arrays:
    """All results that the function returns, by their names there."""
    values: Arrays = {}
    for kernel in spec.kernels:
        values.update(run_kernel(spec, kernel, inputs, precision, variant))
    return {name: values[value] for value, name in spec.returns}
