"""Checks that includes follow the layers of docs/architecture.md: a folder includes itself and those before it.

    layers.py ROOT
"""

import re
import sys

from sources import check

# In the order in which data goes. A folder is the longest of these that a path begins with.
LAYERS = [
    ["dialect/attn"],
    ["dialect/reference", "dialect/tile"],
    ["passes/attn"],
    ["passes/tile", "passes/attn-to-tile"],
    ["passes"],
    ["codegen/image", "runtime/include"],
    ["codegen/describe", "codegen/gpu", "codegen/target", "codegen/llvm"],
    ["codegen/cpu", "codegen/nvptx", "codegen/sim", "codegen/shared"],
    ["codegen/nvrtc"],
    ["runtime"],
    ["runtime/cache", "runtime/cuda"],
    ["runtime/capi"],
    ["runtime/jit"],
    ["runtime/tune"],
    ["runtime/explain"],
    ["runtime/engine"],
    ["tools"],
]
RANK = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}
# What a program links that has no compiler: none of it may see the compiler, MLIR or LLVM.
RUNTIME = {"codegen/image", "runtime", "runtime/include", "runtime/cache", "runtime/cuda", "runtime/capi"}


def find_folder(path):
    if path.startswith("attnc/"):
        return "runtime/include"  # the headers that users include, the structures of embedded kernels among them
    folders = [folder for folder in RANK if path.startswith(folder + "/")]
    return max(folders, key=len) if folders else None


def find_faults(path, text):
    folder = find_folder(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#include\s*["<]([^">]+)[">]', line)
        if not match:
            continue
        include = match[1]
        other = find_folder(include)
        if folder in RUNTIME and (include.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/")) or
                                other and other not in RUNTIME):
            yield f"{path}:{number}: {folder} has no compiler, but includes {include}"
        elif other and other != folder and RANK[other] >= RANK[folder]:
            yield f"{path}:{number}: {folder} comes before {other}, or beside it, but includes {include}"


def main(root):
    def is_checked(path):
        return find_folder(path) and not path.startswith("runtime/python/")  # what users include

    return check(root, (".h", ".cpp", ".td", ".in"), is_checked, find_faults, "include what is before them")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
