"""Reads the examples of a generated page of operations, attributes and types, and has attnc-opt parse and verify each.

Examples are fragments: they use values that they do not define. Such a value gets the type that its uses ask for, which
the parser tells where another is given.

    examples.py ATTNC_OPT PAGE.md
"""

import re
import subprocess
import sys

PREFIX = "x."  # a dialect that nobody registers
# What stands in a program and nowhere else, and what stands in a region of a kernel.
IN_PROGRAM = re.compile(r"^(%\S+ = )?tile\.(role|ring|buffer|live_rows|return)\b", re.M)
WORD = r"%[A-Za-z_][\w$]*"


def read_examples(page):
    """(heading, text) of each example: the code between backquotes after "Example:", or the block after it."""
    for section in re.split(r"^### ", page, flags=re.M)[1:]:
        heading, body = section.split("\n", 1)
        if "Enum" in heading or heading.endswith("KindAttr"):
            continue
        # What TableGen adds ends what was written.
        body = re.split(r"^(?:Traits|Interfaces|Effects): |^#### ", body, flags=re.M)[0]
        found = False
        for match in re.finditer(r"^Examples?:\s*(?:```mlir\n(.*?)```|(.*?)(?:\n\n|\Z))", body, flags=re.M | re.S):
            for text in [match[1]] if match[1] else re.findall(r"`([^`]+)`", match[2]):
                found = True
                yield heading, text.strip("\n")
        if not found and heading.startswith("`"):
            yield heading, None


def find_free(text):
    """Values that `text` uses and does not define, in the order of their uses."""
    text = re.sub(r"//.*", "", text)
    defined = set()
    for line in re.findall(r"^\s*\^\w+\((.*)\):", text, flags=re.M):
        defined.update(re.findall(r"(%\w+)\s*:", line))
    for line in re.findall(r"^\s*((?:" + WORD + r"(?::\d+)?(?:,\s*)?)+)\s*=", text, flags=re.M):
        defined.update(re.findall(WORD, line))
    for line in re.findall(r"(?:iter_args|@\w+|\b(?:score|mask))\s*\((.*?)\)", text, flags=re.S):
        defined.update(re.findall(WORD, line))
    return [name for name in dict.fromkeys(re.findall(WORD, text)) if name not in defined]


def wrap(text, types):
    """A module with `text` in the place where it may stand."""
    values = "".join(f'  {name} = "{PREFIX}value"() : () -> {type}\n' for name, type in types.items())
    if text.startswith("#"):
        return f"func.func private @example() attributes {{{PREFIX}attribute = {text}}}"
    if text.startswith("!"):
        return f"func.func private @example({text})"
    if re.search(r"^(tile\.program|attn\.schedule_table|func\.func)", text, flags=re.M):
        return text
    if IN_PROGRAM.search(text):
        end = "" if text.endswith("tile.return") else "  tile.return\n"
        return ("tile.program @example(%example_tile: index) attributes {grid = affine_map<() -> (1)>, "
                f"grid_sizes = array<i64>, rows = 128, panel = 64}} {{\n{values}{text}\n{end}}}")
    return f"func.func @example() {{\n{values}{text}\n  return\n}}"


def parse(tool, text):
    """What is wrong with `text`, once its free values have the types of their uses; nothing where it is right."""
    types = dict.fromkeys(find_free(text), "none")
    for _ in range(2 * len(types) + 1):
        done = subprocess.run([tool, "--allow-unregistered-dialect", "-"], input=wrap(text, types), text=True,
                              capture_output=True)
        if done.returncode == 0:
            return None
        wish = re.search(r"use of value '(%\w+)' expects different type than prior uses: '(.*)' vs 'none'", done.stderr)
        if not wish or types.get(wish[1]) != "none":
            return f"{text}\n{done.stderr}"
        types[wish[1]] = wish[2]
    return done.stderr


def main(tool, path):
    count, faults = 0, []
    with open(path, encoding="utf-8") as page:
        for heading, text in read_examples(page.read()):
            count += 1
            fault = "has no example" if text is None else parse(tool, text)
            if fault:
                faults.append(f"{heading}: {fault}")
    print("\n".join(faults) or f"{count} examples are right")
    return bool(faults) or count == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
