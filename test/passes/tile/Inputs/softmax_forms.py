"""Spells tile programs in several ways, lets the same passes decide about all, and expects the same decisions.

usage: softmax_forms.py ATTNC_OPT DECIDING REST SPEC...    scheduled attn operations in files named NAME.attn

DECIDING are the passes that decide about the online softmax, and REST those that follow. Prints a line for each spec: how
often the results of each decision were found. What is compared is more: how often each operation and each attribute of
tiles is there, and loops, branches and functions, since some decisions show by how often something is computed.

That is a test only as long as no decision goes unseen. So each pass is left out in turn of what is done to one of the
spellings, and some spec must then differ from the others: prints which.
"""

import collections
import os
import re
import subprocess
import sys

attnc_opt, deciding, rest = sys.argv[1:4]
specs = sys.argv[4:]
names = [os.path.basename(spec).split(".")[-2] for spec in specs]
separator = "\n// -----\n"

# What is printed of the programs: when all is decided about the softmax, and at the end.
decided = {
    "any": r"tile\.any\b", "lane_partial": r"tile\.lane_partial\b", "warp_reduce": r"tile\.warp_reduce\b",
    "own": r"tile\.softmax .* own %", "fixed": r"tile\.softmax .*\bfixed\b", "renewed": r"tile\.softmax .* renewed %",
    "max_weight": r"tile\.softmax_end .* max_weight %", "fused": r"tile\.softmax .*<fused>",
    "staged": r"tile\.read\b", "mma": r"tile\.mma\b", "loops": r"scf\.for\b", "load": r"tile\.load\b",
}
final = {
    "skip": r"tile\.skip\b", "start": r"tile\.start\b", "ping_pong": r"tile\.ping_pong\b",
    "shared_reciprocals": r"tile\.shared_reciprocal\b", "split_loops": r"scf\.for\b", "anchors": r"tile\.anchor\b",
    "shifts": r"tile\.row_shift\b", "contracted": r"<contract>", "short_powers": r"tile\.multiply_add_share\b",
    "by_row": r"tile\.by_row\b", "loads_together": r"tile\.loads_together\b", "laid_out": r"\bshared_bytes = ",
}

# Operations whose operands may be exchanged.
commutative = r"(arith\.(?:addf|addi|andi|maximumf|maxnumf|maxsi|minimumf|minnumf|minsi|mulf|muli|ori)) (%[^ ,]+), (%[^ ,]+)"


def run(programs, passes):
    """What `passes` make of `programs`; None where they fail."""
    command = [attnc_opt, "-split-input-file", "--pass-pipeline=builtin.module(%s)" % passes]
    done = subprocess.run(command, input=programs, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout if done.returncode == 0 else None


def count_descents(text):
    """How many loops of the programs in `text` go down their columns."""
    descents = 0
    for program in re.split(r"(?=tile\.program )", text):
        variables = re.findall(r"scf\.for (%\w+) = ", program)
        descents += sum(bool(re.search(r"arith\.subi %%\w+, %s : index" % name, program)) for name in variables)
    return descents


def find(text, patterns):
    """How often each pattern and each word of tile programs is found in `text`."""
    counts = collections.Counter(re.findall(r"\b(?:tile|scf|math)\.\w+", text))
    counts.update({name: len(re.findall(pattern, text)) for name, pattern in patterns.items()})
    counts["descents"] = count_descents(text)
    return counts


def leave_out(lost, passes):
    """`passes` without one of them."""
    passes = re.sub(r"\b%s\b,?" % lost, "", passes).replace(",)", ")")
    return re.sub(r"tile\.program\(\),?", "", passes)


def decide(programs, deciding=deciding, rest=rest):
    """What is found of each spec, when all is decided and at the end; None for those that a pass fails on."""
    between = run(programs, deciding)
    end = between and run(between, rest)
    chunks = programs.split(separator.strip())
    if not end:
        return [found for chunk in chunks for found in decide(chunk, deciding, rest)] if len(chunks) > 1 else [None]
    texts = [text.split(separator.strip()) for text in (between, end)]
    assert all(len(of_stage) == len(chunks) for of_stage in texts), "a program for each spec"
    return [(find(a, decided), find(b, final)) for a, b in zip(*texts)]


def tell(one, other):
    """The words that are found more or less often in `one` than in `other`, or that a pass fails on it."""
    if not one or not other:
        return "" if one is other else "a pass fails"
    words = lambda a, b: sorted(word for word in a.keys() | b.keys() if a[word] != b[word])
    return " ".join("%s=%d(%d)" % (word, a[word], b[word]) for a, b in zip(one, other) for word in words(a, b))


converted = run(separator.join(open(spec).read() for spec in specs), "attn-to-tile")
spellings = [
    converted,
    re.sub(commutative, r"\1 \3, \2", converted),
    run(converted, "cse,canonicalize{top-down=false region-simplify=aggressive}"),
    run(converted, "loop-invariant-code-motion,control-flow-sink,canonicalize{max-iterations=1}"),
]
assert len(set(spellings)) == len(spellings), "the same programs twice"

found = [decide(programs) for programs in spellings]
assert all(map(all, found)), "a pass fails"

failed = False
for name, first, *others in zip(names, *found):
    print("%s: %s" % (name, " ".join("%s=%d" % (key, counts[key]) for counts, keys in zip(first, (decided, final))
                                     for key in keys)))
    for number, other in enumerate(others):
        if differences := tell(other, first):
            failed = True
            print("%s differs, spelling %d: %s" % (name, number + 1, differences))

for lost in dict.fromkeys(re.findall(r"\btile-[a-z-]+", deciding + rest)):
    left = decide(spellings[0], leave_out(lost, deciding), leave_out(lost, rest))
    seen = [name + ("" if one else " (fails)") for name, one, other in zip(names, left, found[0]) if tell(one, other)]
    failed |= not seen
    print("without %s: %s" % (lost, " ".join(seen) or "nothing differs"))
sys.exit(failed)
