"""Checks what ptxas makes of the main loops of a kernel: usage `sass_loop.py PTX TILE`.

PTX is the kernel as `attnc compile --emit ptx` writes it, TILE its tile program (`--emit tile`), which says how large its
tiles are. A main loop is one with both products: of queries and keys, and of weights and values. In it, nothing may hold
the products up:

- ptxas warns of nothing that serialises products (C7508, C7510 to C7520), and spills next to nothing;
- one instruction for each 16 elements that a product sums over, and no more;
- descriptors are in uniform registers (no R2UR), and nothing is in local memory (no LDL, no STL);
- the logits are awaited first, with one group in flight, then the output.
"""

import os
import re
import subprocess
import sys

most_spilled = 32  # bytes


def fail(message, lines=()):
    sys.exit("\n".join([message, *lines]))


def facts(tile):
    """The instructions of either product, as the tile program says."""
    keys = re.search(r"tile\.start .* transposed : .*!tile\.shared<vector<(\d+)x(\d+)x\w+>>, vector<", tile)
    if not keys:
        fail("expected a product with keys in the tile program")
    key_tile, dims = map(int, keys.groups())
    return -(-dims // 16), -(-key_tile // 16)


def assemble(ptx):
    """What ptxas says, and the machine code's lines, without addresses."""
    arch = re.search(r"^\.target (\w+)", open(ptx).read(), re.MULTILINE).group(1)
    cubin = os.path.splitext(ptx)[0] + ".cubin"
    done = subprocess.run(["ptxas", "-v", "-arch", arch, "-o", cubin, ptx], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        fail("ptxas failed", done.stderr.splitlines())
    text = subprocess.run(["nvdisasm", "-c", cubin], stdout=subprocess.PIPE, text=True, check=True).stdout
    return done.stderr, [re.sub(r"/\*.*?\*/", "", line).strip() for line in text.splitlines()]


def check_report(report):
    for line in report.splitlines():
        if re.search(r"\bC75(08|1\d|20)\b", line):
            fail("expected no warning that products wait for each other", [line])
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if spills and max(map(int, spills.groups())) > most_spilled:
            fail("expected at most %d bytes of spills" % most_spilled, [line])


def is_left_shared(line):
    return "HGMMA" in line and ".tnspB" not in line


def is_left_register(line):
    return "HGMMA" in line and ".tnspB" in line


def find_loops(lines):
    """Bodies of the innermost loops that hold both products, from label to branch."""
    labels = {line[:-1]: number for number, line in enumerate(lines) if re.match(r"\.L_\w+:$", line)}
    spans = []
    for number, line in enumerate(lines):
        # Waits that take longer stand behind the kernel, and come back without a condition.
        branch = re.match(r"@!?U?P\d BRA(?:\.\w+)* .*?`\((\.L_\w+)\)", line)
        if branch and labels[branch.group(1)] < number:
            spans.append((labels[branch.group(1)], number))
    bodies = {span: lines[span[0] : span[1] + 1] for span in spans}
    main = [s for s in spans if any(map(is_left_shared, bodies[s])) and any(map(is_left_register, bodies[s]))]
    return [bodies[s] for s in main if not any(s != t and s[0] <= t[0] and t[1] <= s[1] for t in main)]


def check_loop(loop, logit_products, output_products):
    for what, found, wanted in (
        ("products with keys", sum(map(is_left_shared, loop)), logit_products),
        ("products with values", sum(map(is_left_register, loop)), output_products),
    ):
        if found != wanted:
            fail("expected %d %s in the loop, got %d" % (wanted, what, found))
    for opcode in ("R2UR", "LDL", "STL"):
        lines = [line for line in loop if re.search(r"\b%s\b" % opcode, line)]
        if lines:
            fail("expected no %s in the loop" % opcode, lines)
    waits = [number for number, line in enumerate(loop) if "WARPGROUP.DEPBAR" in line]
    wanted = ["WARPGROUP.DEPBAR.LE gsb0, 0x1", "WARPGROUP.DEPBAR.LE gsb0, 0x0"]
    if [loop[number].rstrip(" ;") for number in waits] != wanted:
        fail("expected waits for one product in flight and then for none", [loop[number] for number in waits])
    last_product = max(number for number, line in enumerate(loop) if "HGMMA" in line)
    if waits[0] < last_product:
        fail("expected both products to start before the first wait", loop[waits[0] : last_product + 1])


def main(ptx, tile):
    logit_products, output_products = facts(open(tile).read())
    report, lines = assemble(ptx)
    check_report(report)
    loops = find_loops(lines)
    if not loops:
        fail("expected a loop with both products")
    for loop in loops:
        check_loop(loop, logit_products, output_products)
    print("%d loops: %d and %d products" % (len(loops), logit_products, output_products))


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
