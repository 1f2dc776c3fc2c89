"""Builds a region one operation at a time, with all its values at hand.

Every operation is evaluated as it is added, exactly and as the baseline does it. So thresholds can lie between the values
that occur, masks keep a fair share of keys, and what would be ill conditioned is taken back: a difference that a target
shows is then always a fault.
"""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from arrays import ArrayGenerator
from regions import Arrays, Evaluator, Grid, key_rows
from scalars import Precision, is_float, round_to, width_of, wrap
from spec import Kernel, Load, Op, Region, Spec, shape_of, tensor_type

COORDINATES = ("b", "h", "i", "j")
STEPS = {"math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven", "arith.remf", "math.copysign",
         "arith.fptosi", "arith.fptoui", "arith.cmpf", "arith.bitcast"}
# Results that are the same on every machine where their operands are exact and no bits are lost.
EXACT = {"arith.addf", "arith.subf", "arith.mulf", "arith.negf", "math.absf", "arith.maximumf", "arith.minimumf",
         "arith.maxnumf", "arith.minnumf", "math.clampf", "math.fma", "arith.select", "arith.extf", "arith.truncf",
         "arith.sitofp", "arith.uitofp", "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven",
         "math.copysign", "arith.constant", "attn.load", "attn.bias", "arith.remf", "arith.bitcast"}


class Rejected(Exception):
    """An operation that was not added, since what it gives is not to be judged."""


@dataclasses.dataclass
class Captured:
    """A tensor that regions read, and what indexes its dimensions."""

    name: str
    kinds: list[str]  # a coordinate, "one" (broadcast), or "computed"


class Builder:
    def __init__(self, rng: random.Random, spec: Spec, kernel: Kernel, grid: Grid, inputs: Arrays,
                 logits: tuple[np.ndarray, np.ndarray] | None, captured: list[Captured]) -> None:
        self.rng, self.spec, self.kernel, self.grid, self.inputs = rng, spec, kernel, grid, inputs
        self.captured = captured
        self.region = Region((["s"] if logits else []) + list(COORDINATES), [], "")
        exact, base = logits or (None, None)
        self.exact = Evaluator(spec, grid, inputs, self.region, Precision.EXACT, exact)
        self.base = Evaluator(spec, grid, inputs, self.region, Precision.BASELINE, base)
        self.types: dict[str, str] = dict.fromkeys(COORDINATES, "index")
        self.is_exact: set[str] = set()
        if logits:
            self.types["s"] = "f32"
        self.arrays = ArrayGenerator(rng.getrandbits(64))

    # --- Values ---

    def value(self, name: str) -> np.ndarray:
        return self.exact.value(name)

    def names(self, type_name: str) -> list[str]:
        return [name for name, other in self.types.items() if other == type_name]

    def varies(self, name: str) -> bool:
        value = self.value(name)
        return value.size > 1 and bool((value != value.flat[0]).any())

    def greatest(self, name: str) -> float:
        value = self.value(name)
        return float(np.abs(value.astype(np.float64)).max(initial=0))

    def share(self, name: str) -> float:
        """The share of keys that an i1 keeps, of those that lengths leave."""
        grid = self.grid
        keep = np.broadcast_to(self.value(name) != 0, (grid.batch, grid.heads, grid.queries, grid.keys))
        inside = np.broadcast_to(grid.inside, keep.shape)
        return float(keep[inside].mean()) if inside.any() else 0.5

    def pick(self, type_name: str, recent: float = 0.6) -> str:
        """A value of the type: often one of the last, and one that varies where there is any."""
        names = self.names(type_name)
        if not names:
            return self.make(type_name)
        if self.rng.random() < recent:
            names = names[-4:]
        return self.rng.choice(names)

    def make(self, type_name: str) -> str:
        """A new value of an integer type, from a coordinate or another value."""
        source = self.pick("index")
        if type_name == "i1":
            return self.compare(source)
        return self.emit(self.rng.choice(["arith.index_cast"] * 3 + ["arith.index_castui"]), [source], ["index", type_name])

    # --- Operations ---

    def emit(self, name: str, operands: list[str], types: list[str], **more) -> str:
        """Adds an operation, or rejects it."""
        op = Op(f"e{len(self.region.ops)}", name, list(operands), list(types), **more)
        result_type = op.result_type
        sources = [self.types[use] if use in self.types else self.type_of_capture(use) for use in op.uses()]
        has_floats = is_float(result_type) or any(is_float(source) for source in sources)
        exact = self.exact.run(op)
        if has_floats:
            base = self.base.run(op)
            self.check(op, exact, base)
        else:
            self.base.values[op.result], self.base.types[op.result] = exact, result_type
        self.region.ops.append(op)
        self.types[op.result] = result_type
        if is_float(result_type) and name in EXACT and all(
            use in self.is_exact or not is_float(self.types.get(use, "index")) for use in op.operands
        ):
            if np.array_equal(exact, self.base.values[op.result].astype(np.float64)):
                self.is_exact.add(op.result)
        return op.result

    def type_of_capture(self, name: str) -> str:
        self.exact.value(name), self.base.value(name)
        return self.exact.types[name]

    def check(self, op: Op, exact: np.ndarray, base: np.ndarray) -> None:
        """Rejects what two right answers may differ in: steps at computed values, and what magnifies rounding."""
        def reject(why: str):
            for evaluator in (self.exact, self.base):
                evaluator.values.pop(op.result, None)
            raise Rejected(f"{op.name}: {why}")

        operands = [use for use in op.operands if is_float(self.types.get(use, "index"))]
        if op.name in STEPS and not all(use in self.is_exact for use in operands):
            if op.name != "arith.cmpf":
                reject("a step")
            a, b = (self.value(use) for use in op.operands)
            margin = 1e-4 * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
            if not (np.abs(a - b) > margin).all():
                reject("a step at a value")
        if not is_float(op.result_type):
            if not np.array_equal(exact, base):
                reject("other bits")
            self.base.values[op.result] = exact
            return
        if not np.isfinite(exact).all() or not np.isfinite(base).all():
            if op.name not in ("arith.constant", "arith.select") or np.isnan(exact).any() or (exact == np.inf).any():
                reject("not finite")
        if op.name == "arith.select" or op.name == "arith.constant":
            return
        if (np.abs(exact) > 1e6).any() and (np.abs(exact) < 1e8).any():
            reject("large")
        unit = {"f32": 2e-6, "f64": 2e-6, "f16": 4e-3, "bf16": 3e-2}[op.result_type]
        if any(self.types.get(use) in ("f16", "bf16") for use in operands):
            unit = 3e-2
        if (np.abs(exact - base) > unit * np.maximum(1, np.abs(exact))).any():
            reject("ill conditioned")

    def constant(self, value: int | float, type_name: str) -> str:
        if is_float(type_name):
            value = float(round_to(np.float64(value), type_name))
        else:
            value = int(wrap(np.array([_as_int64(int(value))]), width_of(type_name))[0])
        if self.rng.random() < 0.02:
            return self.outside(value, type_name)
        for op in self.region.ops:
            if op.name == "arith.constant" and op.types == [type_name] and op.value == value and self.rng.random() < 0.7:
                return op.result
        return self.emit("arith.constant", [], [type_name], value=value)

    def integer(self, type_name: str) -> str:
        """A constant that is of interest to integer arithmetic."""
        width, rng = width_of(type_name), self.rng
        if width == 1:
            return self.constant(rng.choice([0, -1]), "i1")
        least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
        kind = rng.random()
        if kind < 0.45:
            value = rng.randint(-4, 12)
        elif kind < 0.6:
            value = rng.choice([1, -1]) << rng.randrange(width)
        elif kind < 0.7:
            value = rng.choice([15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1000, 4095, 65535])
        elif kind < 0.8:
            value = rng.choice([2654435761, 40503, 0x9E3779B9, 1103515245, 6364136223846793005, 12345])
        elif kind < 0.9:
            value = rng.choice([least, most, least + 1, most - 1, -1])
        else:
            value = rng.choice([1 << 30, -(1 << 30), (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 32, 1 << 40])
        return self.constant(value, type_name)

    # --- Captures ---

    def outside(self, value: int | float, type_name: str) -> str:
        """A constant of the function's body, which the region captures."""
        name = f"c{len(self.spec.constants)}"
        self.spec.constants.append(Op(name, "arith.constant", [], [type_name], value=value))
        self.types[name] = type_name
        if is_float(type_name):
            self.is_exact.add(name)
        return name

    def add_scalar(self, type_name: str, value: int | float, prefix: str = "x") -> str:
        name = f"{prefix}{len(self.spec.arguments)}"
        self.spec.arguments[name] = type_name
        dtype = np.float64 if is_float(type_name) else np.int64
        if is_float(type_name):
            value = float(round_to(np.float64(value), type_name))
        elif type_name == "i1":
            value = -1 if value else 0
        else:
            value = int(wrap(np.array([_as_int64(int(value))]), width_of(type_name))[0])
        self.inputs[name] = np.array([value], dtype=dtype)
        self.types[name] = type_name
        if is_float(type_name):
            self.is_exact.add(name)
        return name

    def scalar(self, type_name: str) -> str:
        """A run-time integer; often near an end of its type."""
        rng, width = self.rng, width_of(type_name)
        if type_name == "i16":
            return self.emit("arith.trunci", [self.scalar("i32")], ["i32", "i16"])
        if width == 1:
            return self.add_scalar("i1", rng.choice([0, 1]))
        kind = rng.random()
        least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
        if kind < 0.4:
            value = rng.randint(-3, max(self.grid.queries, self.grid.keys) + 3)
        elif kind < 0.7:
            value = rng.choice([least, most]) + rng.choice([0, 0, 1, -1, 3, -3, 100, -100])
        elif kind < 0.85:
            value = rng.choice([0, 1, -1, 2])
        else:
            value = rng.choice([1, -1]) * rng.choice([1 << 29, 1 << 30, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, 1 << 62])
        return self.add_scalar(type_name, value)

    def axis(self, coordinate: str) -> int:
        """The size of the axis that a bare coordinate addresses."""
        query = self.inputs[self.kernel.tensors[0]]
        return {"b": self.grid.batch, "h": self.grid.heads, "i": query.shape[0 if self.kernel.packed else 1],
                "j": key_rows(self.kernel, self.inputs)}[coordinate]

    def index(self) -> str:
        """A computed index: no bare coordinate."""
        rng = self.rng
        names = [name for name in self.names("index") if name not in COORDINATES]
        if names and rng.random() < 0.6:
            return rng.choice(names)
        kind = rng.random()
        if kind < 0.15:
            return self.constant(rng.randint(-1, 5), "index")
        if kind < 0.35:
            return self.emit("arith.subi", [rng.choice("ij"), rng.choice("ij")], ["index"])
        if kind < 0.55:
            return self.emit("arith.floordivsi", [rng.choice("ij"), self.constant(rng.choice([2, 3, 16, 64]), "index")], ["index"])
        if kind < 0.75:
            return self.emit(rng.choice(["arith.remui", "arith.remsi"]), [rng.choice("ij"), self.constant(rng.randint(2, 9), "index")], ["index"])
        if kind < 0.9:
            return self.emit("arith.addi", [rng.choice("bhij"), self.constant(rng.randint(-3, 3), "index")], ["index"])
        return self.scalar("index")

    def load(self, element: str, like: str = "", rank: int | None = None) -> str:
        """An element of a captured tensor, often a new one. `like` says what it holds."""
        captured = self.capture(element, like, rank, positions=self.rng.random() < 0.06)
        return self.emit("attn.load", [], [element], loads=[captured])

    def capture(self, element: str, like: str = "", rank: int | None = None, positions: bool = False) -> Load:
        rng = self.rng
        known = [one for one in self.captured if shape_of(self.spec.arguments[one.name])[1] == element and self.fits(one)]
        if known and not like and rng.random() < 0.2:
            one = rng.choice(known)
            return Load(one.name, [self.index() if kind == "computed" else kind.split()[0] for kind in one.kinds])
        if rank is None:
            rank = rng.choices([0, 1, 2, 3, 4, 5], [0.02, 0.4, 0.3, 0.13, 0.12, 0.03])[0]
        kinds, indices, sizes, types = [], [], [], []
        elements = 1
        for _ in range(rank):
            if rng.random() < 0.35 or positions:
                kinds.append("computed")
                indices.append(rng.choice("hij") if positions and rng.random() < 0.7 else self.index())
                sizes.append(rng.choice([1, 2, 3, 5, 8, 17, 33, 64]))
                types.append(sizes[-1] if rng.random() < 0.4 else None)
            else:
                coordinate = rng.choice("bhiijj")
                one = rng.random() < 0.2 or elements * self.axis(coordinate) > 200_000
                kinds.append(coordinate + (" one" if one else ""))
                indices.append(coordinate)
                sizes.append(1 if one else self.axis(coordinate))
                types.append(sizes[-1] if rng.random() < 0.25 else None)
            if elements * sizes[-1] > 300_000:
                sizes[-1] = 1
                types[-1] = 1
            elements *= sizes[-1]
        name = f"t{len(self.spec.arguments)}"
        self.spec.arguments[name] = tensor_type(types, element)
        self.inputs[name] = np.asarray(self.content(element, like, sizes)).reshape(sizes)
        self.captured.append(Captured(name, kinds))
        return Load(name, indices, positions and rank > 0)

    def fits(self, one: Captured) -> bool:
        """Whether the coordinates that index it have the sizes here that they had there."""
        sizes = self.inputs[one.name].shape
        return all(kind not in COORDINATES or self.axis(kind) == size for kind, size in zip(one.kinds, sizes))

    def content(self, element: str, like: str, sizes: list[int]) -> np.ndarray:
        draw, rng = self.arrays, self.rng
        if element == "i1":
            return -(draw.uniform(sizes) < rng.choice([0.3, 0.6, 0.8, 0.95])).astype(np.int64)
        if is_float(element):
            if like == "positive":
                return draw.integers(1, 16, sizes) / 8 * (rng.choice([1024.0, 2.0**19]) if rng.random() < 0.05 and element != "f16" else 1)
            if like == "huge":
                return np.where(draw.uniform(sizes) < 0.2, round_to(np.float64(rng.choice([1e30, -1e30])), element).astype(np.float64), 0.0)
            if like == "lowest":
                lowest = {"f32": -3.4028234663852886e38, "f16": -65504.0, "bf16": -3.3895313892515355e38}[element]
                return np.where(draw.uniform(sizes) < 0.3, lowest, 0.0)
            if like == "smooth" or rng.random() < 0.5:
                return round_to(draw.normal(sizes) * rng.choice([0.3, 1.0]), element).astype(np.float64)
            return draw.integers(-16, 16, sizes) / 8
        width = width_of(element)
        kind = rng.random()
        span = max(self.grid.queries, self.grid.keys, 1)
        if like == "ids":
            return np.sort(draw.integers(-1, 3, sizes), axis=-1) if sizes else draw.integers(0, 2, sizes)
        if like == "length" or kind < 0.25:
            value = draw.integers(0, span + 1, sizes)
        elif kind < 0.5:
            value = draw.integers(-3, 5, sizes)
        elif kind < 0.7:
            value = draw.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1, sizes)
        elif kind < 0.85:
            ends = np.array([-(1 << (width - 1)), (1 << (width - 1)) - 1, 0, -1, 1, -(1 << (width - 1)) + 1], dtype=np.int64)
            value = ends[draw.integers(0, len(ends) - 1, sizes)]
        else:
            value = draw.integers(0, 1, sizes)
        return wrap(np.asarray(value, dtype=np.int64), width)

    # --- Conditions ---

    def compare(self, name: str) -> str:
        """An integer against something that both sides of occur."""
        rng, type_name = self.rng, self.types[name]
        if type_name == "i1":
            return name
        predicate = rng.choice(["eq", "ne", "slt", "sle", "sgt", "sge", "slt", "sge", "ult", "ule", "ugt", "uge"])
        kind = rng.random()
        others = [other for other in self.names(type_name) if other != name]
        if kind < 0.25 and others:
            other = rng.choice(others)
        elif kind < 0.35 and type_name != "i16":
            # A run-time number that occurs.
            values = self.value(name).reshape(-1)
            other = self.add_scalar(type_name, int(values[rng.randrange(values.size)]) if values.size else 0)
        elif kind < 0.42 and type_name != "i16":
            other = self.scalar(type_name)
        elif kind < 0.5:
            other = self.integer(type_name)
        else:
            values = self.value(name).reshape(-1)
            other = self.constant(int(values[rng.randrange(values.size)]) if values.size else 0, type_name)
        operands = [name, other] if rng.random() < 0.85 else [other, name]
        return self.emit("arith.cmpi", operands, [type_name], predicate=predicate)

    def finish(self, result: str) -> Region:
        self.region.result = result
        self.region.prune()
        return self.region


def _as_int64(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
