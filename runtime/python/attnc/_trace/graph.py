"""Operations of a region, each once: equal operations on equal operands are one node."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

#: Types of values: integers are all of 64 bits, floats of 32.
BOOL, INT, FLOAT = "i1", "index", "f32"

#: The range of an integer that nothing is known of.
ANY = (-(2**63), 2**63 - 1)
#: Of a coordinate: no dimension has more elements (docs/spec.md, "Limits").
COORDINATE = (0, 2**29)

#: A value without a gradient. A kernel of results computes nothing for it; what is taken for bits has no gradient.
_STOP = "stop {}"


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
        #: The library whose types values have: "numpy" or "torch".
        self.library = "numpy"
        #: Whether gradients may be wanted at all, and whether the score that functions are given has one.
        self.is_differentiated = self.score_has_gradient = False
        #: Reads of tensors whose gradients are wanted: what makes the same read without one.
        self.learned_reads: dict[int, Callable[[], Node]] = {}

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

    def has_gradient(self, node: Node) -> bool:
        """Whether something is wanted the gradient of that a number is computed from by floats alone."""
        waiting, seen = [node.number], set()
        while waiting:
            number = waiting.pop()
            given = self.nodes[number]
            if number in seen or given.text == _STOP:
                continue
            seen.add(number)
            if number in self.learned_reads or (given.text == "%s" and self.score_has_gradient):
                return True
            waiting += [operand for operand in given.operands if self.nodes[operand].type in (FLOAT, "f16", "bf16")]
        return False

    def stopped(self, node: Node) -> Node:
        """The same number without a gradient. Tensors that it is computed from are read without one."""
        if node.type != FLOAT or not self.has_gradient(node):
            return node
        made: dict[int, Node] = {}
        for number in sorted(self._needed([node])):
            given = self.nodes[number]
            read = self.learned_reads.get(number)
            if read is not None:
                made[number] = read()
            else:
                made[number] = self.add(given.text, given.type, [made[operand] for operand in given.operands], given.bounds)
        found = made[node.number]
        return self.add(_STOP, FLOAT, [found]) if self.has_gradient(found) else found

    def stops(self, result: Node) -> bool:
        """Whether the gradient stops somewhere before a result."""
        return _STOP in self.texts(result)

    def texts(self, result: Node) -> set[str]:
        """The operations that a node is computed from."""
        needed = self._needed([result])
        return {node.text for node in self.nodes if node.number in needed}

    def arguments(self, results: list[Node]) -> set[str]:
        """The arguments that results are computed from: "%h"."""
        return {text for result in results for text in self.texts(result) if text.startswith("%")}

    def write(self, result: Node, indent: str, backward: bool = False) -> list[str]:
        """The lines that compute a node and yield it. Arguments of the region stand for themselves. backward: of a kernel of
        gradients."""
        needed = self._needed([result])
        names: dict[int, str] = {}
        lines: list[str] = []
        for node in self.nodes[: result.number + 1]:
            if node.number not in needed:
                continue
            operation = node.text.format(*(names[operand] for operand in node.operands))
            if node.text == _STOP:
                names[node.number] = names[node.operands[0]]
                if backward:
                    bits = f"%{len(lines)}"
                    lines.append(f"{indent}{bits} = arith.bitcast {names[node.number]} : f32 to i32")
                    names[node.number] = f"%{len(lines)}"
                    lines.append(f"{indent}{names[node.number]} = arith.bitcast {bits} : i32 to f32")
                continue
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
