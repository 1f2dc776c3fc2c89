"""The sources of the tree, for checks that go through them file by file."""

import os

# What the compiler and the runtime are made of.
COMPILER = ("dialect", "passes", "codegen", "runtime", "tools")


def find_files(root, tops):
    """The paths of all files in the folders `tops` of `root`, and of those of them that are files."""
    for top in tops:
        if os.path.isfile(os.path.join(root, top)):
            yield top
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(names))


def check(root, suffixes, is_checked, find_faults, summary, tops=COMPILER):
    """Prints what `find_faults(path, text)` yields for the files in `tops` whose names end with one of `suffixes` and
    whose paths `is_checked` takes, or their number and `summary`. Returns the exit status, which is no success without
    any file."""
    count, faults = 0, []
    for path in find_files(root, tops):
        if not path.endswith(suffixes) or not is_checked(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            faults += find_faults(path, file.read())
        count += 1
    print("\n".join(faults) or f"{count} files {summary}")
    return bool(faults) or count == 0
