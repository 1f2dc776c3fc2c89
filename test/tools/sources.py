"""The sources of the compiler and the runtime, for checks that go through them file by file."""

import os


def check(root, suffixes, is_checked, find_faults, summary):
    """Prints what `find_faults(path, text)` yields for the files whose names end with one of `suffixes` and whose paths
    `is_checked` takes, or their number and `summary`. Returns the exit status, which is no success without any file."""
    count, faults = 0, []
    for top in ("dialect", "passes", "codegen", "runtime", "tools"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if not name.endswith(suffixes) or not is_checked(path):
                    continue
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    faults += find_faults(path, file.read())
                count += 1
    print("\n".join(faults) or f"{count} files {summary}")
    return bool(faults) or count == 0
