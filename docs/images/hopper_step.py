"""Draws docs/images/hopper-step.svg: two consumers over the steps that no mask cuts, in the order that the compiler
gives their operations.

    attnc compile docs/examples/llama3.mlir --target nvptx:sm_90a --emit tile | hopper_step.py > hopper-step.svg

The order is that of the tile program, and so is who waits for whom; how long a box is says how much work it is, and not
how many cycles it takes.
"""

import re
import sys

UNIT, LEFT, ROW = 16, 104, 34
COLORS = {"load": "#5b8c5a", "sync": "#c9cfd6", "issue": "#8fb4d9", "math": "#f2a65a", "mma": "#2f6690"}
PROGRAM = "@llama3_tile_queries_to_4096("


def cut_block(text, start):
    """What stands between the first brace at or after `start` and the one that closes it."""
    begin = text.index("{\n", start)
    depth = 0
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[begin + 1:place]
    raise ValueError("a block has no end")


def find_loops(text):
    return [cut_block(text, match.start()) for match in re.finditer(r"scf\.for .*iter_args", text)]


def drop_blocks(text):
    """`text` without what stands inside of braces, but for the kinds of operations that tell maps apart."""
    while True:
        smaller = re.sub(r"\{([^{}]*)\}", lambda m: "<exp2>" if re.search("tile.weight|<exp2>", m[1]) else
                         "<narrow>" if "truncf" in m[1] else "", text)
        if smaller == text:
            return text
        text = smaller


def read_step(loop, keys):
    """The operations of a consumer's step as (what, label, length, kind)."""
    events, products = [], {}
    for line in drop_blocks(loop).splitlines():
        if match := re.search(r"tile\.get (%\w+)", line):
            events.append(("sync", "K full?" if match[1] == keys else "V full?", 2, ""))
        elif match := re.search(r"tile\.ping_pong <(\w+)>", line):
            events.append((match[1], "turn?" if match[1] == "wait" else "pass turn", 2, ""))
        elif match := re.search(r"(%\w+) = tile\.start (.*?):", line):
            name = "S = Q Kᵀ" if "transposed" in match[2] else "O += P V"
            products[match[1]] = name
            events.append(("start", name, 1, ""))
        elif match := re.search(r"tile\.await (%\w+)", line):
            events.append(("await", products[match[1]], 2, ""))
        elif match := re.search(r"tile\.release (%\w+)", line):
            events.append(("sync", "K free" if match[1] == keys else "V free", 2, ""))
        elif "tile.map" in line and "<exp2>" in line:
            events.append(("math", "exp2(S - m)", 8, ""))
        elif "tile.map" in line and "<narrow>" in line:
            events.append(("math", "P to bf16", 5, ""))
        elif "tile.reduce <add>" in line:
            events.append(("math", "row sums", 4, ""))
        elif "tile.any" in line:
            events.append(("math", "grown?", 3, ""))
    return events


def time_steps(events, steps=3):
    """When two consumers do what: (consumer, step, what, label, begin, end). A turn is passed from one to the other, and
    products of both run one after the other."""
    boxes, clock, turn, tensor = [], [0, 4], [0, None], 0
    pending = [[(step, event) for step in range(steps) for event in events] for _ in range(2)]
    running = [{}, {}]
    while pending[0] or pending[1]:
        # Who is behind goes on, unless it waits for a turn that has not been passed.
        ready = [c for c in range(2) if pending[c] and not (pending[c][0][1][0] == "wait" and turn[c] is None)]
        if not ready:
            break
        c = min(ready, key=lambda c: clock[c])
        step, (what, label, length, _) = pending[c].pop(0)
        begin = clock[c]
        if what == "wait":
            begin, turn[c] = max(begin, turn[c]), None
        elif what == "start":
            tensor = max(tensor, begin + length)
            running[c][label] = tensor + (6 if label.startswith("S") else 7)
            boxes.append((c, step, "mma", label, tensor, running[c][label]))
            tensor = running[c][label]
        elif what == "await":
            if running[c][label] > begin:
                length = running[c][label] - begin
        clock[c] = begin + length
        if what == "arrive":
            turn[1 - c] = clock[c]
        boxes.append((c, step, what, label, begin, clock[c]))
    return boxes


def name_keys(step):
    """The keys of a step, counted from the one of keys j."""
    return f"j{-step:+d}" if step else "j"


def draw(boxes, loads, begin, end):
    rows = [("producer", None, None)] + [(name, c, mma) for c in range(2)
                                         for name, mma in ((f"consumer {c}", False), ("its products", True))]
    height = 46 + ROW * len(rows) + 22
    width = LEFT + UNIT * (end - begin) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
           'font-size="9.5" fill="#22303c">', '<rect width="100%" height="100%" fill="white"/>',
           '<text x="12" y="22" font-size="14" font-weight="600">Two consumers of one block, half a step apart: time runs '
           'to the right, keys from j down</text>']

    def box(row, first, last, kind, label):
        first, last = max(first, begin), min(last, end)
        if last <= first:
            return
        x, y = LEFT + UNIT * (first - begin), 40 + ROW * row
        color = "white" if kind == "mma" or kind == "load" else "#22303c"
        out.append(f'<rect x="{x}" y="{y}" width="{UNIT * (last - first) - 1}" height="{ROW - 8}" '
                   f'fill="{COLORS[kind]}"/>')
        words = label.split(" ") if 5.6 * len(label) > UNIT * (last - first) and " " in label else [label]
        if 5 * max(map(len, words)) > UNIT * (last - first) + 2 or len(words) > 2:
            return
        for n, word in enumerate(words):
            baseline = y + (ROW - 8) / 2 + 3.5 + 10 * (n - (len(words) - 1) / 2)
            out.append(f'<text x="{x + UNIT * (last - first) / 2}" y="{baseline}" text-anchor="middle" '
                       f'fill="{color}">{word}</text>')

    for number, (name, _, _) in enumerate(rows):
        out.append(f'<text x="12" y="{40 + ROW * number + 17}" font-size="12">{name}</text>')
    kinds = {"sync": "sync", "wait": "sync", "arrive": "sync", "await": "sync", "start": "issue", "math": "math", "mma": "mma"}
    for c, step, what, label, first, last in boxes:
        label = "wait" if what == "await" else "" if what == "start" else label
        if what == "mma":
            place = step if label.startswith("S") else step - 1
            label = f"{label.replace(' ', '')}({name_keys(place)})"
        box((2 if what == "mma" else 1) + 2 * c, first, last, kinds[what], label)
    span = (end - begin) / len(loads) / 2
    for n in range(2 * len(loads)):
        ring, back = loads[n % len(loads)]
        step = n // len(loads) + back
        box(0, begin + n * span, begin + (n + 1) * span, "load", f"TMA {ring}({name_keys(step)})")
    out.append(f'<text x="{LEFT}" y="{height - 10}" font-size="11">Grey: barriers. Light blue: a product starts. Gaps: '
               'the other consumer has the turn.</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    text = sys.stdin.read()
    program = cut_block(text, text.index(" {\n", text.index(PROGRAM)))
    roles = {match[1]: cut_block(program, match.start()) for match in re.finditer(r"tile\.role <(\w+)>", program)}
    # The last loop is the one over full tiles.
    consumer, producer = (find_loops(roles[role])[-1] for role in ("consumer", "producer"))
    assert "tile.mask" not in consumer
    keys = re.search(r"tile\.get (%\w+)", consumer)[1]
    loads = [("K", 1) if ring == keys else ("V", 0) for ring in re.findall(r"tile\.put (%\w+)", producer)]
    boxes = time_steps(read_step(consumer, keys))
    begin = min(b[4] for b in boxes if b[0] == 0 and b[1] == 1)
    end = max(b[5] for b in boxes if b[0] == 1 and b[1] == 1) + 2
    shift = [(c, step - 1, what, label, first, last) for c, step, what, label, first, last in boxes]
    sys.stdout.write(draw(shift, loads, begin, end))


if __name__ == "__main__":
    main()
