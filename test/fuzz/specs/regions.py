"""What the regions of a spec mean, in numpy: where logits stand, and operations on all of them at once.

Independent of dialect/reference/Reference*.cpp, which is held against it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from scalars import (
    FLOAT_BINARY, FLOAT_PREDICATES, FLOAT_TESTS, FLOAT_UNARY, INTEGER_BINARY, INTEGER_PREDICATES, INTEGER_UNARY, Precision,
    bits_to_float, float_to_bits, is_float, multiply_add, round_to, to_float, to_integer, truth, unsigned, width_of, wrap,
)
from spec import Kernel, Load, Op, Region, Spec, shape_of

Arrays = dict[str, np.ndarray]

# Functions that every machine computes to the last place.
EXACT_FUNCTIONS = ("arith.negf", "math.absf", "math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc", "math.sqrt")


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
