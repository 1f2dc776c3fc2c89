"""Checks the innermost loops of AVX2 assembly that multiply matrices: usage `check_inner_loops.py FILE`.

Three registers of rows times four columns, four steps of the sum a turn, are 48 fused multiply-adds on 12 accumulators,
with 16 broadcasts and 12 loads. Nothing may live on the stack meanwhile.
"""

import re
import sys

lines = open(sys.argv[1]).read().splitlines()
labels = {}
loops = []
for number, line in enumerate(lines):
    label = re.match(r"(\.LBB\w+):", line)
    if label:
        labels = {label.group(1): number}  # only the last one can start an innermost loop
    jump = re.match(r"\tj\w+\t(\.LBB\w+)", line)
    if jump and jump.group(1) in labels:
        loops.append(lines[labels[jump.group(1)] + 1 : number])

found = 0
for loop in loops:
    products = [line for line in loop if "vfmadd231ps\t" in line]
    if len(products) < 40:
        continue
    found += 1
    stack = [line for line in loop if "%rsp" in line or "%rbp" in line and "(%rbp)" in line]
    accumulators = {line.split(",")[-1].strip() for line in products}
    counts = {
        "products": (len(products), 48),
        "accumulators": (len(accumulators), 12),
        "broadcasts": (sum("vbroadcastss\t" in line for line in loop), 16),
    }
    for what, (got, wanted) in counts.items():
        if got != wanted:
            sys.exit("expected %d %s in the inner loop, got %d:\n%s" % (wanted, what, got, "\n".join(loop)))
    if any("ymm" not in line for line in products):
        sys.exit("expected products of 256 bits:\n" + "\n".join(products))
    if [line for line in stack if "(%rsp)" in line]:
        sys.exit("expected no spills in the inner loop, got\n" + "\n".join(stack))
if found < 2:
    sys.exit("expected an inner loop for each of the two products, got %d" % found)
print("%d inner loops" % found)
