"""Checks that targets are reached by their interfaces: what serves every target names none.

    target_names.py ROOT

Code outside of these folders has no target's name as text either. Comments may have both: they are for people.
"""

import re
import sys

from sources import check

# What is the same for every target, and so has neither a name of one nor its types.
COMMON = (
    "passes/", "codegen/describe/", "codegen/target/Backend.", "runtime/explain/", "runtime/jit/Compile.",
    "runtime/jit/Judge.", "runtime/jit/Session.", "runtime/jit/Verify.", "runtime/tune/Choice.", "tools/attnc/Bench.cpp",
    "tools/attnc/Compile.cpp", "tools/attnc/CudaFile.cpp", "tools/attnc/Launch.cpp", "tools/attnc/Run.cpp",
    "tools/attnc/Spec.cpp", "tools/attnc/Tune.cpp", "tools/attnc/Verify.cpp",
)
# The folders of targets, and what launches their kernels, each of which registers its own.
OWN = (
    "codegen/cpu/", "codegen/gpu/", "codegen/nvptx/", "codegen/nvrtc/", "codegen/sim/", "runtime/Place.",
    "runtime/jit/GpuTarget.", "runtime/jit/LoadedKernel.", "runtime/jit/ReferenceKernel.", "runtime/jit/SimKernel.",
)
# Programs of users are for the targets that they name.
APART = ("runtime/include/", "runtime/python/")

NAME = re.compile(r'"(?:cpu|nvptx|nvrtc|sim|reference)[":]')
TYPE = re.compile(r"\b(?:Cpu|Gpu|Nvptx|Nvrtc|Nvidia)Target\w*|\bget(?:HostCpu|NvidiaGpu)\b|\"sm_\d+\w*\"")
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def strip_comments(text):
    """`text` with its lines, and without what is for people."""
    return COMMENT.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)


def find_faults(path, text):
    is_common = path.startswith(COMMON)
    for number, line in enumerate(strip_comments(text).splitlines(), 1):
        for match in NAME.finditer(line) if not path.startswith(OWN) else ():
            yield f"{path}:{number}: names a target, {match[0]}: ask its backend (codegen/target/Backend.h)"
        for match in TYPE.finditer(line) if is_common else ():
            yield f"{path}:{number}: is for every target, but has {match[0]}: ask attn::TargetInterface"


def main(root):
    return check(root, (".h", ".cpp"), lambda path: not path.startswith(APART), find_faults,
                 "name no target but their own")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
