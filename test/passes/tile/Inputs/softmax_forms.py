"""Spells tile programs in several ways, lets the same passes decide about all, and expects the same decisions.

usage: softmax_forms.py ATTNC_OPT DECIDING REST SPEC...    scheduled attn operations in files named NAME.attn

DECIDING are the passes that decide about the online softmax, and REST those that follow. Prints a line for each spec: how
often the results of each decision were found.
"""

import os
import re
import subprocess
import sys

attnc_opt, deciding, rest = sys.argv[1:4]
specs = sys.argv[4:]
separator = "\n// -----\n"

# What is found in the programs: when all is decided about the softmax, and at the end.
decided = {
    "any": r"tile\.any\b", "lane_partial": r"tile\.lane_partial\b", "warp_reduce": r"tile\.warp_reduce\b",
    "own": r"tile\.softmax .* own %", "fixed": r"tile\.softmax .*\bfixed\b", "renewed": r"tile\.softmax .* renewed %",
    "greatest": r"tile\.softmax_end .* greatest %", "fused": r"tile\.softmax .*<fused>",
}
final = {
    "skip": r"tile\.skip\b", "start": r"tile\.start\b", "ping_pong": r"tile\.ping_pong\b",
    "shared_reciprocals": r"tile\.shared_reciprocal\b",
}

# Operations whose operands may be exchanged.
commutative = r"(arith\.(?:addf|addi|andi|maximumf|maxnumf|maxsi|minimumf|minnumf|minsi|mulf|muli|ori)) (%[^ ,]+), (%[^ ,]+)"


def run(programs, passes):
    command = [attnc_opt, "-split-input-file", "--pass-pipeline=builtin.module(%s)" % passes]
    return subprocess.run(command, input=programs, text=True, stdout=subprocess.PIPE, check=True).stdout


converted = run(separator.join(open(spec).read() for spec in specs), "attn-to-tile")
spellings = [
    converted,
    re.sub(commutative, r"\1 \3, \2", converted),
    run(converted, "cse,canonicalize{top-down=false region-simplify=aggressive}"),
    run(converted, "loop-invariant-code-motion,control-flow-sink,canonicalize{max-iterations=1}"),
]
assert len(set(spellings)) == len(spellings), "the same programs twice"

found = []
for programs in spellings:
    programs = run(programs, deciding)
    both = [(programs, decided), (run(programs, rest), final)]
    chunks = [(text.split(separator.strip()), patterns) for text, patterns in both]
    assert all(len(texts) == len(specs) for texts, _ in chunks), "a program for each spec"
    found.append([
        " ".join("%s=%d" % (name, len(re.findall(pattern, texts[number]))) for texts, patterns in chunks
                 for name, pattern in patterns.items())
        for number in range(len(specs))
    ])

differ = False
for spec, counts in zip(specs, zip(*found)):
    name = os.path.basename(spec).split(".")[-2]
    if len(set(counts)) == 1:
        print("%s: %s" % (name, counts[0]))
        continue
    differ = True
    for number, count in enumerate(counts):
        print("%s differs, spelling %d: %s" % (name, number, count))
sys.exit(differ)
