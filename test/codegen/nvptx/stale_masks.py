"""Finds masks that ptxas reads where it has not made them: usage `stale_masks.py SASS...`, machine code as text.

Of a selection between bits and 0 that an `and` reads, ptxas makes a mask (`SEL R9, RZ, 0xffffffff`). Where two loops share a
condition, it makes the mask in the first and reads its register in the second, also where the first had no step and the
register holds something else. So a logic operation may not read a register that a mask reaches on some ways, and something
else on others.
"""

import collections
import re
import sys

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(@!?U?P\w+\s+)?((\S+).*?) ;")
REGISTER = re.compile(r"\bU?R\d+\b")
MASK = re.compile(r"U?SEL U?R\d+, U?RZ, 0xffffffff")
NO_RESULT = ("ST", "RED", "BAR", "LDGSTS", "UTM", "SYNCS")
#: How many registers an instruction writes, by what its name matches; else one.
WIDTHS = (
    (r"LDSM.*\.4|HMMA|.*\.128", 4),
    (r"LDSM|.*\.64|.*WIDE|D(ADD|FMA|MUL|MNMX)|[FI]2F\.F64|CS2R(?!\.32)", 2),
)

Instruction = collections.namedtuple("Instruction", "address predicate text written read next")


def kernels(text):
    """The lines of each kernel, by its name."""
    name, found = None, {}
    for line in text.splitlines():
        start = re.match(r"\.text\.(\S+):", line)
        if start:
            name = start[1]
            found[name] = []
        elif name:
            found[name].append(line)
    return found


def decode(lines):
    """The instructions of a kernel, each with the registers that it writes and reads and the numbers of those that may follow."""
    matches, labels = [], {}
    for line in lines:
        label = re.match(r"(\.L_x_\d+):", line)
        found = INSTRUCTION.match(line)
        if label:
            labels[label[1]] = len(matches)
        elif found:
            matches.append(found)
    code = []
    for number, found in enumerate(matches):
        address, predicate, text, name = found.groups()
        operands = text[len(name) :]
        target = re.search(r"`\((\.L_x_\d+)\)", operands) if name.startswith("BRA") else None
        ends = not predicate and name.startswith(("EXIT", "RET")) or target and not predicate and not re.match(r" !?U?P\d", operands)
        following = ([labels[target[1]]] if target else []) + ([] if ends else [number + 1])
        result = re.match(r" (U?R)(\d+)\b(?!\])", operands)
        written = set()
        if result and not name.startswith(NO_RESULT):
            width = next((count for pattern, count in WIDTHS if re.match(pattern, name)), 1)
            written = {f"{result[1]}{int(result[2]) + place}" for place in range(width)}
            operands = operands[result.end() :]
        read = set(REGISTER.findall(operands))
        code.append(Instruction(address, predicate, text, written, read, [one for one in following if one < len(matches)]))
    return code


def reached(code, register):
    """For each instruction, what reaches it in `register`: 1 for a mask, 2 for something else, 3 for either."""
    before, after = [0] * len(code), [0] * len(code)
    before[0] = 2
    waiting = collections.deque([0])
    while waiting:
        number = waiting.popleft()
        one = code[number]
        state = before[number]
        if register in one.written:
            state = (1 if MASK.match(one.text) else 2) | (state if one.predicate else 0)
        if state == after[number]:
            continue
        after[number] = state
        for follower in one.next:
            before[follower] |= state
            waiting.append(follower)
    return before


def find_stale(lines):
    code = decode(lines)
    masks = {next(iter(one.written)) for one in code if MASK.match(one.text) and not one.predicate}
    for register in sorted(masks):
        states = reached(code, register)
        for one, state in zip(code, states):
            if state == 3 and register in one.read and re.match(r"U?LOP3", one.text):
                yield f"/*{one.address}*/ {one.text} reads {register}, which is a mask on some ways alone"


def main(paths):
    count, wrong = 0, 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found = kernels(file.read())
        count += len(found)
        for name, lines in found.items():
            for fault in find_stale(lines):
                wrong += 1
                print(f"{path}: {name}: {fault}")
    print(f"{count} kernels, {wrong} faults")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
