"""Checks that no source file is longer than what one reads in one go: 500 lines.

    lengths.py ROOT

Sources are what people write in C++, C, TableGen, Python, shell and CMake, tests among them; scripts may have any name.
"""

import os
import sys

from sources import COMPILER, check

LIMIT = 500
TOPS = (*COMPILER, ".ci", "CMakeLists.txt", "cmake", "docs", "test")
SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".cu", ".td", ".py", ".pyi", ".sh", ".cmake", ".in", "CMakeLists.txt")


def find_faults(path, text):
    lines = text.count("\n")
    if lines > LIMIT:
        yield f"{path}: {lines} lines: expected at most {LIMIT}; a file has one purpose, and this may be two"


def main(root):
    def is_checked(path):
        if path.endswith(SUFFIXES):
            return True
        if "." in os.path.basename(path):
            return False
        with open(os.path.join(root, path), "rb") as file:
            return file.read(2) == b"#!"

    return check(root, "", is_checked, find_faults, f"have at most {LIMIT} lines", TOPS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
