"""Operations of a region, each once: equal operations on equal operands are one node."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

#: Types of values: integers are all of 64 bits, floats of 32.
BOOL, INT, FLOAT = "i1", "index", "f32"

#: The range of an integer that nothing is known of.
ANY = (-(2**63), 2**63 - 1)
#: Of a coordinate: no dimension has more elements (docs/spec.md, "Limits").
COORDINATE = (0, 2**29)


class Node(NamedTuple):
    """One operation. `text` has a place for each operand, in order, and the result is of `type`."""

    number: int
    text: str
    type: str
    operands: tuple[int, ...]
    #: The least and the greatest value of an integer.
    bounds: tuple[int, int]


class Graph:
    """The operations of a score region and a mask region."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[tuple[str, str, tuple[int, ...]], Node] = {}

    def add(self, text: str, type: str, operands: Iterable[Node] = (), bounds: tuple[int, int] = ANY) -> Node:
        """The node of an operation: "arith.addi {}, {} : index"."""
        numbers = tuple(node.number for node in operands)
        key = (text, type, numbers)
        node = self._known.get(key)
        if node is None:
            low, high = bounds
            # A sum that wraps may be anything.
            node = Node(len(self.nodes), text, type, numbers, bounds if ANY[0] <= low and high <= ANY[1] else ANY)
            self.nodes.append(node)
            self._known[key] = node
        return node

    def constant(self, value: Any, type: str) -> Node:
        """A literal."""
        if type == BOOL:
            return self.add(f"arith.constant {'true' if value else 'false'}", BOOL)
        if type == INT:
            return self.add(f"arith.constant {int(value)} : index", INT, bounds=(int(value), int(value)))
        return self.add(f"arith.constant {float_text(float(value))} : f32", FLOAT)

    def _needed(self, results: list[Node]) -> set[int]:
        """The numbers of the nodes that results are computed from, and their own."""
        needed = {result.number for result in results}
        for node in reversed(self.nodes):
            if node.number in needed:
                needed.update(node.operands)
        return needed

    def texts(self, result: Node) -> set[str]:
        """The operations that a node is computed from."""
        needed = self._needed([result])
        return {node.text for node in self.nodes if node.number in needed}

    def arguments(self, results: list[Node]) -> set[str]:
        """The arguments that results are computed from: "%h"."""
        return {text for result in results for text in self.texts(result) if text.startswith("%")}

    def write(self, result: Node, indent: str) -> list[str]:
        """The lines that compute a node and yield it. Arguments of the region stand for themselves."""
        needed = self._needed([result])
        names: dict[int, str] = {}
        lines: list[str] = []
        for node in self.nodes[: result.number + 1]:
            if node.number not in needed:
                continue
            operation = node.text.format(*(names[operand] for operand in node.operands))
            if operation.startswith("%"):
                names[node.number] = operation
            else:
                names[node.number] = f"%{len(lines)}"
                lines.append(f"{indent}%{len(lines)} = {operation}")
        return [*lines, f"{indent}attn.yield {names[result.number]} : {result.type}"]


def _pack(value: float) -> bytes:
    """The bits of a number in f32, infinity where it is beyond that."""
    try:
        return struct.pack(">f", value)
    except OverflowError:
        return struct.pack(">f", math.copysign(math.inf, value))


def float_text(value: float) -> str:
    """An f32 literal, exact."""
    bits = _pack(value)
    rounded = struct.unpack(">f", bits)[0]
    if not math.isfinite(rounded):
        return f"0x{bits.hex().upper()}"
    # The shortest text that reads back as the same number in f32.
    for digits in range(1, 10):
        text = f"{rounded:.{digits}g}"
        if _pack(float(text)) == bits:
            break
    mantissa, exponent, power = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power
