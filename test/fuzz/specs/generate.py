"""Draws whole specs with their inputs. A seed and a number give the same ones on every machine, under every numpy."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from arrays import ArrayGenerator
from builder import Builder, Captured, Rejected
from gradients import Saved, is_differentiable, is_well_conditioned, learnable, run_spec_backward, saved_inputs
from masks import random_mask
from reference import compute_logits, run_kernel, run_spec
from regions import Arrays, make_grid
from scalars import Precision, round_to
from schedules import Problem, machine_of, random_schedules
from scores import multiply_learned, random_score, read_learned, saturate
from spec import Kernel, Op, Spec, reads_captured, shape_of, tensor_type


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large problems may be."""

    rows: tuple[int, ...]
    dims: tuple[int, ...]
    batches: tuple[int, ...]
    key_heads: tuple[int, ...]
    groups: tuple[int, ...]
    logits: int  # of one kernel
    kernels: tuple[float, ...]  # odds of one, two, ... kernels


LARGE = Sizes(
    (1, 2, 5, 17, 31, 33, 63, 64, 65, 96, 100, 127, 128, 129, 130, 160, 191, 200, 255, 257, 300, 384),
    (8, 16, 24, 32, 40, 64, 64, 64, 72, 80, 96, 128, 128, 192, 256), (1, 1, 2, 3), (1, 1, 2, 3), (1, 1, 2, 3, 4, 8),
    250_000, (0.86, 0.1, 0.03, 0.01),
)
# For the simulator, which takes its time.
SMALL = Sizes((1, 3, 16, 17, 33, 48, 63, 64, 65, 70, 80, 129, 150, 200), (8, 16, 32, 64), (1, 1, 2), (1, 2), (1, 2, 4), 40_000, (0.9, 0.1))


# The share of specs whose keys lie in pages.
PAGES = 0.12

# As they are written; heads before rows; strides and addresses that are odd, the outermost dimension backwards.
LAYOUTS = ("row-major", "heads-first", "odd")


@dataclasses.dataclass
class Case:
    """A spec, its inputs, and what they give."""

    number: int
    spec: Spec
    inputs: Arrays
    expected: Arrays
    layout: str = "row-major"  # of tensors in memory, one of LAYOUTS
    backward: bool = False  # whether gradients are what is computed
    saved: Saved = dataclasses.field(default_factory=dict)  # what a backward reads beside, with its element types

    def compute_gradients(self) -> bool:
        """Computes what a backward reads and gives; whether it is well conditioned."""
        self.saved, self.expected = {}, {}
        if not is_differentiable(self.spec):
            return True
        self.saved = saved_inputs(self.spec, self.inputs, self.number)
        saved = {name: value for name, (_, value) in self.saved.items()}
        self.expected = run_spec_backward(self.spec, self.inputs, saved)
        return is_well_conditioned(self.spec, self.inputs, saved, self.expected)


class Generator:
    def __init__(self, seed: int, number: int, sizes: Sizes, backward: bool = False, pages: float = PAGES) -> None:
        self.backward, self.share_of_pages = backward, 0.0 if backward else pages
        self.rng = random.Random(f"{seed}/{number}")
        self.seed_rng = random.Random(f"{seed}/{number}/seeds")
        self.page_rng = random.Random(f"{seed}/{number}/pages")
        self.arrays = ArrayGenerator(self.rng.getrandbits(64))
        self.sizes = sizes
        self.spec = Spec("f", {}, [], [], [])
        self.inputs: Arrays = {}
        self.captured: list[Captured] = []
        self.expected: Arrays = {}

    # --- The problem ---

    def draw_problem(self) -> None:
        rng, sizes = self.rng, self.sizes
        self.element = rng.choices(["f32", "bf16", "f16"], [0.22, 0.46, 0.32])[0]
        self.packed = rng.random() < 0.2
        self.batch = rng.choice(sizes.batches)
        self.queries, self.keys = rng.choice(sizes.rows), rng.choice(sizes.rows)
        kind = rng.random()
        if kind < 0.4:
            self.keys = self.queries
        elif kind < 0.5:
            self.queries = 1
        elif kind < 0.6:
            self.queries, self.keys = max(self.queries, self.keys), min(self.queries, self.keys)
        # Which sizes stand in the types.
        self.static = {axis: rng.random() < 0.25 for axis in ("b", "q", "k")}
        if self.packed:
            self.batch = rng.choice([1, 2, 3, 5])
        # Keys in pages, of so many rows; 0 for none.
        self.page_rows = self.page_rng.choice([16, 16, 64, 8, 24, 128, 5, 1]) if self.page_rng.random() < self.share_of_pages else 0
        if self.page_rows:
            self.keys = -(-self.keys // self.page_rows) * self.page_rows
            entries = self.batch * self.keys // self.page_rows
            self.pages = self.page_rng.choice([entries, entries, entries + 3, max(1, entries // 2), 1])

    def heads(self) -> tuple[int, int]:
        while True:
            key_heads, group = self.rng.choice(self.sizes.key_heads), self.rng.choice(self.sizes.groups)
            if key_heads * group * self.batch * self.queries * self.keys <= self.sizes.logits or key_heads * group == 1:
                return key_heads, group

    def add(self, name: str, sizes: list[int], static: list[bool], element: str, value: np.ndarray) -> str:
        self.spec.arguments[name] = tensor_type([size if fixed else None for size, fixed in zip(sizes, static)], element)
        self.inputs[name] = value
        return name

    def draw_dim(self) -> int:
        """A head dim. Long ones in f32 are few: a GPU's assembler takes ten times as long for them as for all others."""
        dims = self.sizes.dims
        if self.element == "f32" and self.rng.random() < 0.8:
            dims = [dim for dim in dims if dim <= 64]
        return self.rng.choice(dims)

    def rows_tensor(self, name: str, axis: str, heads: int, dim: int) -> str:
        rows = self.queries if axis == "q" else self.keys
        sizes = [rows, heads, dim] if self.packed else [self.batch, rows, heads, dim]
        static = [self.static[axis], True, True] if self.packed else [self.static["b"], self.static[axis], True, True]
        if axis == "k" and self.page_rows:
            sizes, static = [self.pages, self.page_rows, heads, dim], [self.static["k"], True, True, True]
        # Large logits in f32 tell orders of summation apart, in few elements by chance; in 16 bits weights round more.
        large = self.rng.random() < 0.03 and self.element != "f32"
        factor = self.rng.choice([0.5, 1.0, 1.0, 3.0]) * (30.0 if large else 1.0)
        value = round_to(self.arrays.normal(sizes) * factor, self.element)
        return self.add(name, sizes, static, self.element, value.astype(np.float64))

    def draw_pages(self) -> str:
        """The table of pages; what is behind a length is not read."""
        entries = self.keys // self.page_rows
        order = [n % self.pages for n in range(max(self.pages, self.batch * entries))]
        self.page_rng.shuffle(order)
        table = np.array(order[: self.batch * entries], dtype=np.int64).reshape(self.batch, entries)
        return self.add("page_table", [self.batch, entries], [self.static["b"], self.static["k"]], "i32", table)

    def draw_tensors(self, number: int, kind: str) -> list[str]:
        rng = self.rng
        before = [kernel for kernel in self.spec.kernels if kernel.kind == "forward"]
        if before and rng.random() < 0.5:
            return before[0].tensors[: 3 if kind == "forward" else 2]
        key_heads, group = self.heads()
        dim = self.draw_dim()
        value_dim = dim if rng.random() < 0.7 else self.draw_dim()
        suffix = str(number) if number else ""
        query = self.rows_tensor("q" + suffix, "q", key_heads * group, dim)
        again = 0.2 if self.backward else 1.0  # of the odds that one tensor serves twice: such have no gradients
        if not self.page_rows and group == 1 and self.queries == self.keys and self.static["q"] == self.static["k"] and rng.random() < 0.05 * again:
            return [query, query, query][: 3 if kind == "forward" else 2]
        key = self.rows_tensor("k" + suffix, "k", key_heads, dim)
        if kind == "weights":
            return [query, key]
        if value_dim == dim and rng.random() < 0.04 * again:
            return [query, key, key]
        return [query, key, self.rows_tensor("v" + suffix, "k", key_heads, value_dim)]

    # --- Clauses ---

    def add_scalar(self, type_name: str, value: int | float, prefix: str) -> str:
        name = f"{prefix}{len(self.spec.arguments)}"
        self.spec.arguments[name] = type_name
        self.inputs[name] = np.array([value], dtype=np.float64 if type_name == "f32" else np.int64)
        return name

    def add_seed(self, seed: int) -> str:
        """A seed of dropout, or words of one, the last of which are numbers of the first batch entry and head."""
        name, rng = self.add_scalar("i64", seed, "seed"), self.seed_rng
        if rng.random() < 0.4:
            numbers = rng.choice([[], [0, 0], [3, 5], [rng.getrandbits(31), -rng.getrandbits(31)]])
            self.inputs[name] = np.append(self.inputs[name].view(np.int32).astype(np.int64), np.array(numbers, np.int64))
            self.spec.arguments[name] = f"tensor<{len(self.inputs[name])}xi32>"
        elif rng.random() < 0.15:
            name = f"c{len(self.spec.constants)}"
            self.spec.constants.append(Op(name, "arith.constant", [], ["i64"], value=seed))
        return name

    def draw_offsets(self) -> dict[str, str]:
        """Cumulative lengths; empty sequences are among them."""
        clause = {}
        together = self.queries == self.keys and self.rng.random() < 0.5
        for side, total in (("query", self.queries), ("key", self.keys)):
            if side == "key" and self.page_rows:
                continue
            cuts = np.sort(self.arrays.integers(0, total, [self.batch - 1]))
            if self.batch > 2 and self.rng.random() < 0.4:
                cuts[0] = cuts[1]
            if together and side == "key":
                clause[side] = clause["query"]
                continue
            value = np.concatenate([[0], cuts, [total]]).astype(np.int64)
            clause[side] = self.add(f"{side}_offsets", [self.batch + 1], [self.static["b"]], "i32", value)
        return clause

    def draw_lengths(self) -> dict[str, str]:
        clause = {}
        for side, total in (("query", self.queries), ("key", self.keys)):
            if self.rng.random() < 0.35 or (side == "query" and self.packed):
                continue
            value = self.arrays.integers(0, total, [self.batch])
            for n in range(self.batch):
                value[n] = self.rng.choice([value[n], value[n], 0, 1, total])
            name = f"{side}_lengths{len(self.spec.arguments)}"
            clause[side] = self.add(name, [self.batch], [self.static["b"]], "i32", value.astype(np.int64))
        return clause

    def draw_clauses(self, kernel: Kernel) -> None:
        rng, clauses = self.rng, kernel.clauses
        heads = self.inputs[kernel.tensors[0]].shape[-2]
        if self.packed:
            before = self.spec.kernels[0].clauses.get("varlen") if self.spec.kernels else None
            clauses["varlen"] = dict(before) if isinstance(before, dict) else self.draw_offsets()
        if self.page_rows:
            clauses["paged"] = self.spec.kernels[0].page_table if self.spec.kernels else self.draw_pages()
        if (rng.random() < 0.7) if self.page_rows else (not self.packed and rng.random() < 0.3):
            if lengths := self.draw_lengths():
                clauses["lengths"] = lengths
        if rng.random() < 0.3:
            scale = float(np.float32(rng.choice([0.0625, 0.125, 0.1, 0.5, 0.05, 0.25, -0.125])))
            clauses["scale"] = self.add_scalar("f32", scale, "scale") if rng.random() < 0.4 else scale
        if rng.random() < 0.2:
            count = rng.choice([1, 1, 2, 5])
            sizes = [heads, count] if rng.random() < 0.7 else [count]
            element = rng.choice(["f32", "bf16", "f16"])
            value = round_to(self.arrays.normal(sizes) * 2, element).astype(np.float64)
            if rng.random() < 0.1 and element != "f16":
                value.flat[0] = round_to(np.float64(rng.choice([1e30, -1e30, 1e36, -1e36])), element)
            clauses["sinks"] = self.add(f"sinks{len(self.spec.arguments)}", sizes, [True] * 2, element, value)
        if rng.random() < 0.12:
            seed = rng.choice([rng.getrandbits(63), -rng.getrandbits(63), 0, -1, (1 << 63) - 1, rng.getrandbits(32)])
            probability = rng.choice([0.1, 0.1, 0.5, 0.25, 0.0, 1.0, 0.9])
            first = self.add_scalar("f32", float(np.float32(probability)), "p") if rng.random() < 0.4 else probability
            clauses["dropout"] = (first, self.add_seed(seed))
        if rng.random() < 0.35:
            clauses["align"] = rng.choice(["top_left", "top_left", "bottom_right"])
        if rng.random() < 0.22:
            offset = rng.choice([0, 1, rng.randint(0, self.keys), -rng.randint(1, 9), 1000, 65536, (1 << 29) - 7, 1 << 29,
                                 1 << 30, (1 << 31) - 1 - self.queries - self.keys])
            clauses["q_offset"] = self.add_scalar("index", offset, "offset")
            if rng.random() < 0.15 and offset < (1 << 31) - (1 << 29):
                name = f"c{len(self.spec.constants)}"
                self.spec.constants.append(Op(name, "arith.constant", [], ["index"], value=offset))
                clauses["q_offset"] = name
        names = list(clauses)
        rng.shuffle(names)
        kernel.clauses = {name: clauses[name] for name in names}

    # --- Regions ---

    def draw_regions(self, kernel: Kernel) -> None:
        rng = self.rng
        grid = make_grid(self.spec, kernel, self.inputs)
        kind = rng.random()
        if kind < 0.82:
            builder = Builder(rng, self.spec, kernel, grid, self.inputs, None, self.captured)
            kernel.mask = random_mask(builder)
        self.expect(kernel)
        if rng.random() > 0.62:
            return
        logits = [compute_logits(self.spec, kernel, self.inputs, grid, precision) for precision in Precision]
        exact, base = (np.where(grid.inside, values, 0) for values in logits)
        for _ in range(3):
            builder = Builder(rng, self.spec, kernel, grid, self.inputs, (exact, base), self.captured)
            try:
                kernel.score = random_score(builder)
            except Rejected:
                continue
            if self.expect(kernel):
                return
            kernel.score = None
        self.expect(kernel)

    def expect(self, kernel: Kernel) -> bool:
        """Computes what the kernel gives; whether it is well conditioned."""
        exact = run_kernel(self.spec, kernel, self.inputs, Precision.EXACT)
        if kernel.score:
            base = run_kernel(self.spec, kernel, self.inputs, Precision.BASELINE)
            unit = {"f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}[self.element]
            for name, value in exact.items():
                empty = value == -np.inf
                if not np.isfinite(value[~empty]).all() or not np.array_equal(base[name] == -np.inf, empty):
                    return False
                difference = np.abs(value[~empty] - base[name][~empty])
                size = np.abs(value[~empty]) if name in kernel.results[1:] else np.abs(value[~empty]).max(initial=0)
                if (difference > (2e-5 if name in kernel.results[1:] else unit) * np.maximum(1, size)).any():
                    return False
        self.expected.update(exact)
        return True

    # --- All of it ---

    def draw_returns(self) -> None:
        rng, returns = self.rng, []
        # A backward is of functions that return what it differentiates.
        odd = rng.random() < (0.05 if self.backward else 0.2)
        for kernel in self.spec.kernels:
            for name in kernel.results:
                if not odd or rng.random() < 0.6:
                    returns.append(name)
            if len(kernel.results) > 1 and not set(kernel.results) & set(returns):
                returns.append(rng.choice(kernel.results))
        if not returns:
            returns = [self.spec.kernels[0].results[0]]
        if odd and rng.random() < 0.3:
            returns.append(rng.choice(returns))
        if odd and rng.random() < 0.5:
            rng.shuffle(returns)
        self.spec.returns = [(name, f"r{n}") for n, name in enumerate(returns)]

    def drop_unseen(self, kernel: Kernel, lengths: dict[str, str]) -> np.ndarray:
        """Lets entries behind lengths name anything; the rows of pages that no sequence has keys in: [P, rows of a page]."""
        table, rows = self.inputs[kernel.page_table or ""], self.page_rows
        counts = self.inputs[lengths["key"]] if "key" in lengths else np.full(self.batch, self.keys)
        seen = np.zeros((len(self.inputs[kernel.tensors[1]]), rows), dtype=bool)
        for entries, count in zip(table, counts):
            for n, page in enumerate(entries):
                seen[page, : max(0, int(count) - n * rows)] = True
            entries[-(-int(count) // rows) :] = self.page_rng.choice([-1, 0, (1 << 31) - 1, -(1 << 31), len(seen)])
        return ~seen

    def poison(self) -> None:
        """Rows behind lengths hold anything (S11)."""
        kernel = self.spec.kernels[0]
        lengths = kernel.clauses.get("lengths")
        if len(self.spec.kernels) > 1 or not isinstance(lengths, dict) or len(set(kernel.tensors)) < len(kernel.tensors):
            return
        if self.rng.random() < 0.5:
            return
        unseen = self.drop_unseen(kernel, lengths) if kernel.page_table else None
        for name, side in zip(kernel.tensors, ("query", "key", "key")):
            if side == "key" and unseen is not None:
                self.inputs[name][unseen] = self.rng.choice([np.nan, np.inf, 1e4])
            elif side in lengths:
                for n, length in enumerate(self.inputs[lengths[side]]):
                    self.inputs[name][n, int(length) :] = self.rng.choice([np.nan, np.inf, 1e4])

    def draw(self) -> None:
        rng = self.rng
        self.draw_problem()
        count = rng.choices(range(1, len(self.sizes.kernels) + 1), self.sizes.kernels)[0]
        for number in range(count):
            # Weights have no gradients.
            kind = "weights" if not self.packed and not self.page_rows and rng.random() < (0.01 if self.backward else 0.12) else "forward"
            results = [f"o{number}"] + ([f"l{number}"] if kind == "forward" and rng.random() < 0.75 else [])
            kernel = Kernel(kind, results, self.draw_tensors(number, kind))
            self.draw_clauses(kernel)
            self.draw_regions(kernel)
            self.spec.kernels.append(kernel)
        self.draw_returns()
        self.spec.prune()
        self.inputs = {name: self.inputs[name] for name in self.spec.arguments}
        self.expected = {name: self.expected[value] for value, name in self.spec.returns}
        self.poison()


def learn(rng: random.Random, case: Case) -> None:
    """Lets scores read tensors that can have gradients."""
    spec, arrays = case.spec, ArrayGenerator(case.number)
    # What has a gradient broadcasts by its type.
    for name, kind in spec.arguments.items():
        if kind.startswith("tensor") and any(reads_captured(kernel, name) for kernel in spec.kernels):
            sizes, element = shape_of(kind)
            spec.arguments[name] = tensor_type([1 if size == 1 else typed for typed, size in zip(sizes, case.inputs[name].shape)], element)
    for number in range(rng.choice([0, 1, 1, 2, 3])):
        kernel = rng.choice(spec.kernels)
        if rng.random() < 0.15:
            is_tensor = rng.random() < 0.4
            multiply_learned(spec, kernel, f"y{number}", is_tensor)
            case.inputs[f"y{number}"] = round_to(arrays.normal([] if is_tensor else [1]) * 0.25, "f32").astype(np.float64)
            continue
        (query, _), (key, _) = (shape_of(spec.arguments[name]) for name in kernel.tensors[:2])
        shapes = [case.inputs[name].shape for name in kernel.tensors[:2]]
        sequences = (None, make_grid(spec, kernel, case.inputs).batch) if kernel.packed else (query[0], shapes[0][0])
        sizes = {"b": sequences, "h": (shapes[0][-2], shapes[0][-2]), "i": (query[-3], shapes[0][-3]), "j": (key[-3], shapes[1][-3])}
        shape = read_learned(rng, spec, kernel, f"y{number}", sizes)
        kind = shape_of(spec.arguments[f"y{number}"])[1]
        case.inputs[f"y{number}"] = round_to(arrays.normal(shape) * 0.25, kind).astype(np.float64)


def generate(seed: int, number: int, sizes: Sizes = LARGE, backward: bool = False, pages: float = PAGES) -> Case:
    generator = Generator(seed, number, sizes, backward, pages)
    generator.draw()
    layout = random.Random(f"{seed}/{number}/layout").choices(LAYOUTS, [0.7, 0.1, 0.2])[0]
    case = Case(number, generator.spec, generator.inputs, generator.expected, layout, backward)
    if backward:
        rng = random.Random(f"{seed}/{number}/backward")
        if rng.random() < 0.08:
            saturate(rng.choice(case.spec.kernels), rng.choice([20.0, 60.0, 150.0]))
        learn(rng, case)
        case.spec.deterministic = random.Random(f"{seed}/{number}/deterministic").random() < 0.25
        learned = learnable(case.spec, case.inputs, ordered=case.spec.deterministic)
        case.spec.learned = [name for name in learned if rng.random() < 0.7]
        # Where a slope steps at a value that occurs, the score goes.
        for kernel in (None, *(kernel for kernel in case.spec.kernels if kernel.score)):
            if kernel:
                kernel.score = None
                case.spec.prune()
                case.inputs = {name: case.inputs[name] for name in case.spec.arguments}
            if case.compute_gradients():
                break
    if random.Random(f"{seed}/{number}/tf32").random() < 0.3:
        ask_for_tf32(case)
    return case


def ask_for_tf32(case: Case) -> None:
    """Has products of f32 round to TF32, unless a score makes far too much of it."""
    case.spec.tf32 = True
    if not any(case.spec.rounds_to_tf32(kernel) for kernel in case.spec.kernels):
        case.spec.tf32 = False
    elif case.backward:
        saved = {name: value for name, (_, value) in case.saved.items()}
        case.spec.tf32 = bool(saved) and is_well_conditioned(case.spec, case.inputs, saved, case.expected)
    else:
        base = run_spec(case.spec, case.inputs, Precision.BASELINE)
        for name, exact in case.expected.items():
            empty = exact == -np.inf
            difference = np.abs(base[name][~empty] - exact[~empty])
            if not np.array_equal(base[name] == -np.inf, empty) or not (difference <= 2e-2 * max(1, np.abs(exact[~empty]).max(initial=0))).all():
                case.spec.tf32 = False


def with_schedules(case: Case, seed: int, target: str, share: float) -> Case:
    """The case with schedules of its own, for the machine of `target`, in about `share` of its kernels."""
    scheduled = dataclasses.replace(case, spec=case.spec.copy())
    if case.backward:
        # A schedule of forward is none of its backward.
        return scheduled
    machine = machine_of(target)
    for place, kernel in enumerate(scheduled.spec.kernels if machine else []):
        query, key, *values = (shape_of(case.spec.arguments[name]) for name in kernel.tensors)
        (*_, rows, heads, dim), element = query
        sizes = case.inputs[kernel.tensors[0]].shape
        captured = [shape_of(kind) for name, kind in case.spec.arguments.items() if kind.startswith("tensor") and reads_captured(kernel, name)]
        # Of packed sequences the copy engine cannot take them as they lie.
        captures = not kernel.packed and any(element in ("bf16", "f16") and len(dims) > 1 for dims, element in captured)
        problem = Problem(machine, element, int(dim or 0), int(values[0][0][-1] or 0) if values else 0,
                          int(heads or 1) // int(key[0][-2] or 1), rows or sizes[-3], int(key[0][1] or 0) if kernel.page_table else 0, captures)
        if schedules := random_schedules(f"{seed}/{case.number}/{place}", problem, share):
            kernel.clauses["schedule"] = schedules
    return scheduled
