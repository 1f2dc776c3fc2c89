"""A spec as data: what the generator builds, the numpy reference reads and the reducer cuts, to and from MLIR text.

The text is a subset of the language: one operation a line, as `Spec.text` writes it. `parse` reads that again, so that a
spec that was saved, or edited by hand, can be judged.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
import struct

from schedules import Schedule, parse_schedules


@dataclasses.dataclass
class Load:
    """A captured tensor and the indices of one element; with `computed`, bare coordinates among them are positions."""

    tensor: str
    indices: list[str]
    computed: bool = False

    def text(self) -> str:
        return f"%{self.tensor}[{', '.join('%' + index for index in self.indices)}]"


@dataclasses.dataclass
class Op:
    """An operation of a region, or a constant. `types` holds its operand's type, then its result's where that differs."""

    result: str
    name: str
    operands: list[str] = dataclasses.field(default_factory=list)
    types: list[str] = dataclasses.field(default_factory=list)
    value: int | float | None = None  # of constants
    predicate: str = ""  # of comparisons
    loads: list[Load] = dataclasses.field(default_factory=list)
    sides: dict[str, int | str] = dataclasses.field(default_factory=dict)  # of windows and caps: literals or names

    @property
    def result_type(self) -> str:
        if self.name in ("arith.cmpi", "arith.cmpf") or self.name.startswith("math.is"):
            return "i1"
        return self.types[-1]

    def uses(self) -> list[str]:
        """The names of the scalars that it reads."""
        names = list(self.operands)
        for load in self.loads:
            names += load.indices
        return names + [side for side in self.sides.values() if isinstance(side, str)]

    def rename(self, names: dict[str, str]) -> None:
        """Reads other scalars instead."""
        self.operands = [names.get(name, name) for name in self.operands]
        for load in self.loads:
            load.indices = [names.get(name, name) for name in load.indices]
        self.sides = {key: names.get(side, side) if isinstance(side, str) else side for key, side in self.sides.items()}


@dataclasses.dataclass
class Region:
    arguments: list[str]
    ops: list[Op]
    result: str

    def prune(self) -> None:
        """Drops what the result does not need."""
        needed, kept = {self.result}, []
        for op in reversed(self.ops):
            if op.result in needed:
                needed.update(op.uses())
                kept.append(op)
        self.ops = kept[::-1]


@dataclasses.dataclass
class Kernel:
    """An `attn.forward` or `attn.weights`. Clauses hold literals, names of arguments, or schedules."""

    kind: str
    results: list[str]
    tensors: list[str]
    clauses: dict[str, object] = dataclasses.field(default_factory=dict)
    score: Region | None = None
    mask: Region | None = None

    def regions(self) -> list[tuple[str, Region]]:
        return [(name, region) for name, region in (("score", self.score), ("mask", self.mask)) if region]

    @property
    def packed(self) -> bool:
        return "varlen" in self.clauses

    @property
    def page_table(self) -> str | None:
        """The table of the pages that keys and values lie in, where they do."""
        table = self.clauses.get("paged")
        assert table is None or isinstance(table, str)
        return table

    @property
    def schedules(self) -> list[Schedule]:
        """Those of its own; often none."""
        schedules = self.clauses.get("schedule", [])
        assert isinstance(schedules, list)
        return schedules


@dataclasses.dataclass
class Spec:
    name: str
    arguments: dict[str, str]  # names to types
    kernels: list[Kernel]
    constants: list[Op]
    returns: list[tuple[str, str]]  # values and the names of results
    learned: list[str] = dataclasses.field(default_factory=list)  # captured tensors whose gradients are wanted
    deterministic: bool = False  # gradients with the same bits in every run
    tf32: bool = False  # products of f32 by TF32

    def rounds_to_tf32(self, kernel: Kernel) -> bool:
        """Whether plain computations of a kernel round what they multiply."""
        return self.tf32 and element_type(self.arguments[kernel.tensors[0]]) == "f32"

    def copy(self) -> Spec:
        return copy.deepcopy(self)

    # --- Types ---

    def result_types(self) -> dict[str, str]:
        types = {}
        for kernel in self.kernels:
            query, element = shape_of(self.arguments[kernel.tensors[0]])
            if kernel.kind == "weights":
                key, _ = shape_of(self.arguments[kernel.tensors[1]])
                types[kernel.results[0]] = tensor_type([query[0], query[2], query[1], key[1]], element)
                continue
            value, _ = shape_of(self.arguments[kernel.tensors[2]])
            types[kernel.results[0]] = tensor_type([*query[:-1], value[-1]], element)
            if len(kernel.results) > 1:
                rows = query[:-1]
                types[kernel.results[1]] = tensor_type([*rows[:-2], rows[-1], rows[-2]], "f32")
        return types

    def uses(self) -> set[str]:
        """The arguments and constants that something reads."""
        names: set[str] = set()
        for kernel in self.kernels:
            names.update(kernel.tensors)
            for clause in kernel.clauses.values():
                parts = clause.values() if isinstance(clause, dict) else clause if isinstance(clause, tuple) else [clause]
                names.update(part for part in parts if isinstance(part, str))
            for _, region in kernel.regions():
                for op in region.ops:
                    names.update(op.uses())
                    names.update(load.tensor for load in op.loads)
                names.add(region.result)
        return names

    def prune(self) -> None:
        """Drops kernels without results, then arguments and constants that nothing reads."""
        returned = {value for value, _ in self.returns}
        self.kernels = [kernel for kernel in self.kernels if returned & set(kernel.results)]
        for kernel in self.kernels:
            for _, region in kernel.regions():
                region.prune()
        used = self.uses()
        self.constants = [op for op in self.constants if op.result in used]
        self.arguments = {name: type_name for name, type_name in self.arguments.items() if name in used}
        self.learned = [name for name in self.learned if any(reads_captured(kernel, name) for kernel in self.kernels)]

    def size(self) -> int:
        """What the reducer makes small."""
        ops = sum(len(region.ops) for kernel in self.kernels for _, region in kernel.regions())
        clauses = sum(len(kernel.clauses) for kernel in self.kernels)
        return 10 * ops + 20 * len(self.kernels) + 5 * clauses + 3 * len(self.arguments) + 2 * len(self.returns)

    # --- Text ---

    def text(self) -> str:
        types = self.result_types()
        mark = lambda name: ", attn.requires_grad" if name in self.learned else ""
        arguments = ",\n    ".join(f'%{name}: {type_name} {{attn.name = "{name}"{mark(name)}}}' for name, type_name in self.arguments.items())
        results = ", ".join(f'{types[value]} {{attn.name = "{name}"}}' for value, name in self.returns)
        asked = [f"attn.{name}" for name in ("deterministic", "tf32") if getattr(self, name)]
        asks = f" attributes {{{', '.join(asked)}}}" if asked else ""
        lines = [f"func.func @{self.name}(\n    {arguments})\n    -> ({results}){asks} {{"]
        lines += ["  " + op_text(op) for op in self.constants]
        for kernel in self.kernels:
            lines += self.kernel_lines(kernel, types)
        values = ", ".join("%" + value for value, _ in self.returns)
        value_types = ", ".join(types[value] for value, _ in self.returns)
        lines += [f"  return {values} : {value_types}", "}"]
        return "\n".join(lines) + "\n"

    def kernel_lines(self, kernel: Kernel, types: dict[str, str]) -> list[str]:
        names = ", ".join("%" + name for name in kernel.results)
        tensors = ", ".join("%" + name for name in kernel.tensors)
        lines = [f"  {names} = attn.{kernel.kind} {tensors}"]
        lines += ["    " + clause_text(name, clause, self.arguments) for name, clause in kernel.clauses.items()]
        for name, region in kernel.regions():
            lines.append(f"    {name} ({', '.join('%' + argument for argument in region.arguments)}) {{")
            lines += ["      " + op_text(op, self.arguments) for op in region.ops]
            lines += [f"      attn.yield %{region.result} : {'f32' if name == 'score' else 'i1'}", "    }"]
        ins = ", ".join(self.arguments[name] for name in kernel.tensors)
        outs = ", ".join(types[name] for name in kernel.results)
        lines.append(f"    : ({ins}) -> ({outs})")
        return lines


def reads_captured(kernel: Kernel, name: str) -> bool:
    """Whether the score of a kernel reads a captured tensor or scalar, or it is the scale."""
    ops = kernel.score.ops if kernel.score else []
    return kernel.clauses.get("scale") == name or any(name in op.uses() or any(load.tensor == name for load in op.loads) for op in ops)


def element_type(type_name: str) -> str:
    """The element type of a tensor type, or the type of a scalar."""
    return shape_of(type_name)[1] if type_name.startswith("tensor") else type_name


def shape_of(type_name: str) -> tuple[list[int | None], str]:
    """Sizes (None where dynamic) and element type of a tensor type."""
    *sizes, element = type_name[len("tensor<") : -1].split("x")
    return [None if size == "?" else int(size) for size in sizes], element


def tensor_type(sizes: list[int | None], element: str) -> str:
    return "tensor<" + "".join(("?" if size is None else str(size)) + "x" for size in sizes) + element + ">"


def float_text(value: float, type_name: str) -> str:
    if not math.isfinite(value):
        bits = {"f64": ("<d", "<Q", 16), "f32": ("<f", "<I", 8)}.get(type_name)
        if bits:
            return f"0x{struct.unpack(bits[1], struct.pack(bits[0], value))[0]:0{bits[2]}X}"
        sign = value < 0
        return {"f16": ("0x7C00", "0xFC00"), "bf16": ("0x7F80", "0xFF80")}[type_name][sign]
    text = repr(float(value))
    return text if "." in text or "e" not in text else text.replace("e", ".0e")


def op_text(op: Op, arguments: dict[str, str] | None = None) -> str:
    """One line of MLIR."""
    arguments = arguments or {}
    head, operands = f"%{op.result} = {op.name}", ", ".join("%" + name for name in op.operands)
    side = lambda value: "%" + value if isinstance(value, str) else float_text(value, "f32") if isinstance(value, float) else str(value)
    load_types = ", ".join(arguments.get(load.tensor, "?") for load in op.loads)
    loads = ", ".join(load.text() for load in op.loads)
    if op.name == "arith.constant":
        if op.types[0] == "i1":
            return f"{head} {'true' if op.value else 'false'}"
        text = float_text(op.value, op.types[0]) if op.types[0] in ("f16", "bf16", "f32", "f64") else str(op.value)
        return f"{head} {text} : {op.types[0]}"
    if op.name in ("arith.cmpi", "arith.cmpf"):
        return f"{head} {op.predicate}, {operands} : {op.types[0]}"
    if op.name == "math.clampf":
        value, low, high = op.operands
        return f"{head} %{value} to [%{low}, %{high}] : {op.types[0]}"
    if op.name == "attn.load":
        flags = ", ".join(["false"] * len(op.loads[0].indices))
        return f"{head} {loads}{f' {{coordinates = array<i1: {flags}>}}' if op.loads[0].computed else ''} : {load_types}"
    if op.name == "attn.softcap":
        return f"{head} {operands}, {side(op.sides['cap'])}"
    if op.name in ("attn.bias", "attn.prefix"):
        return f"{head} {operands}, {loads} : {load_types}"
    if op.name == "attn.alibi":
        logit, i, j = op.operands
        return f"{head} %{logit}, {loads}, %{i}, %{j} : {load_types}"
    if op.name == "attn.same_segment":
        return f"{head} {loads} : {load_types}"
    if op.name in ("attn.causal", "attn.window"):
        return " ".join([f"{head} {operands}", *(f"{key}({side(value)})" for key, value in op.sides.items())])
    if op.name == "math.fpowi":
        return f"{head} {operands} : {', '.join(op.types[:2])}"
    casts = len(op.types) == 2 and op.name != "arith.select"
    return f"{head} {operands} : {' to '.join(op.types) if casts else op.types[-1]}"


def clause_text(name: str, clause: object, arguments: dict[str, str]) -> str:
    value = lambda part: "%" + part if isinstance(part, str) else float_text(part, "f32") if isinstance(part, float) else str(part)
    if name in ("lengths", "varlen"):
        assert isinstance(clause, dict)
        return f"{name}({', '.join(f'{side} = %{tensor} : {arguments[tensor]}' for side, tensor in clause.items())})"
    if name in ("sinks", "paged"):
        return f"{name}(%{clause} : {arguments[str(clause)]})"
    if name == "align":
        return f"align({clause})"
    if name == "schedule":
        assert isinstance(clause, list)
        return f"schedule({', '.join(schedule.text() for schedule in clause)})"
    if name == "dropout":
        assert isinstance(clause, tuple)
        type_name = arguments.get(clause[1], "i64")  # a constant has none there
        return f"dropout({value(clause[0])}, %{clause[1]}{f' : {type_name}' if 'tensor' in type_name else ''})"
    return f"{name}({value(clause)})"


# --- Reading ----------------------------------------------------------------------------------------------------------

_LOAD = re.compile(r"%([\w]+)\[([^\]]*)\]")


def _number(text: str, type_name: str) -> int | float:
    if type_name in ("f16", "bf16", "f32", "f64"):
        if text.startswith("0x"):
            bits = int(text, 16)
            if type_name == "bf16":
                bits <<= 16
            form = {"f64": ("<Q", "<d"), "f16": ("<H", "<e")}.get(type_name, ("<I", "<f"))
            return struct.unpack(form[1], struct.pack(form[0], bits))[0]
        return float(text)
    return int(text)


def _name_or_number(text: str) -> str | int | float:
    text = text.strip()
    if text.startswith("%"):
        return text[1:]
    return float(text) if re.search(r"[.eE]", text) else int(text)


def parse_op(line: str) -> Op:
    match = re.match(r"\s*%(\w+) = ([\w.]+)\s*(.*)$", line)
    if not match:
        raise ValueError(f"cannot read the operation '{line.strip()}'")
    result, name, rest = match.groups()
    op = Op(result, name)
    if name == "arith.constant":
        if rest in ("true", "false"):
            op.value, op.types = (-1 if rest == "true" else 0), ["i1"]
        else:
            text, type_name = (part.strip() for part in rest.split(" : "))
            op.value, op.types = _number(text, type_name), [type_name]
        return op
    for load in _LOAD.finditer(rest):
        indices = [part.strip()[1:] for part in load[2].split(",") if part.strip()]
        op.loads.append(Load(load[1], indices, "{coordinates = " in rest))
    rest = re.sub(r" \{coordinates = [^}]*\}", "", rest)
    if name == "math.clampf":
        op.operands = re.findall(r"%(\w+)", rest.split(" : ")[0])
        op.types, op.loads = [rest.split(" : ")[1].strip()], []
        return op
    body, _, types = _LOAD.sub("", rest).partition(" : ")
    if name == "attn.window":
        for side, value in re.findall(r"(left|right)\(([^)]*)\)", body):
            op.sides[side] = _name_or_number(value)
        body = re.sub(r"(left|right)\([^)]*\)", "", body)
    if name == "attn.softcap":
        first, cap = body.split(",")
        op.sides["cap"], body = _name_or_number(cap), first
    if name in ("arith.cmpi", "arith.cmpf"):
        op.predicate, body = body.split(",", 1)
    op.operands = re.findall(r"%(\w+)", body)
    if name.startswith("attn."):
        op.types = {"attn.load": [shape_of(types.strip())[1]] if name == "attn.load" else []}.get(name) or (
            ["f32"] if name in ("attn.softcap", "attn.bias", "attn.alibi") else ["i1"]
        )
    elif name == "math.fpowi":
        first, second = (part.strip() for part in types.split(","))
        op.types = [first, second, first]
    else:
        op.types = [part.strip() for part in types.split(" to ")]
    return op


def parse(text: str) -> Spec:
    """The spec that `Spec.text` wrote."""
    lines = [line.split("//")[0].rstrip() for line in text.splitlines()]
    head = re.match(
        r"\s*func\.func @(\w+)\((.*?)\)\s*->\s*\((.*?)\)(?: attributes \{([\w., ]+)\})? \{", "\n".join(lines), re.DOTALL
    )
    if not head:
        raise ValueError("expected 'func.func @NAME(%argument: type {attn.name = \"argument\"}, ...) -> (...) {'")
    arguments = dict(re.findall(r"%(\w+): (\S+)", head[2]))
    names = re.findall(r'attn\.name = "(\w+)"', head[3])
    learned = re.findall(r"%(\w+): \S+ \{[^}]*attn\.requires_grad", head[2])
    spec = Spec(head[1], arguments, [], [], [], learned)
    for asked in (head[4] or "").split(", "):
        if asked:
            setattr(spec, asked.removeprefix("attn."), True)
    rest = iter("\n".join(lines)[head.end() :].splitlines())
    for line in rest:
        stripped = line.strip()
        if re.match(r"%.* = attn\.(forward|weights) ", stripped):
            spec.kernels.append(_parse_kernel(stripped, rest))
        elif stripped.startswith("%"):
            spec.constants.append(parse_op(stripped))
        elif stripped.startswith("return"):
            values = re.findall(r"%(\w+)", stripped.split(" : ")[0])
            spec.returns = list(zip(values, names, strict=True))
    return spec


def _parse_kernel(line: str, rest) -> Kernel:
    left, right = line.split(" = ", 1)
    kind, tensors = re.match(r"attn\.(\w+) (.*)$", right).groups()  # type: ignore[union-attr]
    kernel = Kernel(kind, re.findall(r"%(\w+)", left), re.findall(r"%(\w+)", tensors))
    for line in rest:
        stripped = line.strip()
        if stripped.startswith(": "):
            return kernel
        if region := re.match(r"(score|mask) \((.*)\) \{", stripped):
            body = Region(re.findall(r"%(\w+)", region[2]), [], "")
            for inner in rest:
                if inner.strip().startswith("attn.yield"):
                    body.result = re.findall(r"%(\w+)", inner)[0]
                elif inner.strip() == "}":
                    break
                elif inner.strip():
                    body.ops.append(parse_op(inner))
            setattr(kernel, region[1], body)
        elif clause := re.match(r"(\w+)\((.*)\)$", stripped):
            name, inside = clause.groups()
            if name in ("lengths", "varlen"):
                kernel.clauses[name] = dict(re.findall(r"(query|key) = %(\w+)", inside))
            elif name in ("sinks", "paged"):
                kernel.clauses[name] = re.findall(r"%(\w+)", inside)[0]
            elif name == "align":
                kernel.clauses[name] = inside
            elif name == "schedule":
                kernel.clauses[name] = parse_schedules(inside)
            elif name == "dropout":
                probability, seed = inside.split(",")
                kernel.clauses[name] = (_name_or_number(probability), seed.partition(":")[0].strip()[1:])
            else:
                kernel.clauses[name] = _name_or_number(inside)
    raise ValueError("the kernel does not end")
